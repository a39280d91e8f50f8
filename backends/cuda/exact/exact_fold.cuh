// SPDX-License-Identifier: Apache-2.0
// Launching the exact sums of elements, of their squares, and of products.
#pragma once

#include <atomic>

#include <fanin/accumulator/exact_total.hpp>
#include <fanin/device.hpp>

#include "backends/cuda/exact/exact_kernel.cuh"
#include "backends/cuda/exact/exact_round.cuh"
#include "backends/cuda/runtime/device_fold.hpp"

namespace fanin::cuda {

/// Writes the grid's sum to `out`. A whole block calls it.
template <class T, int Power>
struct exact_state_writer {
  chunk_sums<T, Power>* out;

  __device__ void operator()(const chunk_sums<T, Power>& total) const {
    for (int i = threadIdx.x; i < total.count; i += blockDim.x) out->chunk[i] = total.chunk[i];
    if (threadIdx.x == 0) out->seen = total.seen;
  }
};

/// The value that is computed from an exact sum.
enum class exact_value : std::uint8_t { sum, mean, square_sum, norm };
template <class A>
inline constexpr bool no_exact_value = false;
template <class A>
inline constexpr exact_value exact_value_of = [] {
  static_assert(no_exact_value<A>, "the kernel for exact sums does not know this accumulator");
  return exact_value::sum;
}();
template <class T, class Term>
inline constexpr exact_value exact_value_of<accumulator::exact_sum<T, Term>> = exact_value::sum;
template <class T>
inline constexpr exact_value exact_value_of<accumulator::exact_mean<T>> = exact_value::mean;
template <class T>
inline constexpr exact_value exact_value_of<accumulator::exact_square_sum<T>> = exact_value::square_sum;
template <class T>
inline constexpr exact_value exact_value_of<accumulator::exact_norm<T>> = exact_value::norm;

/// Writes the grid's sum to `out`, or if `result` is not null, the rounded value to the device_result there. A whole
/// block calls it.
template <class T, int Power>
struct exact_sum_writer {
  using sums = chunk_sums<T, Power>;
  sums* out;
  void* result;
  exact_value value;
  bool as_float;
  std::uint64_t count;

  __device__ void operator()(const sums& total) const {
    if (result == nullptr) return exact_state_writer<T, Power>{out}(total);
    if (threadIdx.x >= 32) return;
    const int first = total.seen == seen_bits::not_negative_zero ? first_of_span(total) : -1;
    if (first >= 0) {
      const leading_bits sum = leading_bits_of(total, first);
      if (threadIdx.x > 0) return;
      const leading_bits x = value == exact_value::mean   ? quotient(sum, count)
                             : value == exact_value::norm ? root(sum)
                                                          : sum;
      with_result_type([&]<class R>(R) { result_as<R>() = {rounded<R>(x), 0}; });
    } else if (threadIdx.x == 0) {
      with_result_type([&]<class R>(R) { finish_in_one_thread<R>(total); });
    }
  }

 private:
  /// Calls f(R()) with the result's type R.
  template <class F>
  __device__ void with_result_type(F f) const {
    if (sizeof(T) == 4 && as_float) {
      f(float());
    } else {
      f(double());
    }
  }

  template <class R>
  __device__ device_result<R>& result_as() const {
    return *static_cast<device_result<R>*>(result);
  }

  /// Rounds in one thread. The function is not inlined, since its arrays would take registers from the kernel's
  /// loops.
  template <class R>
  __device__ __noinline__ void finish_in_one_thread(const sums& total) const {
    const auto sum = static_cast<typename sums::accumulator>(total);
    if constexpr (Power == 1) {
      result_as<R>() = {value == exact_value::sum ? sum.template round<R>() : sum.template mean<R>(count), 0};
    } else {
      result_as<R>() = {value == exact_value::square_sum ? sum.template round<R>() : sum.template root<R>(), 0};
    }
  }
};

/// The shared memory of a block's rings.
template <tuning::shape Shape, class T>
constexpr std::size_t ring_bytes = sizeof(batch_ring<T, Shape.loads, Shape.slots>) * Shape.threads / 32;

/// Allows a kernel `bytes` of dynamic shared memory on the current device, as the runtime demands once for more than
/// 48 KiB. `allowed_devices` has a bit for each device where that was done; from the 65th device on it is done for
/// each launch. @throws device_error
template <class Kernel>
void allow_shared_bytes(Kernel kernel, std::size_t bytes, int device, std::atomic<std::uint64_t>& allowed_devices) {
  const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;
  if ((allowed_devices.load() & bit) != 0) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
  allowed_devices.fetch_or(bit);
}

template <tuning::shape Shape, class T, class Terms, class Write>
void launch_exact_kernel(const execution& where, const peeled_array<T>& x, const Terms& terms, const Write& write) {
  const unsigned blocks = tuning::blocks(x.vectors, where.multiprocessors, Shape);
  const auto kernel = exact_kernel<Terms, Shape.loads, Shape.slots, Write>;
  std::size_t shared_bytes = 0;
  if constexpr (Shape.slots > 0) {
    if (where.copy_room > 0) {
      static std::atomic<std::uint64_t> allowed_devices;
      shared_bytes = ring_bytes<Shape, T>;
      allow_shared_bytes(kernel, shared_bytes, where.device, allowed_devices);
    }
  }
  launch_overlapped(where, blocks, Shape.threads, shared_bytes, kernel, x, terms,
                    tuning::whole_batches(x.vectors, blocks, Shape),
                    static_cast<chunk_sums<T, Terms::power>*>(where.exact_total), where.ticket, write);
}

/// Whether the kernel for many vectors runs on the device: with bulk copies it needs more shared memory than some
/// devices have.
template <class T, int Power>
bool exact_many_fits(const execution& where) {
  constexpr tuning::shape shape = tuning::exact_many;
  constexpr std::size_t other_shared_bytes =
      sizeof(lane_sums<T, shape.threads / 32, Power>) + sizeof(chunk_sums<T, Power>) + 1024;
  return where.copy_room == 0 || ring_bytes<shape, T> + other_shared_bytes <= where.copy_room;
}

template <class T, int Power, class Term = accumulator::plain_term>
void launch_exact(const execution& where, const void* elements, const exact_sum_writer<T, Power>& write) {
  const peeled_array<T> x(static_cast<const T*>(elements), write.count);
  if (x.vectors < tuning::exact_many_vectors || !exact_many_fits<T, Power>(where)) {
    launch_exact_kernel<tuning::exact_few>(where, x, powers<T, Power, Term>(), write);
  } else {
    launch_exact_kernel<tuning::exact_many>(where, x, powers<T, Power, Term>(), write);
  }
}

/// The base of exact folds, which have no chain of rounded additions.
class unrounded_fold : public device_fold {
 public:
  using device_fold::device_fold;
  rounding_chain longest_chain(const execution&, std::uint64_t) const final { return {}; }
};

/// Sums of terms, means, sums of squares and norms.
template <class A, int Power, class Term = accumulator::plain_term>
class exact_fold final : public unrounded_fold {
  using T = typename A::element;
  static constexpr exact_value value = exact_value_of<A>;

 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    launch_exact<T, Power, Term>(where, data.x,
                                 {static_cast<chunk_sums<T, Power>*>(out), nullptr, value, false, count});
  }
  bool launch_finished(const execution& where, const operands& data, std::uint64_t count, element_type result,
                       void* out) const override {
    launch_exact<T, Power, Term>(where, data.x, {nullptr, out, value, result == element_type::f32, count});
    return true;
  }
};

/// Variances: a kernel for the sum, and one for the sum of squares.
template <class T>
class moments_fold final : public unrounded_fold {
 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    auto& moments = *static_cast<chunk_moments<T>*>(out);
    launch_exact<T, 1>(where, data.x, {&moments.sum, nullptr, exact_value::sum, false, count});
    launch_exact<T, 2>(where, data.x, {&moments.squares, nullptr, exact_value::square_sum, false, count});
  }
};

/// Dot products.
template <class T>
class dot_fold final : public unrounded_fold {
 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    const peeled_array<T> x(static_cast<const T*>(data.x), count);
    const auto second = second_array<T>::of(data.x, data.y);
    constexpr tuning::shape shape = tuning::exact_pairs(sizeof(T));
    const exact_state_writer<T, 2> write{static_cast<chunk_products<T>*>(out)};
    if (second.is_aligned()) {
      launch_exact_kernel<shape>(where, x, products<T, true>{second}, write);
    } else {
      launch_exact_kernel<shape>(where, x, products<T, false>{second}, write);
    }
  }
};

}  // namespace fanin::cuda
