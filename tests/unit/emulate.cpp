// SPDX-License-Identifier: Apache-2.0
// Tests the emulation of CUDA's threads: who meets whom, what threads pass, and what ends a launch.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <fanin/emulate.hpp>

namespace fanin::emulate {
namespace {

namespace cg = cooperative_groups;

/// The message of the fault that ends a launch of one block; empty if none does.
template <class Kernel>
std::string fault_of(unsigned threads, Kernel kernel) {
  try {
    launch(1, threads, kernel);
  } catch (const fault& found) {
    return found.what();
  }
  return "";
}

/// The numbers that the threads of a warp compute.
template <class T, class Kernel>
std::vector<T> values_in_warp(Kernel kernel) {
  std::vector<T> found(32);
  launch(1, 32, [&] { found[threadIdx.x] = kernel(threadIdx.x); });
  return found;
}

TEST_SUITE_BEGIN("unit/emulate");

TEST_CASE("every thread of every block runs once, in ascending order or in that of a seed") {
  for (const unsigned seed : {0u, 1u, 7u}) {
    std::vector<unsigned> order(15);
    unsigned next = 0;
    const auto kernel = [&] { order[atomicAdd(&next, 1)] = blockIdx.x * blockDim.x + threadIdx.x + 100 * gridDim.x; };
    launch(3, 5, kernel, seed);
    std::vector<unsigned> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    CHECK((order == sorted) == (seed == 0));
    for (unsigned i = 0; i < 15; ++i) CHECK(sorted[i] == 300 + i);
  }
  CHECK_THROWS_AS(launch(1, 0, [] {}), std::invalid_argument);
  CHECK_THROWS_AS(launch(1, 1025, [] {}), std::invalid_argument);
}

TEST_CASE("what is written before a barrier is read after it") {
  for (const unsigned seed : {0u, 1u}) {
    std::vector<unsigned> found(128);
    const auto kernel = [&] {
      __shared__ unsigned s[64];
      s[threadIdx.x] = threadIdx.x + 1000 * blockIdx.x;
      __syncthreads();
      found[64 * blockIdx.x + threadIdx.x] = s[63 - threadIdx.x];
      __syncthreads();
      s[threadIdx.x] = 0;
    };
    launch(2, 64, kernel, seed);
    for (unsigned i = 0; i < 128; ++i) CHECK(found[i] == 63 - i % 64 + 1000 * (i / 64));
  }
  std::vector<int> votes;
  launch(1, 40, [&] {
    const int count = __syncthreads_count(threadIdx.x < 7), any = __syncthreads_or(threadIdx.x == 39);
    const int all = __syncthreads_and(threadIdx.x < 39), none = __syncthreads_or(0), every = __syncthreads_and(1);
    if (threadIdx.x == 3) votes = {count, any, all, none, every};
  });
  CHECK(votes == std::vector{7, 1, 0, 0, 1});
}

TEST_CASE("threads of a warp pass values of every type, within a width") {
  const unsigned all = ~0u;
  const auto check = [](const auto& found, auto expected) {
    for (unsigned thread = 0; thread < 32; ++thread) CHECK(found[thread] == expected(thread));
  };
  check(values_in_warp<double>([=](unsigned thread) { return __shfl_down_sync(all, thread + 0.5, 3); }),
        [](unsigned thread) { return (thread + 3 < 32 ? thread + 3 : thread) + 0.5; });
  check(values_in_warp<unsigned>([=](unsigned thread) { return __shfl_down_sync(all, thread, 1, 8); }),
        [](unsigned thread) { return thread % 8 == 7 ? thread : thread + 1; });
  check(
      values_in_warp<short>([=](unsigned thread) { return __shfl_up_sync(all, static_cast<short>(thread), 2, 16); }),
      [](unsigned thread) { return static_cast<short>(thread % 16 < 2 ? thread : thread - 2); });
  check(values_in_warp<long long>([=](unsigned thread) { return __shfl_xor_sync(all, -1LL * thread, 5); }),
        [](unsigned thread) { return -1LL * (thread ^ 5); });
  check(values_in_warp<float>([=](unsigned thread) { return __shfl_sync(all, static_cast<float>(thread), 9, 8); }),
        [](unsigned thread) { return static_cast<float>(thread / 8 * 8 + 1); });
  check(values_in_warp<unsigned>([=](unsigned thread) { return __ballot_sync(all, thread % 3 == 0); }),
        [](unsigned) { return 0x49249249u; });
  check(values_in_warp<int>(
            [=](unsigned thread) { return __any_sync(all, thread == 9) + 2 * __all_sync(all, thread < 31); }),
        [](unsigned) { return 1; });
  check(values_in_warp<unsigned>([=](unsigned thread) { return __reduce_add_sync(all, thread); }),
        [](unsigned) { return 496u; });
}

TEST_CASE("threads of a mask meet without the others") {
  const std::vector<unsigned> found = values_in_warp<unsigned>([](unsigned thread) {
    unsigned sum = 0;
    if (thread < 8) {
      for (unsigned i = 0; i < 3; ++i) sum += __reduce_add_sync(0xff, thread + i);
    } else {
      sum = __reduce_add_sync(0xffffff00, thread);
    }
    return sum + 1000 * __reduce_add_sync(~0u, 1);
  });
  for (unsigned thread = 0; thread < 32; ++thread)
    CHECK(found[thread] == (thread < 8 ? 3 * 28 + 8 + 16 : 496 - 28) + 32000);
}

TEST_CASE("tiles of cooperative groups") {
  const auto found = values_in_warp<unsigned>([](unsigned thread) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const unsigned sum = cg::reduce(tile, thread, cg::plus<unsigned>()), next = tile.shfl_down(thread, 1);
    tile.sync();
    cg::this_thread_block().sync();
    return sum * 1000000 + next * 10000 + tile.thread_rank() * 100 + tile.meta_group_rank() * 10 + tile.size();
  });
  for (unsigned thread = 0; thread < 32; ++thread) {
    const unsigned first = thread / 8 * 8, next = thread % 8 == 7 ? thread : thread + 1;
    CHECK(found[thread] == (8 * first + 28) * 1000000 + next * 10000 + thread % 8 * 100 + thread / 8 * 10 + 8);
  }
}

TEST_CASE("atomic functions return what was there") {
  unsigned count = 0, largest = 5, bits = 0, wrapping = 0, swapped = 1;
  float sum = 0;
  long long least = 3;
  std::vector<unsigned> before(66);
  launch(2, 33, [&] {
    before[blockIdx.x * 33 + threadIdx.x] = atomicAdd(&count, 2);
    atomicAdd(&sum, 0.5f);
    atomicMax(&largest, threadIdx.x);
    atomicMin(&least, -1LL * threadIdx.x);
    atomicOr(&bits, 1u << threadIdx.x % 4);
    atomicInc(&wrapping, 4);
    atomicCAS(&swapped, 1, 7);
    __threadfence();
  });
  for (unsigned i = 0; i < 66; ++i) CHECK(before[i] == 2 * i);
  CHECK(count == 132);
  CHECK(sum == 33.0f);
  CHECK(largest == 32);
  CHECK(least == -32);
  CHECK(bits == 15);
  CHECK(wrapping == 66 % 5);
  CHECK(swapped == 7);
}

TEST_CASE("a barrier that not all threads reach ends the launch") {
  const std::string start = "block 0 has a barrier that not all threads reach: ";
  const auto all_but_first = [] {
    if (threadIdx.x > 0) __syncthreads();
  };
  const std::string line = std::to_string(__LINE__ - 2);
  CHECK(fault_of(64, all_but_first) ==
        start + "thread 0 has returned, threads 1 to 63 wait for the block at line " + line);
  const auto odd = [] {
    if (threadIdx.x % 2 == 1) __syncthreads();
  };
  const std::string odd_line = std::to_string(__LINE__ - 2);
  CHECK(fault_of(64, odd) ==
        start + "32 threads (0, 2, 4, ...) have returned, 32 threads (1, 3, 5, ...) wait for the block at line " +
            odd_line);
  CHECK(fault_of(9, [] {
          if (threadIdx.x % 8 != 0) __syncthreads();
        }).starts_with(start + "2 threads (0, 8) have returned, threads 1 to 7 wait for the block"));
  CHECK(fault_of(32, [] { __syncwarp(); }) == "");
  CHECK(fault_of(64,
                 [] {
                   if (threadIdx.x != 33) __shfl_down_sync(~0u, 1, 1);
                 })
            .starts_with(
                "block 0 has a warp's barrier or shuffle that not all of its threads reach: 33 threads (0, 1, 2, "
                "...) have returned, 31 threads "));
  CHECK(fault_of(2, [] { launch(1, 1, [] {}); }).starts_with("a kernel launches another one"));
  CHECK_THROWS_AS(launch(1, 8,
                         [] {
                           if (threadIdx.x == 5) throw 5;
                         }),
                  int);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::emulate
