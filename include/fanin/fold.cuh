// SPDX-License-Identifier: Apache-2.0
// Reductions of device memory with an accumulator of your own, in code that nvcc compiles. fold.hpp describes the
// accumulator. Its functions are marked __host__ __device__ (FANIN_HOST_DEVICE). If they call constexpr functions,
// such as those of std::numeric_limits, nvcc needs --expt-relaxed-constexpr.
//
//   fanin::device_context context;
//   auto box = fanin::fold<bounding_box>(points, count, context).value;             // points: device memory
//   fanin::enqueue_fold<bounding_box>(points, count, box_on_device, context);       // on the device, no waiting
//   fanin::fold<weighted_sum>(values, weights, count, context);                     // an accumulator of two inputs
#pragma once

#include <fanin/cuda/device_scope.cuh>
#include <fanin/cuda/fold_launch.cuh>
#include <fanin/device.hpp>
#include <fanin/environment.hpp>
#include <fanin/fold.hpp>

namespace fanin {

namespace device_code {

/// Writes the state of the whole array to `out`.
template <class A>
struct state_writer {
  typename A::state* out;
  __device__ void operator()(const typename A::state& s) const { *out = s; }
};

/// Writes the value of the whole array to `out`.
template <class A>
struct value_writer {
  fold_result<A>* out;
  std::uint64_t count;
  __device__ void operator()(const typename A::state& s) const {
    *out = A::template finish<fold_result<A>>(s, count);
  }
};

/// Launches the general loop on the context's stream, which calls write(state) in one thread with the state of all
/// elements. `arrays`: one for each input of A.
/// @throws invalid_argument if an array is null and not empty, out_of_memory, device_error
template <class A, class Write, class... Array>
execution launch_own_fold(device_context& context, const Write& write, std::size_t count, Array... arrays) {
  if (count > 0 && ((arrays == nullptr) || ...)) throw invalid_argument("an input is null, but its count is not 0");
  const device_scope here(context.device());
  (check_reach(arrays, count * sizeof(typename A::element), context.device(), "the input"), ...);
  device_work& work = context.work();
  const execution where = work.where(fold_scratch_bytes<A>(work.where(0).multiprocessors));
  launch_fold<A>(where, arrays_of<A>(arrays..., count), write);
  return where;
}

/// The result of a fold of `arrays` once it has ended.
template <class A, class... Array>
result<fold_result<A>> own_fold(device_context& context, std::size_t count, Array... arrays) {
  auto* const state = static_cast<typename A::state*>(context.work().where(0).host_state);
  const auto where = launch_own_fold<A>(context, state_writer<A>{state}, count, arrays...);
  check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");
  const detail::environment_guard guard;
  const outcome done{"general-loop", method::fast,
                     A::order_free ? reproducibility::exact : reproducibility::run_to_run,
                     detail::bound_of_own<A>(fold_chain<A>(where.multiprocessors, count), count)};
  return {A::template finish<fold_result<A>>(*state, count), report("cuda", done)};
}

/// Launches a fold of `arrays` that writes the value to `result`.
template <class A, class... Array>
void enqueue_own_fold(device_context& context, fold_result<A>* result, std::size_t count, Array... arrays) {
  if (result == nullptr) throw invalid_argument("the result is null");
  check_reach(result, sizeof *result, context.device(), "the result");
  launch_own_fold<A>(context, value_writer<A>{result, count}, count, arrays...);
}

}  // namespace device_code

/// The reduction of x[0..n), in the memory of the context's device, by A. Empty gives A::finish(A::identity(), 0).
/// Accuracy: A::bound for the kernel's longest chain of additions; without A::bound nothing is promised.
/// Reproducible: the same bits on the same device with the same build, if x is aligned alike to 128 bytes
/// (run_to_run). If A is order_free, the same bits for any order (exact).
/// Memory: no copy. The context's scratch has a state for each block of the grid. A state takes at most 3 KiB. If it
/// has more than 32 bytes, a thread has registers for one load at a time only.
/// Threads: one call at a time for each context.
/// Cost: one read of x. The call waits for the work that is already on the context's stream and for the value.
/// finish() runs on the host, with rounding to nearest and subnormals kept.
/// @throws invalid_argument if the device cannot read x; out_of_memory, device_error
template <foldable A>
requires(accumulator::inputs_of<A>() == 1) result<fold_result<A>> fold(const typename A::element* x,
                                                                       std::size_t count, device_context& context) {
  return device_code::own_fold<A>(context, count, x);
}

/// Folds x[0..n) and y[0..n) by an accumulator of two inputs. If x and y are not aligned alike to 16 bytes, the
/// elements of y are loaded one by one.
template <foldable A>
requires(accumulator::inputs_of<A>() == 2) result<fold_result<A>> fold(const typename A::element* x,
                                                                       const typename A::element* y,
                                                                       std::size_t count, device_context& context) {
  return device_code::own_fold<A>(context, count, x, y);
}

/// Enqueues the reduction and returns. The kernel runs finish() on the device, and writes the value to `result`, in
/// device memory (or pinned). From the second call on, a call is only a kernel launch, and may be captured into a
/// CUDA graph.
/// @throws invalid_argument if the device cannot reach `result` or x; out_of_memory, device_error
template <foldable A>
requires(accumulator::inputs_of<A>() == 1) void enqueue_fold(const typename A::element* x, std::size_t count,
                                                             fold_result<A>* result, device_context& context) {
  device_code::enqueue_own_fold<A>(context, result, count, x);
}
template <foldable A>
requires(accumulator::inputs_of<A>() == 2) void enqueue_fold(const typename A::element* x,
                                                             const typename A::element* y, std::size_t count,
                                                             fold_result<A>* result, device_context& context) {
  device_code::enqueue_own_fold<A>(context, result, count, x, y);
}

}  // namespace fanin
