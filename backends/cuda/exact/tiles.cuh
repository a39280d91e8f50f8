// SPDX-License-Identifier: Apache-2.0
// Tiles of vectors for a warp, which come from device memory in one of two ways: by loads into registers
// (loaded_tiles), or by asynchronous bulk copies into a ring of buffers in shared memory (copied_tiles). Both
// classes have the members that window_sums calls.
#pragma once

#include "backends/cuda/exact/terms.cuh"
#include "backends/cuda/exact/warp.cuh"
#include "base/cuda/copy_barrier.cuh"

namespace fanin::cuda {

/// Deals the tiles of a block out to its warps at run time, since some warps are faster than others. Tiles are
/// numbered; turn t of a block is tile blockIdx.x + t * gridDim.x.
class tile_turns {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// The warp has turn `first`, then the turns that it draws from the block's counter `turns_taken` in shared memory.
  __device__ tile_turns(std::uint64_t tiles, unsigned first, unsigned& turns_taken)
      : tiles_(tiles), turns_taken_(turns_taken), turn_(first) {}

  /// The tile of a turn of this block, or none.
  __device__ std::uint64_t tile_of(unsigned turn) const {
    const std::uint64_t number = blockIdx.x + std::uint64_t{turn} * gridDim.x;
    return number < tiles_ ? number : none;
  }
  /// The tile of the warp's next turn, or none. A whole warp calls it.
  __device__ std::uint64_t next() {
    const std::uint64_t number = tile_of(__shfl_sync(0xffffffffu, turn_, 0));
    if (number != none) request_turn();
    return number;
  }
  /// Draws the turn that the following next() returns. The atomic operation is issued this early so that the addition
  /// of a tile hides its latency.
  __device__ void request_turn() {
    if (threadIdx.x % 32 > 0) return;
    // After an atomicAdd, the compiler would have the warp wait for the result here.
    asm volatile("atom.shared.add.u32 %0, [%1], 1;"
                 : "=r"(turn_)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&turns_taken_)))
                 : "memory");
  }

 private:
  std::uint64_t tiles_;
  unsigned& turns_taken_;
  unsigned turn_;  ///< defined in the warp's first thread
};

/// Tiles in registers, ThreadVectors vectors for each thread. As soon as a vector is taken, its registers receive the
/// same vector of the next tile. Whole warps call all members, here and in copied_tiles.
template <class Terms, int ThreadVectors>
class loaded_tiles {
  using element_vector = vector<typename Terms::element>;

 public:
  using vector = typename Terms::vector;
  /// Whether a warp may spend a microsecond before its first tile, as most data is still on its way then.
  static constexpr bool fetches_code_first = false;
  static constexpr int unrolled_vectors = ThreadVectors;  ///< in a loop over a tile: vectors are registers here

  /// The first tile has `count` <= ThreadVectors vectors for each thread, from `first` on and `stride` apart. The
  /// others are the tiles of `turns` in the array `body`.
  __device__ loaded_tiles(const Terms& terms, const element_vector* first, unsigned stride, int count,
                          const element_vector* body, const tile_turns& turns)
      : terms_(terms), body_(body), turns_(turns), first_(first) {
    if (!__any_sync(0xffffffffu, count > 0)) {
      first_ = next_first_vector();
      stride = 32;
      count = first_ != nullptr ? ThreadVectors : 0;
    }
#pragma unroll
    for (int k = 0; k < ThreadVectors; ++k) {
      v_[k] = k < count ? terms_.load(first_ + std::uint64_t{stride} * static_cast<unsigned>(k))
                        : vector::negative_zeros();
    }
    warp_count_ = warp_max(static_cast<unsigned>(count));
    next_first_ = next_first_vector();
  }

  /// Whether there is a current tile.
  __device__ bool has_tile() const { return first_ != nullptr; }
  /// Whether a thread of the warp has a vector k in it. The others have terms of -0.
  __device__ bool has_vector(int k) const { return static_cast<unsigned>(k) < warp_count_; }
  /// Vector k of this thread in the current tile.
  __device__ vector at(int k) const { return arranged(terms_, v_[k]); }
  /// Returns vector k. Its registers then receive vector k of the next tile. Each vector is taken once.
  __device__ vector take(int k) {
    const vector held = at(k);
    if (next_first_ != nullptr) v_[k] = terms_.load(next_first_ + k * 32);
    return held;
  }
  /// Makes the next tile the current one, after take() of all vectors.
  __device__ void advance() {
    first_ = next_first_;
    warp_count_ = ThreadVectors;
    next_first_ = next_first_vector();
  }

 private:
  __device__ const element_vector* next_first_vector() {
    const std::uint64_t tile = turns_.next();
    return tile != tile_turns::none ? body_ + tile * (32 * ThreadVectors) + threadIdx.x % 32 : nullptr;
  }

  const Terms& terms_;
  const element_vector* body_;
  tile_turns turns_;
  const element_vector* first_;
  const element_vector* next_first_;
  unsigned warp_count_;
  vector v_[ThreadVectors];
};

/// The buffers of a warp, in shared memory: each slot holds a tile.
template <class T, int ThreadVectors, int Slots>
struct tile_ring {
  static constexpr unsigned vectors = 32 * ThreadVectors;
  alignas(128) vector<T> slot[Slots][vectors];
  copy_barrier arrived[Slots];
};

/// Tiles that bulk copies bring into shared memory (compute capability 9.0). Copies take no registers. The last
/// tile of the array may be incomplete.
template <class Terms, int ThreadVectors, int Slots>
class copied_tiles {
  using element_vector = vector<typename Terms::element>;

 public:
  using ring = tile_ring<typename Terms::element, ThreadVectors, Slots>;
  using vector = typename Terms::vector;
  static constexpr bool fetches_code_first = true;
  static_assert(!arranges_terms<Terms>, "at() arranges no terms");
  static constexpr int unrolled_vectors = 2;

  /// Initialises the barriers of the ring, and touches no device memory. start() takes the block's first turns: one
  /// for each slot of each warp.
  __device__ copied_tiles(ring& warp_ring, const element_vector* body, std::uint64_t vectors, unsigned& turns_taken)
      : ring_(warp_ring),
        body_(body),
        vectors_(vectors),
        turns_((vectors + ring::vectors - 1) / ring::vectors, 0, turns_taken) {
    if (threadIdx.x % 32 > 0) return;
#pragma unroll
    for (copy_barrier& barrier : ring_.arrived) barrier.start();
    copy_barrier::publish();
  }
  /// Starts the first copies.
  __device__ void start() {
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < Slots; ++i) copy(i, turns_.tile_of(threadIdx.x / 32 + i * (blockDim.x / 32)));
  }
  /// Waits for the first tile. From here on the warps draw their turns.
  __device__ void begin() {
    turns_.request_turn();
    wait();
  }

  __device__ bool has_tile() const { return slots_in_use_ > 0; }
  __device__ static bool has_vector(int) { return true; }
  __device__ vector at(int k) const { return {ring_.slot[slot_][k * 32 + threadIdx.x % 32]}; }
  __device__ vector take(int k) const { return at(k); }
  __device__ void advance() {
    __syncwarp();  // all threads have read the slot
    --slots_in_use_;
    copy(slot_, turns_.next());
    if (++slot_ == Slots) slot_ = 0, parity_ ^= 1;
    wait();
  }

 private:
  __device__ void copy(int slot, std::uint64_t tile) {
    if (tile == tile_turns::none) return;
    const std::uint64_t begin = tile * ring::vectors;
    const unsigned size = vectors_ - begin < ring::vectors ? static_cast<unsigned>(vectors_ - begin) : ring::vectors;
    if (threadIdx.x % 32 == 0) {
      ring_.arrived[slot].copy_once(ring_.slot[slot], body_ + begin, size * sizeof(element_vector));
    }
    last_size_ = size;
    ++slots_in_use_;
  }
  __device__ void wait() {
    if (slots_in_use_ == 0) return;
    ring_.arrived[slot_].wait(parity_);
    if (slots_in_use_ == 1 && last_size_ < ring::vectors) fill_up();
  }
  /// Completes the array's last tile with terms of -0. No copy into this slot follows.
  __device__ void fill_up() {
    for (unsigned i = threadIdx.x % 32; i < ring::vectors; i += 32) {
      if (i >= last_size_) ring_.slot[slot_][i] = vector::negative_zeros().x;
    }
  }

  ring& ring_;
  const element_vector* body_;
  std::uint64_t vectors_;
  tile_turns turns_;
  int slot_ = 0;                        ///< the slot of the current tile
  unsigned parity_ = 0;                 ///< the parity of the copy into that slot, for copy_barrier::wait()
  int slots_in_use_ = 0;                ///< slots whose tile is copied or being copied
  unsigned last_size_ = ring::vectors;  ///< vectors in the tile that was copied last
};

}  // namespace fanin::cuda
