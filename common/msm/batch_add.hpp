// Affine additions by the hundred, which share one inversion.
//
// In affine coordinates an addition is (x3, y3) with
//   l = (y2 - y1) / (x2 - x1),  x3 = l^2 - x1 - x2,  y3 = l (x1 - x3) - y1
// and costs a division. Montgomery's trick divides a batch at once: multiply all denominators up,
// invert the product, and walk back, which replaces each division by three multiplications. An
// addition then costs five multiplications and one squaring, where the best mixed addition without
// division (XYZZ) costs eight and two.
//
// The products are a chain in which each waits for the one before. Even and odd additions form two
// chains, worked on side by side, so that the multiplier is not idle for the length of a
// multiplication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/curve/points.hpp"
#include "common/msm/line_array.hpp"

namespace cuzk::msm_detail {

// Tells nearly always by one word.
template <class Group>
bool is_infinity(const Affine<Group>& point) {
  std::uint64_t word;
  std::memcpy(&word, &point, sizeof word);
  if (word != 0) [[likely]]
    return false;
  return point.is_infinity();
}

// `negate ? -y : y` without a branch: signs of digits are coin tosses.
template <class Field>
Field with_sign(const Field& y, bool negate) {
  const Field choice[2] = {y, -y};
  return choice[negate ? 1 : 0];
}

template <class Group>
class BatchAdder {
 public:
  using Field = typename Group::Field;
  using Point = Affine<Group>;

  struct Addition {
    const Point* source;
    std::uint32_t target;
    bool negate;  // subtract instead
    enum Kind : std::uint8_t { kChord, kTangent, kCancel } kind;
  };

  explicit BatchAdder(std::size_t capacity)
      : additions_(capacity), products_(capacity + 2), denominators_(capacity) {}

  static constexpr std::size_t kBytesPerAddition = sizeof(Addition) + 2 * sizeof(Field);

  std::size_t capacity() const { return additions_.size(); }
  std::size_t size() const { return size_; }
  // What the next run() will do, or after it, until clear(), has done.
  std::span<const Addition> additions() const { return {additions_.data(), size_}; }
  void clear() { size_ = 0; }

  // Plans targets[target] += source (or -=). Preconditions: size() < capacity(); both are finite;
  // no other addition in the batch has this target; a source may be the target of additions planned
  // *before* it, and is then read as it was before the batch.
  void push(std::uint32_t target, const Point* source, bool negate) {
    additions_[size_++] = {source, target, negate, Addition::kChord};
  }

  // Does what was planned. Targets that come out as infinity are (0, 0). Needs a clear()
  // afterwards.
  void run(Point* targets) {
    if (size_ == 0) return;
    const Field inverse = multiply_up(targets).inverse();
    walk_back(targets, inverse);
  }

 private:
  // Fills denominators_ and products_; returns the product of all.
  Field multiply_up(const Point* targets) {
    products_[0] = Field::one();
    products_[1] = Field::one();
    std::size_t k = 0;
    for (; k + 1 < size_; k += 2) {
      set_denominator(k, targets);
      set_denominator(k + 1, targets);
      products_[k + 2] = products_[k] * denominators_[k];
      products_[k + 3] = products_[k + 1] * denominators_[k + 1];
    }
    if (k < size_) {
      set_denominator(k, targets);
      products_[k + 2] = products_[k] * denominators_[k];
    }
    return products_[size_] * products_[size_ + 1];
  }

  // From the last addition to the first: sources of later ones may be targets of earlier ones.
  void walk_back(Point* targets, const Field& inverse) {
    // The two chains' products are the last two; each chain's inverse is all but the other's
    // product.
    Field even = inverse * products_[size_ + (size_ % 2 == 0 ? 1 : 0)];
    Field odd = inverse * products_[size_ + (size_ % 2 == 0 ? 0 : 1)];
    std::size_t k = size_;
    if (k % 2 == 1) {
      --k;
      finish(additions_[k], targets, even * products_[k]);
      even = even * denominators_[k];
    }
    while (k > 0) {
      k -= 2;
      const Addition& a0 = additions_[k];
      const Addition& a1 = additions_[k + 1];
      const Field r0 = even * products_[k];
      const Field r1 = odd * products_[k + 1];
      even = even * denominators_[k];
      odd = odd * denominators_[k + 1];
      if (a0.kind == Addition::kChord && a1.kind == Addition::kChord) [[likely]] {
        add_two(*a0.source, a0.negate, targets[a0.target], r0, *a1.source, a1.negate,
                targets[a1.target], r1);
      } else {
        finish(a1, targets, r1);
        finish(a0, targets, r0);
      }
    }
  }

  // t0 += s0 and t1 += s1 by chords, in step: neighbouring products are independent of each other.
  static void add_two(const Point& s0, bool negate0, Point& t0, const Field& r0, const Point& s1,
                      bool negate1, Point& t1, const Field& r1) {
    const Field l0 = (with_sign(s0.y, negate0) - t0.y) * r0;
    const Field l1 = (with_sign(s1.y, negate1) - t1.y) * r1;
    const Field x0 = l0.square() - (t0.x + s0.x);
    const Field x1 = l1.square() - (t1.x + s1.x);
    // Stores begin here, after the last use of the sources: s1 may be t0.
    t0.y = l0 * (t0.x - x0) - t0.y;
    t1.y = l1 * (t1.x - x1) - t1.y;
    t0.x = x0;
    t1.x = x1;
  }

  static void finish(const Addition& a, Point* targets, const Field& reciprocal) {
    targets[a.target] = result(a, targets[a.target], reciprocal);
  }

  static Point result(const Addition& a, const Point& t, const Field& reciprocal) {
    if (a.kind == Addition::kCancel) return {Field::zero(), Field::zero()};
    Field numerator = with_sign(a.source->y, a.negate) - t.y;
    if (a.kind == Addition::kTangent) {
      const Field xx = t.x.square();
      numerator = xx + xx + xx;  // both curves have a = 0
    }
    const Field l = numerator * reciprocal;
    const Field x = l.square() - (t.x + a.source->x);
    return {x, l * (t.x - x) - t.y};
  }

  void set_denominator(std::size_t k, const Point* targets) {
    Addition& a = additions_[k];
    denominators_[k] = a.source->x - targets[a.target].x;
    if (denominators_[k].is_zero()) [[unlikely]]
      denominators_[k] = same_x(a, targets[a.target]);
  }

  // The same point (its tangent serves) or opposite ones, which cancel. A point of order two would
  // be both and cancels; there is none in the subgroup.
  static Field same_x(Addition& a, const Point& t) {
    const Field y = with_sign(a.source->y, a.negate);
    if (y == t.y && !y.is_zero()) {
      a.kind = Addition::kTangent;
      return t.y.dbl();
    }
    a.kind = Addition::kCancel;
    return Field::one();
  }

  LineArray<Addition> additions_;
  LineArray<Field> products_;  // of the denominators before, of those with the same parity
  LineArray<Field> denominators_;
  std::size_t size_ = 0;
};

}  // namespace cuzk::msm_detail
