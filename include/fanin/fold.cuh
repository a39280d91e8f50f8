// Reductions of device memory with an accumulator of your own (described in fold.hpp), in code that nvcc compiles.
// The accumulator's functions are marked __host__ __device__ (FANIN_HOST_DEVICE); where they call constexpr
// functions, as those of std::numeric_limits, nvcc wants --expt-relaxed-constexpr.
//
//   fanin::device_context context;
//   auto box = fanin::fold<bounding_box>(points, count, context).value;             // points: device memory
//   fanin::enqueue_fold<bounding_box>(points, count, box_on_device, context);       // on the device, no waiting
#pragma once

#include <fanin/cuda/device_scope.cuh>
#include <fanin/cuda/fold_launch.cuh>
#include <fanin/device.hpp>
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

/// Launches the general loop on the context's stream, which calls write(state) in one thread with the state of the
/// whole array. @throws invalid_argument if x is null and not empty, out_of_memory, device_error
template <class A, class Write>
execution launch_own_fold(const typename A::element* x, std::size_t count, device_context& context,
                          const Write& write) {
  static_assert(accumulator::inputs_of<A>() == 1, "fold.cuh reads one array");
  static_assert(sizeof(typename A::state) <= 256, "states of the device's loop are kept in registers");
  if (x == nullptr && count > 0) throw invalid_argument("the input is null, but its count is not 0");
  const device_scope here(context.device());
  constexpr std::size_t most_blocks = 4096;
  const execution where = context.work().where(most_blocks * sizeof(typename A::state));
  launch_fold<A>(where, peeled_array<typename A::element>(x, count), write);
  return where;
}

}  // namespace device_code

/// The reduction of x[0..n), in the memory of the context's device, by A. Empty gives A::finish(A::identity(), 0).
/// Accuracy: A::bound for the kernel's longest chain of additions; without A::bound nothing is promised.
/// Reproducible: same bits on the same device with the same build, if x has the same distance from a boundary of 128
/// bytes (run_to_run); in any order if A is order_free (exact).
/// Memory: no copy; 4096 states of scratch in the context.   Threads: one call at a time for each context.
/// Cost: one read of x. The call waits for the work that is already on the context's stream and for the value.
/// finish() runs on the host. @throws invalid_argument if x is null and not empty, out_of_memory, device_error
template <foldable A>
result<fold_result<A>> fold(const typename A::element* x, std::size_t count, device_context& context) {
  using R = fold_result<A>;
  auto* const state = static_cast<typename A::state*>(context.work().where(0).host_state);
  const auto where = device_code::launch_own_fold<A>(x, count, context, device_code::state_writer<A>{state});
  device_code::check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");
  report how{"cuda",
             "general-loop",
             method::fast,
             A::order_free ? reproducibility::exact : reproducibility::run_to_run,
             detail::bound_of_own<A>(device_code::fold_chain<A>(where.multiprocessors, count), count),
             {}};
  return {A::template finish<R>(*state, count), std::move(how)};
}

/// Enqueues the reduction and returns; the kernel writes the value to `result`, in device memory (or pinned), and
/// runs finish() on the device. After a first call the call is only a kernel launch, which may be captured into a
/// CUDA graph.
/// @throws invalid_argument if `result` is null, or x is null and not empty; out_of_memory, device_error
template <foldable A>
void enqueue_fold(const typename A::element* x, std::size_t count, fold_result<A>* result, device_context& context) {
  if (result == nullptr) throw invalid_argument("the result is null");
  device_code::launch_own_fold<A>(x, count, context, device_code::value_writer<A>{result, count});
}

}  // namespace fanin
