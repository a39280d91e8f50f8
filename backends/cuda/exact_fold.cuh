// Launching the exact sum.
#pragma once

#include "backends/cuda/exact_kernel.cuh"
#include "backends/cuda/exact_round.cuh"
#include "backends/cuda/finish.hpp"
#include "backends/cuda/overlapped.cuh"

namespace fanin::cuda {

/// What becomes of the grid's sum: it is left for others, or rounded here if there is a place for the result. Called
/// by a whole block.
template <class Reduction>
struct exact_end {
  using T = typename Reduction::element;
  chunk_sums<T>* out;
  void* result;
  bool as_float;
  std::uint64_t count;

  __device__ void operator()(const chunk_sums<T>& sums) const {
    if (result == nullptr) {
      for (int i = threadIdx.x; i < chunk_sums<T>::count; i += blockDim.x) out->chunk[i] = sums.chunk[i];
      if (threadIdx.x == 0) out->seen = sums.seen;
    } else if (threadIdx.x >= 32) {
      return;
    } else if (Reduction::what == operation::sum && sums.seen == seen_bits::numbers) {
      const leading_bits sum = leading_bits_of(sums);
      if (threadIdx.x > 0) return;
      with_type([&]<class R>(R) { place<R>() = {rounded<R>(sum), 0}; });
    } else if (threadIdx.x == 0) {
      with_type([&]<class R>(R) { finish_alone<R>(sums); });
    }
  }

 private:
  /// f(R()) for the result's type.
  template <class F>
  __device__ void with_type(F f) const {
    if (sizeof(T) == 4 && as_float) {
      f(float());
    } else {
      f(double());
    }
  }

  template <class R>
  __device__ device_result<R>& place() const {
    return *static_cast<device_result<R>*>(result);
  }

  /// By one thread, and out of line: its arrays would take registers from the loops.
  template <class R>
  __device__ __noinline__ void finish_alone(const chunk_sums<T>& sums) const {
    place<R>() = finished<Reduction, R>(static_cast<typename Reduction::total::state>(sums), count);
  }
};

/// Exact sums and means. They do not round: no chain counts.
template <class Reduction>
class exact_fold final : public device_fold {
  using T = typename Reduction::element;

 public:
  void launch(const execution& where, const void* x, std::uint64_t count, void* out) const override {
    run(where, x, {static_cast<chunk_sums<T>*>(out), nullptr, false, count});
  }
  bool launch_finished(const execution& where, const void* x, std::uint64_t count, element_type result,
                       void* out) const override {
    run(where, x, {nullptr, out, result == element_type::f32, count});
    return true;
  }
  chain longest_chain(const execution&, std::uint64_t) const override { return {}; }

 private:
  static void run(const execution& where, const void* elements, const exact_end<Reduction>& end) {
    const peeled_array<T> x(static_cast<const T*>(elements), end.count);
    if (x.vectors < tuning::exact_many_vectors) {
      run<tuning::exact_few>(where, x, end);
    } else {
      run<tuning::exact_many>(where, x, end);
    }
  }

  template <tuning::shape Shape>
  static void run(const execution& where, const peeled_array<T>& x, const exact_end<Reduction>& end) {
    const unsigned blocks = tuning::blocks(x.vectors, where.multiprocessors, Shape);
    launch_overlapped(where, blocks, Shape.threads, exact_kernel<T, Shape.loads, exact_end<Reduction>>, x,
                      tuning::whole_batches(x.vectors, blocks, Shape), static_cast<chunk_sums<T>*>(where.exact_total),
                      where.ticket, end);
  }
};

}  // namespace fanin::cuda
