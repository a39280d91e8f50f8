// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/finish.hpp"

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/fold/add_to_result.cuh"
#include "backends/cuda/presence/presence_counts.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {
namespace {

/// What is made of states: the elements that were folded, and the value.
struct finishing {
  operation what;
  element_type result;  ///< the type of the value's number
  element_rule rule;
  stand_in absent;
  std::uint64_t count;             ///< the number of elements
  const presence_counts* present;  ///< null, or which of them took part
  void* value;                     ///< a device_result; null if states are merged only
};

/// Tells whether the recipe makes its value of states of A.
template <class A>
struct is_finished_as {
  template <class Recipe>
  constexpr bool operator()(Recipe) const {
    return std::is_same_v<accumulator::folds_as_t<typename Recipe::accumulator>, A>;
  }
};

/// Calls f(R()) for the type R of the recipe's result, whose number has the type `result`. The kernel of f32 finishes
/// the states of narrow floats, so that the result of an exact recipe of floats may be a narrow float.
template <class Recipe, class F>
__device__ void with_finished(element_type result, const F& f) {
  if constexpr (Recipe::how == method::exact && std::is_same_v<typename Recipe::result, float>) {
    switch (result) {
      case element_type::f16:
        return f(f16());
      case element_type::bf16:
        return f(bf16());
      case element_type::e5m2:
        return f(e5m2());
      case element_type::e4m3:
        return f(e4m3());
      default:
        break;
    }
  }
  with_result<Recipe>(result, f);
}

/// Writes the value of the elements whose state is `s`.
template <class A, method How>
__device__ void write_value(const finishing& to, typename A::state& s) {
  presence_counts found{0, to.count};
  if (to.present != nullptr) found = *to.present;
  if (found.present == 0) s = A::identity();  // zeros that stand for elements have a sign
  const std::uint64_t count = finished_count(to.absent, to.count, found.present);
  if constexpr (is_keyed<A>) {
    with_value_of_keys<A>(s, count, to.rule, [&](auto value) {
      if constexpr (fanin::form_of<decltype(value)>::form == result_form::indexed) {
        if (found.present > 0) value.index += found.first;
      }
      *static_cast<device_result<decltype(value)>*>(to.value) = {value, 0};
    });
  } else {
    with_operation<typename A::element, How>(to.what, is_finished_as<A>(), [&](auto one) {
      with_result<decltype(one)>(to.result, [&]<class R>(R) {
        if constexpr (!narrow_float<R>) {  // enqueue() refuses these
          *static_cast<device_result<R>*>(to.value) = finished<decltype(one), R>(s, count);
        }
      });
    });
  }
}

/// The accumulator whose states kernels write, and which are merged here into states of A.
template <class A>
struct partial_form : device_form<A> {};
template <class A>
requires is_keyed<A>
struct partial_form<A> {
  using kernel = A;
};

/// Merges states of A into the first one, or writes the value. Operations that fold the same states share the kernel.
template <class A, method How>
__global__ void finish_kernel(const state_run run, const __grid_constant__ finishing to) {
  using total = typename A::state;
  using partial = typename partial_form<A>::kernel::state;
  total s = run.begins_with_total ? *reinterpret_cast<const total*>(run.states) : A::identity();
  for (std::size_t i = run.begins_with_total ? 1 : 0; i < run.count; ++i) {
    A::merge(s, static_cast<total>(*reinterpret_cast<const partial*>(run.states + i * most_state_bytes)));
  }
  if (to.value == nullptr) {
    *reinterpret_cast<total*>(run.states) = s;
  } else {
    write_value<A, How>(to, s);
  }
}

constexpr int finish_threads = 128;

/// The chunks from number `first` on of a result, which `lanes` lanes merge; the caller is one of them.
struct chunks_of_result {
  std::uint64_t first, count;
  unsigned lane, lanes;
};

/// Merges the states state_of(k) of all chunks k, and the numbers of their elements, in the first one of the lanes.
template <class A, class StateOf>
__device__ void merge_chunks(typename A::state& s, std::uint64_t& present, const batch_output& out,
                             const chunks_of_result& chunks, const StateOf& state_of) {
  using state = decltype(state_of(std::uint64_t{}));
  struct chunk {
    state found;
    std::uint64_t present;
  };
  constexpr unsigned at_once = sizeof(state) <= 16 ? 8 : 1;
  s = A::identity();
  present = 0;
  for_each_loaded<at_once>(
      [&](std::uint64_t k) -> chunk {
        return {state_of(chunks.first + k), out.present[chunks.first + k]};
      },
      chunks.lane, chunks.count, chunks.lanes,
      [&](const chunk& one, std::uint64_t) {
        A::merge(s, static_cast<typename A::state>(one.found));
        present += one.present;
      });
#pragma unroll 1
  for (unsigned distance = chunks.lanes / 2; distance > 0; distance /= 2) {
    A::merge(s, shuffle_down(s, distance));
    present += __shfl_down_sync(~0u, present, distance);
  }
}

/// Writes the result of `count` elements of which the sum of few words fits.
template <class A, method How>
__device__ void write_placed_result(const batch_output& out, std::uint64_t result, std::uint64_t count,
                                    const typename placed_form_t<A>::state& sum) {
  with_operation<typename A::element, How>(out.what, is_finished_as<A>(), [&](auto one) {
    with_finished<decltype(one)>(out.result, [&]<class R>(R) {
      write_result(out, result, count, placed_result<placed_form_t<A>, R>(out, sum, count));
    });
  });
}

/// Writes, or `adds` to, the result of chunks whose states kernels of batches have written. All lanes of the warp
/// call it.
template <class A, method How>
__device__ void finish_chunks(const batch_output& out, const chunks_of_result& chunks, std::uint64_t result,
                              bool adds) {
  using total = typename A::state;
  const bool is_mine = chunks.lane == 0 && chunks.count > 0;
  std::uint64_t present = 0;
  const auto finish = [&](const total& s) {
    if (!is_mine) return;
    if constexpr (is_keyed<A>) {
      if (adds) return add_keys_to_result<A>(out, result, present, s);
      write_result_of_keys<A>(out, result, present, s);
    } else {
      with_operation<typename A::element, How>(out.what, is_finished_as<A>(), [&](auto one) {
        using Recipe = decltype(one);
        with_finished<Recipe>(out.result, [&]<class R>(R) {
          if constexpr (row_of(Recipe::what).takes_results) {
            if (adds) return add_to_result<Recipe, R>(out, result, present, s);
          }
          write_result(out, result, present, finished<Recipe, R>(s, present));
        });
      });
    }
  };
  if constexpr (has_placed_form<A>) {
    using P = placed_form_t<A>;
    const auto* const states = static_cast<const typename P::state*>(out.states);
    typename P::state sum;
    merge_chunks<P>(sum, present, out, chunks, [&](std::uint64_t k) { return states[k]; });
    const bool fits = chunks.lane > 0 || (sum.fits() && present <= P::most_elements);
    const bool all_fit = __all_sync(~0u, fits);
    if (all_fit && !adds) {
      if (is_mine) write_placed_result<A, How>(out, result, present, sum);
      return;
    }
    total s = A::identity();
    if (all_fit) {
      if (is_mine) s = P::total(sum, present);
    } else {
      const auto* const exact = static_cast<const total*>(out.exact_states);
      merge_chunks<A>(s, present, out, chunks, [&](std::uint64_t k) {
        return states[k].fits() ? P::total(states[k], out.present[k]) : exact[k];
      });
    }
    finish(s);
  } else {
    using partial = std::conditional_t<is_wide_state(sizeof(total)), total, typename partial_form<A>::kernel::state>;
    const auto* const states = static_cast<const partial*>(out.states);
    total s;
    merge_chunks<A>(s, present, out, chunks, [&](std::uint64_t k) { return states[k]; });
    finish(s);
  }
}

/// Writes the result of a few chunks, which the caller merges alone. Returns false, and does nothing, if a state does
/// not fit.
template <class A, method How, class P = placed_form_t<A>>
__device__ bool finish_alone(const batch_output& out, std::uint64_t first, std::uint64_t count,
                             std::uint64_t result) {
  const auto* const states = static_cast<const typename P::state*>(out.states) + first;
  typename P::state sum = P::identity();
  std::uint64_t present = 0;
#pragma unroll 1
  for (std::uint64_t k = 0; k < count; ++k) {
    P::merge(sum, states[k]);
    present += out.present[first + k];
  }
  if (!sum.fits() || present > P::most_elements) return false;
  write_placed_result<A, How>(out, result, present, sum);
  return true;
}

/// Writes results of long segments: a lane those of few chunks, and all lanes together the others.
template <class A, method How>
__device__ void finish_long(const batch_elements& all, const batch_output& out) {
  constexpr unsigned few = 4;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t results = long_count(all), warps = std::uint64_t{gridDim.x} * (finish_threads / 32);
  const std::uint64_t per_warp = ::min(results / warps + 1, std::uint64_t{32});
  std::uint64_t begin = (std::uint64_t{blockIdx.x} * (finish_threads / 32) + threadIdx.x / 32) * per_warp;
  for (; begin < results; begin += warps * per_warp) {
    std::uint64_t result = 0, first = 0, chunks = 0;
    bool is_done = true;
    if (lane < per_warp && begin + lane < results) {
      const long_segments::entry& mine = all.entries[begin + lane];
      result = mine.segment;
      first = mine.first_chunk;
      chunks = chunk_count(mine.length, all.least_chunk);
      is_done = chunks <= few && finish_alone<A, How>(out, first, chunks, result);
    }
    for (unsigned left = __ballot_sync(~0u, !is_done); left != 0; left &= left - 1) {
      const unsigned of = static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
      finish_chunks<A, How>(out, {__shfl_sync(~0u, first, of), __shfl_sync(~0u, chunks, of), lane, 32},
                            __shfl_sync(~0u, result, of), false);
    }
  }
}

/// Writes results of several chunks, or of states that are wide, or `adds` the elements to the results: as
/// enqueue_finish_each() says. `lanes`, a power of two up to 32, merge the chunks of a result.
template <class A, method How>
__global__ void __launch_bounds__(finish_threads)
    finish_each_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ batch_output out,
                       unsigned lanes, bool adds) {
  overlap_with_next_launch();
  if constexpr (has_placed_form<A>) {
    if (all.only_long && !adds) return finish_long<A, How>(all, out);
  }
  const std::uint64_t results = all.only_long ? long_count(all) : all.results;
  const unsigned lane = threadIdx.x % lanes, at_turn = finish_threads / lanes;
  for (std::uint64_t turn = blockIdx.x; turn * at_turn < results; turn += gridDim.x) {
    const std::uint64_t i = turn * at_turn + threadIdx.x / lanes;
    std::uint64_t result = all.first + i, first = i, chunks = i < results ? 1 : 0;
    if (chunks == 0) {
    } else if (all.kind == layout::rows) {
      first = i * all.chunks;
      chunks = all.chunks;
    } else if (all.only_long) {
      result = all.entries[i].segment;
      first = all.entries[i].first_chunk;
      chunks = chunk_count(place_of_segment(all, result).length, all.least_chunk);
    } else if (place_of_segment(all, result).length > all.most_short) {
      chunks = 0;
    }
    finish_chunks<A, How>(out, {first, chunks, lane, lanes}, result, adds);
  }
}

__global__ void __launch_bounds__(finish_threads)
    check_offsets_kernel(const __grid_constant__ batch_elements all, batch_status* status) {
  overlap_with_next_launch();
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * finish_threads + threadIdx.x; i < all.results;
       i += std::uint64_t{gridDim.x} * finish_threads) {
    if (!place_of_segment(all, all.first + i).valid) {
      atomicMax(&status->bad_index, ~static_cast<unsigned long long>(all.first + i));
    }
  }
}

/// Whether the recipe for elements of type T is finished as the recipe Of: the states and the results have the same
/// types.
template <class Of, class T>
constexpr bool finishes() {
  if constexpr (fanin::detail::has_recipe<Of::what, Of::how, T>) {
    using one = recipe<Of::what, Of::how, T>;
    return std::is_same_v<typename one::result, typename Of::result> &&
           std::is_same_v<typename one::accumulator::state, typename Of::accumulator::state> &&
           std::is_same_v<typename form_of<one>::partial, typename form_of<Of>::partial>;
  } else {
    return false;
  }
}
/// The accumulator whose kernel finishes a recipe: that of keys, or of the first element type in the catalogue that
/// will do.
template <class Recipe, std::size_t I = 0>
constexpr auto finishing_accumulator() {
  using T = fanin::detail::element_at<I>;
  if constexpr (compares<Recipe>) {
    return kernel_of<Recipe>();
  } else if constexpr (finishes<Recipe, T>()) {
    return accumulator::folds_as_t<typename recipe<Recipe::what, Recipe::how, T>::accumulator>();
  } else {
    return finishing_accumulator<Recipe, I + 1>();
  }
}

/// Calls f(recipe) with a template argument A, the accumulator that finishes the request.
template <class F>
void with_finishing(const request& request, F f) {
  with_recipe(request.what, request.inputs.type(), request.how, [&]<class Recipe>(Recipe) -> bool {
    f.template operator()<decltype(finishing_accumulator<Recipe>())>(Recipe());
    return true;
  });
}

void launch_finish(const request& request, const state_run& run, const presence_counts* present, void* value,
                   cudaStream_t stream) {
  const element_type type = request.inputs.type();
  const finishing to{
      request.what, request.result, rule_of(request.what, type), row_of(request.what).absent, request.inputs.count(),
      present,      value};
  with_finishing(request,
                 [&]<class A, class Recipe>(Recipe) { finish_kernel<A, Recipe::how><<<1, 1, 0, stream>>>(run, to); });
  check(cudaGetLastError(), "launching the end of a reduction");
}

}  // namespace

void enqueue_merge(const request& request, const state_run& run, cudaStream_t stream) {
  launch_finish(request, run, nullptr, nullptr, stream);
}

void enqueue_finish(const request& request, const state_run& run, const presence_counts* present, void* result,
                    cudaStream_t stream) {
  launch_finish(request, run, present, result, stream);
}

void enqueue_finish_each(const request& request, const batch_elements& all, const batch_output& out,
                         const execution& where) {
  with_finishing(request, [&]<class A, class Recipe>(Recipe) {
    const std::uint64_t results = all.only_long ? all.count / all.most_short + 1 : all.results;
    const auto lanes =
        static_cast<unsigned>(all.only_long ? 32 : std::bit_ceil(std::min<std::uint64_t>(all.chunks, 32)));
    unsigned blocks = blocks_for(where, results * lanes / finish_threads + 1);
    // `results` is the most long segments that there can be; there may be far fewer.
    if (all.only_long) blocks = std::min(blocks, 8 * static_cast<unsigned>(where.multiprocessors));
    launch_overlapped(where, blocks, finish_threads, 0, finish_each_kernel<A, Recipe::how>, all, out, lanes,
                      request.adds);
  });
}

void enqueue_check_of_offsets(const batch_elements& all, batch_status* status, const execution& where) {
  launch_overlapped(where, blocks_for(where, all.results / finish_threads + 1), finish_threads, 0,
                    check_offsets_kernel, all, status);
}

}  // namespace fanin::cuda
