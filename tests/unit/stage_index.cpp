// SPDX-License-Identifier: Apache-2.0
// Tests of the index functions of the ladder's stages, without a GPU: every element is added exactly once, and no
// thread accesses in a step a value that another thread changes in it.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "backends/cuda/stages/steps.hpp"

namespace {

namespace steps = fanin::cuda::steps;

using step_function = steps::step (*)(unsigned, unsigned, unsigned);

constexpr unsigned block_sizes[] = {32, 64, 96, 128, 160, 256, 480, 512, 992, 1024};

/// The numbers of values that a block of `threads` threads may have to fold.
std::vector<unsigned> sizes_of(unsigned threads) {
  std::vector<unsigned> sizes = {1, 2, 3, 31, 32, 33, 63, 64, 65, 101, threads / 2 + 1, threads - 1, threads};
  std::erase_if(sizes, [&](unsigned size) { return size > threads; });
  return sizes;
}

/// The values of a block, each as the list of its elements.
class block {
 public:
  explicit block(unsigned size) : size_(size), parts_(size) {
    for (unsigned i = 0; i < size; ++i) parts_[i] = {i};
  }

  /// Executes a step. Returns whether it is free of races and all its indices are in range.
  bool take(step_function who, unsigned threads, unsigned stride) {
    std::vector<int> read(size_), written(size_);
    const auto before = parts_;
    for (unsigned thread = 0; thread < threads; ++thread) {
      const auto step = who(thread, stride, size_);
      if (!step.works) continue;
      if (step.into >= size_ || step.from >= size_ || step.into == step.from) return false;
      ++written[step.into];
      ++read[step.from];
      const auto& more = before[step.from];
      parts_[step.into].insert(parts_[step.into].end(), more.begin(), more.end());
    }
    for (unsigned i = 0; i < size_; ++i)
      if (written[i] > 1 || (written[i] > 0 && read[i] > 0)) return false;
    return true;
  }

  /// Whether values[0] contains every element exactly once.
  bool complete() const {
    std::vector<int> seen(size_);
    for (const unsigned i : parts_[0]) ++seen[i];
    return seen == std::vector<int>(size_, 1);
  }

 private:
  unsigned size_;
  std::vector<std::vector<unsigned>> parts_;
};

bool ascending_tree_works(step_function who, unsigned threads, unsigned size) {
  block values(size);
  for (unsigned stride = 1; stride < threads; stride *= 2)
    if (!values.take(who, threads, stride)) return false;
  return values.complete();
}

/// Whether a tree that halves its stride from `first` down, by `threads` threads, folds `size` values correctly.
bool halving_works(unsigned threads, unsigned first, unsigned size) {
  block values(size);
  for (unsigned stride = first; stride > 0; stride /= 2)
    if (!values.take(steps::halving, threads, stride)) return false;
  return values.complete();
}

steps::step forgets_the_last(unsigned thread, unsigned stride, unsigned size) {
  const auto step = steps::strided(thread, stride, size);
  return {step.into, step.from, step.works && step.from + 1 < size};
}

steps::step adds_twice(unsigned thread, unsigned stride, unsigned size) {
  return {thread, thread + stride, thread + stride < size};
}

TEST_SUITE_BEGIN("unit/stage_index");

TEST_CASE("every tree adds every element once, for any size of block and of its last part") {
  for (const unsigned threads : block_sizes) {
    for (const unsigned size : sizes_of(threads)) {
      CAPTURE(threads);
      CAPTURE(size);
      CHECK(ascending_tree_works(steps::neighbored, threads, size));
      CHECK(ascending_tree_works(steps::masked, threads, size));
      CHECK(ascending_tree_works(steps::strided, threads, size));
      CHECK(halving_works(threads, steps::first_stride(threads), size));
    }
  }
}

TEST_CASE("one warp folds 64 values, and 32") {
  for (unsigned size = 1; size <= 64; ++size) CHECK(halving_works(32, 32, size));
  for (unsigned size = 1; size <= 32; ++size) CHECK(halving_works(32, 16, size));
}

TEST_CASE("a wrong tree is noticed") {
  CHECK_FALSE(ascending_tree_works(forgets_the_last, 64, 64));
  CHECK_FALSE(ascending_tree_works(adds_twice, 64, 64));
  CHECK_FALSE(halving_works(64, 16, 64));
}

TEST_CASE("the first stride is the largest power of two below the size") {
  CHECK(steps::first_stride(0) == 0);
  CHECK(steps::first_stride(1) == 0);
  for (unsigned size = 2; size <= 1025; ++size) {
    const unsigned stride = steps::first_stride(size);
    CAPTURE(size);
    CHECK((stride & (stride - 1)) == 0);
    CHECK(stride < size);
    CHECK(2 * stride >= size);
  }
}

TEST_CASE("tiles cover every element once, beyond 2^32 too") {
  constexpr std::uint64_t far = (std::uint64_t{1} << 32) + 5;
  CHECK(steps::in_tile(far - 5, far, 256) == 5);
  CHECK(steps::in_tile(far, far, 256) == 0);
  CHECK(steps::in_tile(far + 256, far, 256) == 0);
  for (const std::uint64_t count : {0, 1, 255, 256, 257, 1000}) {
    std::uint64_t covered = 0;
    for (std::uint64_t begin = 0; begin < 1280; begin += 256) covered += steps::in_tile(begin, count, 256);
    CHECK(covered == count);
  }
}

TEST_CASE("an array of any alignment is head, whole vectors and tail") {
  for (const unsigned element_bytes : {4u, 8u}) {
    for (std::uintptr_t address = 4096; address < 4096 + 32; address += element_bytes) {
      for (std::uint64_t count = 0; count < 40; ++count) {
        CAPTURE(element_bytes);
        CAPTURE(address);
        CAPTURE(count);
        const auto part = steps::peel(address, count, element_bytes);
        const unsigned per_vector = 16 / element_bytes;
        CHECK(part.head + part.vectors * per_vector + part.tail == count);
        CHECK(part.head < per_vector);
        CHECK(part.tail < per_vector);
        if (part.vectors > 0) CHECK((address + part.head * element_bytes) % 16 == 0);
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
