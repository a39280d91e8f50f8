// The batches of vectors that a warp adds, on their way from device memory: loaded into registers, or copied by the
// device itself into a ring of buffers in shared memory. Both kinds offer the same to window_sums.
#pragma once

#include "backends/cuda/exact/terms.cuh"
#include "backends/cuda/runtime/copy_barrier.cuh"

namespace fanin::cuda {

/// A warp's turns at numbered batches. A block's warps take turns at its share of them: some are faster than others.
class batch_turns {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// The warp has turn `first`, then those that it takes from `taken`, in shared memory.
  __device__ batch_turns(std::uint64_t batches, unsigned first, unsigned& taken)
      : batches_(batches), taken_(taken), turn_(first) {}

  /// The batch of this block's turn, or none.
  __device__ std::uint64_t batch(unsigned turn) const {
    const std::uint64_t number = blockIdx.x + std::uint64_t{turn} * gridDim.x;
    return number < batches_ ? number : none;
  }
  /// The batch of the warp's next turn, or none. A whole warp calls it.
  __device__ std::uint64_t next() {
    const std::uint64_t number = batch(__shfl_sync(0xffffffffu, turn_, 0));
    if (number != none) take();
    return number;
  }
  /// Requests the turn that the following next() returns: the atomic operation takes longer than a batch's addition
  /// may wait.
  __device__ void take() {
    if (threadIdx.x % 32 > 0) return;
    // Unlike with atomicAdd the compiler does not make the warp wait for the answer.
    asm volatile("atom.shared.add.u32 %0, [%1], 1;"
                 : "=r"(turn_)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&taken_)))
                 : "memory");
  }

 private:
  std::uint64_t batches_;
  unsigned& taken_;
  unsigned turn_;  ///< in the first lane
};

/// Batches of Most vectors for each lane, in its registers; each place is loaded again as soon as it is free. All
/// members are called by whole warps, as are those of copied_batches.
template <class Terms, int Most>
class loaded_batches {
  using element_vector = vector<typename Terms::element>;

 public:
  using vector = typename Terms::vector;

  /// `count` vectors of each lane, at most Most and `stride` apart, then the batches from `body` on.
  __device__ loaded_batches(const Terms& from, const element_vector* first, unsigned stride, int count,
                            const element_vector* body, const batch_turns& turns)
      : from_(from), body_(body), turns_(turns), first_(first), stride_(stride), count_(count) {
    if (!__any_sync(0xffffffffu, count > 0)) enter(next());
    read_again();
    following_ = next();
  }

  /// Whether there is a batch.
  __device__ bool there() const { return first_ != nullptr; }
  /// What this lane has of it.
  __device__ const vector& at(int k) const { return v_[k]; }
  /// The same, for the last time until read_again().
  __device__ vector take(int k) {
    const vector taken = v_[k];
    if (following_ != nullptr) v_[k] = from_.load(following_ + k * 32);
    return taken;
  }
  __device__ void read_again() {
#pragma unroll
    for (int k = 0; k < Most; ++k) v_[k] = k < count_ ? load(k) : vector::nothing();
  }
  /// f(vector) for all that this lane has, though they were taken.
  template <class F>
  __device__ void for_each_again(F f) const {
#pragma unroll 4
    for (int k = 0; k < count_; ++k) f(load(k));
  }
  /// Goes on to the next batch, after take() of all.
  __device__ void advance() {
    enter(following_);
    following_ = next();
  }

 private:
  __device__ void enter(const element_vector* first) {
    first_ = first;
    stride_ = 32;
    count_ = first != nullptr ? Most : 0;
  }
  __device__ const element_vector* next() {
    const std::uint64_t batch = turns_.next();
    return batch != batch_turns::none ? body_ + batch * (32 * Most) + threadIdx.x % 32 : nullptr;
  }
  __device__ vector load(int k) const {
    return from_.load(first_ + std::uint64_t{stride_} * static_cast<unsigned>(k));
  }

  const Terms& from_;
  const element_vector* body_;
  batch_turns turns_;
  const element_vector* first_;
  unsigned stride_;
  int count_;
  const element_vector* following_;
  vector v_[Most];
};

/// A warp's buffers for batches.
template <class T, int Most, int Slots>
struct batch_ring {
  static constexpr unsigned vectors = 32 * Most;
  alignas(128) vector<T> slot[Slots][vectors];
  copy_barrier arrived[Slots];
};

/// The same, copied (compute capability 9.0). What is on its way takes no registers, and what did not fit is not
/// fetched twice. The last batch of the array may be a part of one.
template <class Terms, int Most, int Slots>
class copied_batches {
  using element_vector = vector<typename Terms::element>;

 public:
  using ring = batch_ring<typename Terms::element, Most, Slots>;
  using vector = typename Terms::vector;

  /// Touches the ring only. The block's first turns are given out: a slot's to each warp.
  __device__ copied_batches(ring& of_warp, const element_vector* body, std::uint64_t vectors, unsigned& turns_taken)
      : ring_(of_warp),
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
    for (int i = 0; i < Slots; ++i) copy(i, turns_.batch(threadIdx.x / 32 + i * (blockDim.x / 32)));
  }
  /// Waits for the first batch. From here on warps take turns.
  __device__ void begin() {
    turns_.take();
    wait();
  }

  __device__ bool there() const { return under_way_ > 0; }
  __device__ vector at(int k) const { return {ring_.slot[slot_][k * 32 + threadIdx.x % 32]}; }
  __device__ vector take(int k) const { return at(k); }
  __device__ void read_again() const {}
  template <class F>
  __device__ void for_each_again(F f) const {
#pragma unroll 4
    for (int k = 0; k < Most; ++k) f(at(k));
  }
  __device__ void advance() {
    __syncwarp();  // all lanes have read the slot
    --under_way_;
    copy(slot_, turns_.next());
    if (++slot_ == Slots) slot_ = 0, parity_ ^= 1;
    wait();
  }

 private:
  __device__ void copy(int slot, std::uint64_t batch) {
    if (batch == batch_turns::none) return;
    const std::uint64_t begin = batch * ring::vectors;
    const unsigned size = vectors_ - begin < ring::vectors ? static_cast<unsigned>(vectors_ - begin) : ring::vectors;
    if (threadIdx.x % 32 == 0) {
      ring_.arrived[slot].copy_once(ring_.slot[slot], body_ + begin, size * sizeof(element_vector));
    }
    last_size_ = size;
    ++under_way_;
  }
  __device__ void wait() {
    if (under_way_ == 0) return;
    ring_.arrived[slot_].wait(parity_);
    if (under_way_ == 1 && last_size_ < ring::vectors) fill_up();
  }
  /// The array's last batch: nothing is copied into this slot any more.
  __device__ void fill_up() {
    for (unsigned i = threadIdx.x % 32; i < ring::vectors; i += 32) {
      if (i >= last_size_) ring_.slot[slot_][i] = vector::nothing().x;
    }
  }

  ring& ring_;
  const element_vector* body_;
  std::uint64_t vectors_;
  batch_turns turns_;
  int slot_ = 0;  ///< of the batch that is added
  unsigned parity_ = 0;
  int under_way_ = 0;                   ///< batches in slots
  unsigned last_size_ = ring::vectors;  ///< vectors of the one copied last
};

}  // namespace fanin::cuda
