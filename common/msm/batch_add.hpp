// Affine additions by the hundred, which share one inversion.
//
// In affine coordinates an addition is (x3, y3) with
//   l = (y2 - y1) / (x2 - x1),  x3 = l^2 - x1 - x2,  y3 = l (x1 - x3) - y1
// and costs a division. Montgomery's trick divides a batch at once: multiply all denominators up, invert the
// product, and walk back, which replaces each division by three multiplications. An addition then costs five
// multiplications and one squaring, where the best mixed addition without division (XYZZ) costs eight and two.
//
// The products are a chain in which each waits for the one before. Even and odd additions form two chains,
// worked on side by side, so that the multiplier is not idle for the length of a multiplication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/curve/points.hpp"

namespace cuzk::msm_detail {

template <class Group>
bool is_infinity(const Affine<Group>& point) {
  return point.x.is_zero() && point.y.is_zero();
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
      : additions_(capacity), products_(capacity), denominators_(capacity) {}

  static constexpr std::size_t kBytesPerAddition = sizeof(Addition) + 2 * sizeof(Field);

  std::size_t capacity() const { return additions_.size(); }
  std::size_t size() const { return size_; }
  // What the next run() will do, or after it, until clear(), has done.
  std::span<const Addition> additions() const { return {additions_.data(), size_}; }
  void clear() { size_ = 0; }

  // Plans targets[target] += source (or -=). Preconditions: size() < capacity(); both are finite; no other
  // addition in the batch has this target; a source may be the target of additions planned *before* it, and
  // is then read as it was before the batch.
  void push(std::uint32_t target, const Point* source, bool negate) {
    additions_[size_++] = {source, target, negate, Addition::kChord};
  }

  // Does what was planned. Targets that come out as infinity are (0, 0). Needs a clear() afterwards.
  void run(Point* targets) {
    if (size_ == 0) return;
    const Field inverse = multiply_up(targets).inverse();
    walk_back(targets, inverse);
  }

 private:
  // Fills denominators_ and, in products_, the product of those before in the same chain.
  Field multiply_up(const Point* targets) {
    Field even = Field::one();
    Field odd = Field::one();
    std::size_t k = 0;
    for (; k + 1 < size_; k += 2) {
      const Field d0 = denominator(additions_[k], targets);
      const Field d1 = denominator(additions_[k + 1], targets);
      denominators_[k] = d0;
      denominators_[k + 1] = d1;
      products_[k] = even;
      products_[k + 1] = odd;
      even = even * d0;
      odd = odd * d1;
    }
    if (k < size_) {
      denominators_[k] = denominator(additions_[k], targets);
      products_[k] = even;
      even = even * denominators_[k];
    }
    even_ = even;
    odd_ = odd;
    return even * odd;
  }

  void walk_back(Point* targets, const Field& inverse) {
    Field even = inverse * odd_;
    Field odd = inverse * even_;
    std::size_t k = size_;
    if (k % 2 == 1) {
      --k;
      const Field reciprocal = even * products_[k];
      even = even * denominators_[k];
      Point& target = targets[additions_[k].target];
      target = result(additions_[k], target, reciprocal);
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
        add_two(a0, targets[a0.target], r0, a1, targets[a1.target], r1);
      } else {
        // Later additions first: their sources may be earlier ones' targets.
        targets[a1.target] = result(a1, targets[a1.target], r1);
        targets[a0.target] = result(a0, targets[a0.target], r0);
      }
    }
  }

  // Two chords in step; each line's two products are independent of each other.
  static void add_two(const Addition& a0, Point& t0, const Field& r0, const Addition& a1, Point& t1,
                      const Field& r1) {
    const Field n0 = with_sign(a0.source->y, a0.negate) - t0.y;
    const Field n1 = with_sign(a1.source->y, a1.negate) - t1.y;
    const Field l0 = n0 * r0;
    const Field l1 = n1 * r1;
    const Field x0 = l0.square() - (t0.x + a0.source->x);
    const Field x1 = l1.square() - (t1.x + a1.source->x);
    const Field y0 = l0 * (t0.x - x0) - t0.y;
    const Field y1 = l1 * (t1.x - x1) - t1.y;
    // Stored last, and nothing is read below: a0's target may be a1's source.
    t1 = {x1, y1};
    t0 = {x0, y0};
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

  static Field denominator(Addition& a, const Point* targets) {
    const Point& t = targets[a.target];
    const Field d = a.source->x - t.x;
    if (!d.is_zero()) [[likely]] return d;
    // The same x: the same point (its tangent serves) or opposite ones, which cancel. A point of order two
    // would be both and cancels; there is none in the subgroup.
    const Field y = with_sign(a.source->y, a.negate);
    if (y == t.y && !y.is_zero()) {
      a.kind = Addition::kTangent;
      return t.y + t.y;
    }
    a.kind = Addition::kCancel;
    return Field::one();
  }

  std::vector<Addition> additions_;
  std::vector<Field> products_;
  std::vector<Field> denominators_;
  std::size_t size_ = 0;
  Field even_ = Field::one();
  Field odd_ = Field::one();
};

}  // namespace cuzk::msm_detail
