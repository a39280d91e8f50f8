// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs CUDA kernels on a CPU, compiled by a C++ compiler. This header needs no other header of fanin, and no GPU.
///
///     #include <fanin/emulate.hpp>
///     #include "kernel.cu"  // __global__ void add(const float* x, float* y) { ... }
///     fanin::emulate::launch(4, 256, [&] { add(x, y); });  // add<<<4, 256>>>(x, y)
///
/// Modelled:
/// - Grids and blocks of one dimension: `threadIdx`, `blockIdx`, `blockDim`, `gridDim`.
/// - Warps of 32 threads, each with a mask: `__syncwarp`, `__shfl_sync` and its kin, `__ballot_sync`, `__any_sync`,
///   `__all_sync`, `__reduce_add_sync`. The threads of a mask meet at these calls, at the same line of the
///   program, and run apart between them.
/// - `__syncthreads`, `__syncthreads_or`, `__syncthreads_and` and `__syncthreads_count`. All threads of the block
///   meet at these calls, at the same line.
/// - Atomic functions of 4 and 8 bytes, and `__threadfence`.
/// - `__shared__` variables inside functions. Values of one block are still there in the next block.
/// - Cooperative groups: `this_thread_block()`, `tiled_partition<N>()` and `reduce()` of a tile.
///
/// Not modelled:
/// - Time, caches and registers. Use a profiler on a GPU.
/// - Blocks that run at the same time. Blocks run one after the other, so a block that waits for a later one waits
///   for ever.
/// - `extern __shared__`, grid barriers, textures, streams, asynchronous copies and the `<<<>>>` of a launch.
/// - The order in which a GPU runs threads. One thread runs at a time, up to the next barrier. launch() can take the
///   threads and the blocks in another order.
///
/// If not all threads of a barrier reach it, the launch ends with a `fault`. A build with -fsanitize=thread
/// reports two threads of a kernel that use one address without a barrier, because ThreadSanitizer knows these
/// threads.
///
/// Threads: one launch at a time in a process. The header defines macros and global names of CUDA, so include it only
/// where a kernel is compiled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <fanin/emulate/block.hpp>

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __shared__ thread_local
#define __launch_bounds__(...)
#define __noinline__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))

using std::max;
using std::min;

namespace fanin::emulate {

/// Calls kernel() in every thread of a grid of `blocks` blocks of `threads` threads. The blocks run one after the
/// other, and the threads of a block take turns. `seed` chooses the order of blocks and threads. For 0 the order
/// is ascending.
/// An exception of the kernel ends the launch. Objects on the stacks of its other threads are not destroyed.
/// @throws fault if not all threads of a barrier reach it; any exception of the kernel
template <class Kernel>
void launch(unsigned blocks, unsigned threads, Kernel kernel, unsigned seed = 0) {
  if (threads == 0 || threads > 1024) throw std::invalid_argument("a block has 1 to 1024 threads");
  detail::block state;
  state.threads = std::vector<detail::thread>(threads);
  state.call = [](void* called) { (*static_cast<Kernel*>(called))(); };
  state.kernel = &kernel;
  detail::run_grid(state, blocks, seed);
}

namespace detail {

template <class T>
std::uint64_t to_word(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}
template <class T>
T from_word(std::uint64_t word) {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}
/// The value of the thread `from` of the mask. A thread that is not in the mask gives the caller's own value.
template <class T>
T shuffle(unsigned mask, T mine, unsigned from, int line) {
  return from_word<T>(exchange(mask, to_word(mine), line).received[from % 32]);
}
inline unsigned warp_thread() { return threadIdx.x % 32; }

template <std::size_t Bytes>
using word = std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>;

/// Replaces *at by change(*at), and returns what was there.
template <class T, class Change>
T update(T* at, Change change, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  using bits __attribute__((may_alias)) = word<sizeof(T)>;
  auto* const memory = reinterpret_cast<bits*>(at);
  if (running != nullptr) running->current().line = line;
  bits found = __atomic_load_n(memory, __ATOMIC_RELAXED), wanted;
  do {
    wanted = static_cast<bits>(to_word(change(from_word<T>(found))));
  } while (!__atomic_compare_exchange_n(memory, &found, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return from_word<T>(found);
}

}  // namespace detail
}  // namespace fanin::emulate

// The functions of CUDA. Their last argument is the line of the caller.

inline void __syncthreads(int line = __builtin_LINE()) { fanin::emulate::detail::meet(0, line); }
inline int __syncthreads_count(int mine, int line = __builtin_LINE()) {
  return static_cast<int>(fanin::emulate::detail::meet(mine != 0 ? 1 : 0, line));
}
inline int __syncthreads_or(int mine, int line = __builtin_LINE()) {
  return __syncthreads_count(mine, line) != 0 ? 1 : 0;
}
inline int __syncthreads_and(int mine, int line = __builtin_LINE()) {
  return __syncthreads_count(mine, line) == static_cast<int>(blockDim.x) ? 1 : 0;
}
inline void __syncwarp(unsigned mask = ~0u, int line = __builtin_LINE()) {
  fanin::emulate::detail::exchange(mask, 0, line);
}
/// After an atomic function other blocks see only what the thread did before its last fence.
inline void __threadfence() { __tsan_release(&fanin::emulate::detail::running->current().fenced); }
inline void __threadfence_block() {}

template <class T>
T __shfl_sync(unsigned mask, T mine, unsigned from, int width = 32, int line = __builtin_LINE()) {
  const unsigned group = static_cast<unsigned>(width), first = fanin::emulate::detail::warp_thread() / group * group;
  return fanin::emulate::detail::shuffle(mask, mine, first + from % group, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T mine, unsigned distance, int width = 32, int line = __builtin_LINE()) {
  const unsigned group = static_cast<unsigned>(width), warp_thread = fanin::emulate::detail::warp_thread();
  return fanin::emulate::detail::shuffle(
      mask, mine, warp_thread % group + distance < group ? warp_thread + distance : warp_thread, line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T mine, unsigned distance, int width = 32, int line = __builtin_LINE()) {
  const unsigned group = static_cast<unsigned>(width), warp_thread = fanin::emulate::detail::warp_thread();
  return fanin::emulate::detail::shuffle(
      mask, mine, warp_thread % group >= distance ? warp_thread - distance : warp_thread, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T mine, unsigned bits, int width = 32, int line = __builtin_LINE()) {
  const unsigned group = static_cast<unsigned>(width), warp_thread = fanin::emulate::detail::warp_thread(),
                 other = warp_thread ^ bits;
  return fanin::emulate::detail::shuffle(mask, mine, other / group <= warp_thread / group ? other : warp_thread,
                                         line);
}
inline unsigned __ballot_sync(unsigned mask, int mine, int line = __builtin_LINE()) {
  const auto& found = fanin::emulate::detail::exchange(mask, mine != 0 ? 1 : 0, line);
  unsigned bits = 0;
  for (unsigned warp_thread = 0; warp_thread < 32; ++warp_thread)
    bits |= static_cast<unsigned>(found.received[warp_thread]) << warp_thread;
  return bits & mask;
}
inline int __any_sync(unsigned mask, int mine, int line = __builtin_LINE()) {
  return __ballot_sync(mask, mine, line) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int mine, int line = __builtin_LINE()) {
  return __ballot_sync(mask, mine, line) == mask ? 1 : 0;
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned mine, int line = __builtin_LINE()) {
  const auto& found = fanin::emulate::detail::exchange(mask, mine, line);
  unsigned sum = 0;
  for (unsigned warp_thread = 0; warp_thread < 32; ++warp_thread)
    sum += (mask >> warp_thread & 1) != 0 ? static_cast<unsigned>(found.received[warp_thread]) : 0;
  return sum;
}

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> more, int line = __builtin_LINE()) {
  return fanin::emulate::detail::update(
      at, [=](T was) { return static_cast<T>(was + more); }, line);
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value, int line = __builtin_LINE()) {
  return fanin::emulate::detail::update(
      at, [=](T was) { return was < value ? value : was; }, line);
}
template <class T>
T atomicMin(T* at, std::type_identity_t<T> value, int line = __builtin_LINE()) {
  return fanin::emulate::detail::update(
      at, [=](T was) { return value < was ? value : was; }, line);
}
template <class T>
T atomicOr(T* at, std::type_identity_t<T> bits, int line = __builtin_LINE()) {
  return fanin::emulate::detail::update(
      at, [=](T was) { return static_cast<T>(was | bits); }, line);
}
template <class T>
T atomicExch(T* at, std::type_identity_t<T> value, int line = __builtin_LINE()) {
  return fanin::emulate::detail::update(
      at, [=](T) { return value; }, line);
}
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value, int line = __builtin_LINE()) {
  return fanin::emulate::detail::update(
      at, [=](T was) { return was == expected ? value : was; }, line);
}
/// Counts up to `last`, and then begins again at 0.
inline unsigned atomicInc(unsigned* at, unsigned last, int line = __builtin_LINE()) {
  return fanin::emulate::detail::update(
      at, [=](unsigned was) { return was >= last ? 0 : was + 1; }, line);
}

namespace cooperative_groups {

/// All threads of a block.
class thread_block {
 public:
  void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
  unsigned thread_rank() const { return threadIdx.x; }
  unsigned num_threads() const { return blockDim.x; }
  unsigned size() const { return blockDim.x; }
};
inline thread_block this_thread_block() { return {}; }

/// `Size` neighbouring threads of a warp: 1, 2, 4, 8, 16 or 32.
template <unsigned Size>
class thread_block_tile {
  static_assert(Size != 0 && Size <= 32 && (Size & (Size - 1)) == 0);

 public:
  void sync(int line = __builtin_LINE()) const { __syncwarp(mask(), line); }
  unsigned thread_rank() const { return threadIdx.x % Size; }
  unsigned num_threads() const { return Size; }
  unsigned size() const { return Size; }
  unsigned meta_group_rank() const { return threadIdx.x / Size; }
  unsigned meta_group_size() const { return (blockDim.x + Size - 1) / Size; }
  template <class T>
  T shfl(T mine, unsigned from, int line = __builtin_LINE()) const {
    return __shfl_sync(mask(), mine, from, Size, line);
  }
  template <class T>
  T shfl_down(T mine, unsigned distance, int line = __builtin_LINE()) const {
    return __shfl_down_sync(mask(), mine, distance, Size, line);
  }
  template <class T>
  T shfl_xor(T mine, unsigned bits, int line = __builtin_LINE()) const {
    return __shfl_xor_sync(mask(), mine, bits, Size, line);
  }

 private:
  static unsigned mask() {
    const unsigned warp_thread = threadIdx.x % 32;
    return (Size == 32 ? ~0u : (1u << Size % 32) - 1) << warp_thread / Size * Size;
  }
};
template <unsigned Size>
thread_block_tile<Size> tiled_partition(thread_block) {
  return {};
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
/// The values of a tile, combined in an order that the caller must not rely on.
template <unsigned Size, class T, class Combine>
T reduce(thread_block_tile<Size> tile, T mine, Combine combine, int line = __builtin_LINE()) {
  for (unsigned bits = Size / 2; bits > 0; bits /= 2) mine = combine(mine, tile.shfl_xor(mine, bits, line));
  return mine;
}

}  // namespace cooperative_groups
