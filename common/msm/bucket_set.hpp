// One window's buckets, filled by batches of affine additions.
//
// A bucket can take part in a batch only once, because its next addition needs the result. A point
// that meets a bucket already in the batch waits in a queue until the batch has run. When the queue
// is full, waiting points of one bucket are added to each other, pairwise and in batches too, until
// each bucket has one: so even scalars that are all alike cost about two additions a point and a
// few inversions per thousand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/msm/batch_add.hpp"

namespace cuzk::msm_detail {

template <class Group>
class BucketSet {
 public:
  using Point = Affine<Group>;

  // Allocates for at most so many buckets, and batches of at most so many additions, fewer than
  // 2^16.
  BucketSet(std::size_t max_buckets, std::size_t max_batch)
      : adder_(max_batch),
        buckets_(max_buckets),
        states_(max_buckets),
        waiting_of_(max_buckets, kNobody),
        queue_(max_batch),
        next_(max_batch) {}

  static constexpr std::size_t scratch_bytes(std::size_t max_buckets, std::size_t max_batch) {
    return max_buckets * (sizeof(Point) + sizeof(State) + sizeof(Mate)) +
           max_batch *
               (BatchAdder<Group>::kBytesPerAddition + 2 * (sizeof(Point) + sizeof(std::uint32_t)));
  }

  // Empties the set and uses the first `count` buckets, in batches of `batch` additions, from now
  // on.
  void reset(std::size_t count, std::size_t batch) {
    count_ = count;
    batch_ = std::min(batch, adder_.capacity());
    std::fill_n(states_.begin(), count, State::kEmpty);
  }

  // bucket += point, or -= point. `point` must stay where it is until finish().
  void add(std::uint32_t bucket, const Point& point, bool negate) {
    if (is_infinity(point)) return;
    switch (states_[bucket]) {
      case State::kEmpty:
        buckets_[bucket] = {point.x, with_sign(point.y, negate)};
        states_[bucket] = State::kFull;
        return;
      case State::kFull:
        if (adder_.size() == batch_) {
          run_batch();
          requeue();
          return add(bucket, point, negate);
        }
        __builtin_prefetch(&buckets_[bucket], 1);
        __builtin_prefetch(reinterpret_cast<const char*>(&buckets_[bucket] + 1) - 1, 1);
        states_[bucket] = State::kInBatch;
        adder_.push(bucket, &point, negate);
        return;
      case State::kInBatch:
        if (queue_.size == batch_) settle();
        if (states_[bucket] != State::kInBatch) return add(bucket, point, negate);
        queue_.push(bucket, {point.x, with_sign(point.y, negate)});
        return;
    }
  }

  // Completes all additions and returns the buckets, (0, 0) where nothing is in one.
  std::span<Point> finish() {
    settle();
    run_batch();
    for (std::size_t i = 0; i < count_; ++i) {
      if (states_[i] == State::kEmpty) buckets_[i] = {Field::zero(), Field::zero()};
    }
    return {buckets_.data(), count_};
  }

  // After finish(): bucket[i] += bucket[half + i] for i < half, which must not exceed the batch.
  void fold(std::size_t half) {
    for (std::size_t i = 0; i < half; ++i) {
      const Point& upper = buckets_[half + i];
      if (is_infinity(upper)) continue;
      if (is_infinity(buckets_[i])) {
        buckets_[i] = upper;
      } else {
        adder_.push(static_cast<std::uint32_t>(i), &upper, false);
      }
    }
    adder_.run(buckets_.data());
    adder_.clear();
  }

  // Idle between finish() and the next add(): others may use its memory.
  BatchAdder<Group>& adder() { return adder_; }

 private:
  using Field = typename Group::Field;
  enum class State : std::uint8_t { kEmpty, kFull, kInBatch };
  using Mate = std::uint16_t;  // a place in the queue
  static constexpr Mate kNobody = UINT16_MAX;
  static constexpr std::uint32_t kPaired = UINT32_MAX;

  struct Queue {
    LineArray<Point> points;
    LineArray<std::uint32_t> buckets;
    std::size_t size = 0;

    explicit Queue(std::size_t capacity) : points(capacity), buckets(capacity) {}

    void push(std::uint32_t bucket, const Point& point) {
      points[size] = point;
      buckets[size++] = bucket;
    }
  };

  void run_batch() {
    adder_.run(buckets_.data());
    for (const auto& addition : adder_.additions()) {
      const bool cancelled = addition.kind == BatchAdder<Group>::Addition::kCancel;
      states_[addition.target] = cancelled ? State::kEmpty : State::kFull;
    }
    adder_.clear();
  }

  // After a batch, gives those that waited their turn; some may have to wait again.
  void requeue() {
    std::swap(queue_, next_);
    queue_.size = 0;
    for (std::size_t i = 0; i < next_.size; ++i) add(next_.buckets[i], next_.points[i], false);
  }

  // Empties the queue. The batch may hold additions afterwards, at most one of each bucket.
  void settle() {
    run_batch();
    pair_up();
    requeue();
  }

  // Adds up the waiting points of each bucket. The adder is empty before and after.
  void pair_up() {
    for (;;) {
      for (std::size_t i = 0; i < queue_.size; ++i) {
        Mate& mate = waiting_of_[queue_.buckets[i]];
        if (mate == kNobody) {
          mate = static_cast<Mate>(i);
        } else {
          adder_.push(mate, &queue_.points[i], false);
          queue_.buckets[i] = kPaired;
          mate = kNobody;
        }
      }
      adder_.run(queue_.points.data());
      const bool done = adder_.size() == 0;
      adder_.clear();
      std::size_t kept = 0;
      for (std::size_t i = 0; i < queue_.size; ++i) {
        const std::uint32_t bucket = queue_.buckets[i];
        if (bucket == kPaired) continue;
        waiting_of_[bucket] = kNobody;
        if (is_infinity(queue_.points[i])) continue;
        queue_.points[kept] = queue_.points[i];
        queue_.buckets[kept++] = bucket;
      }
      queue_.size = kept;
      if (done) return;
    }
  }

  BatchAdder<Group> adder_;
  LineArray<Point> buckets_;
  std::vector<State> states_;
  std::vector<Mate> waiting_of_;  // while pairing up: a waiting point of this bucket without a mate
  Queue queue_;
  Queue next_;
  std::size_t count_ = 0;
  std::size_t batch_ = 0;
};

}  // namespace cuzk::msm_detail
