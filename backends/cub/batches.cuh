// SPDX-License-Identifier: Apache-2.0
// Batches as CUB takes them: elements and their results as iterators. CUB forms one state of each result, which is
// finished as states of `cuda` are (cuda/fold/finish.cu).
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <fanin/cuda/check.cuh>
#include <fanin/cuda/vectors.cuh>
#include <fanin/error.hpp>

#include "backends/cub/cub.hpp"
#include "backends/cub/operators.cuh"
#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/runtime/scratch_pieces.hpp"

namespace fanin::cub_backend {

/// Whether A has batches. Sums, means, products, minima and maxima of numbers of 32 and 64 bits have batches.
template <class A>
inline constexpr bool has_batches = false;
template <class T>
inline constexpr bool has_batches<accumulator::plain_sum<T>> = true;
template <class T>
inline constexpr bool has_batches<cuda::integer_sum_64<T>> = true;
template <class T>
inline constexpr bool has_batches<accumulator::integer_sum<T>> = true;
template <class T>
inline constexpr bool has_batches<accumulator::plain_product<T>> = true;
template <class T>
inline constexpr bool has_batches<accumulator::integer_product<T>> = true;
template <class T>
inline constexpr bool has_batches<cuda::keyed<accumulator::extremum<T, true>>> = true;

/// Makes the state of element i. The elements are the rows of a launch, one after another, or the array of
/// segments.
template <class A>
struct state_of_element {
  const cuda::batch_elements* all;
  const typename A::element* x;  ///< for rows that lie one after another: the launch's first element
  bool in_order;                 ///< element i is x[i]
  __device__ typename A::state operator()(std::uint64_t i) const {
    if (in_order) return to_state<A>()(cuda::read<A>(*all, x[i]));
    cuda::axis_offsets at;
    at.add_all(all->axes, all->kept, all->first + i / all->length);
    at.add_all(all->axes + all->kept, all->reduced, i % all->length);
    return to_state<A>()(cuda::read<A>(*all, x[at.x]));
  }
};
template <class A>
state_of_element<A> states_of(const cuda::batch_elements& all, const cuda::batch_elements* there) {
  const auto* const x = static_cast<const typename A::element*>(all.x);
  if (all.kind != layout::rows) return {there, x, true};
  const bool rows_follow =
      all.kept == 0 || (all.kept == 1 && all.axes[0].stride[0] == static_cast<std::ptrdiff_t>(all.length));
  const bool in_order = rows_follow && (all.reduced == 0 || (all.reduced == 1 && all.axes[all.kept].stride[0] == 1));
  return {there, in_order ? x + all.first * all.length : x, in_order};
}

/// The number of the result to which an element belongs, counted from the first result of the launch. An element
/// of another launch gets a number that no result has.
struct result_of_element {
  const cuda::batch_elements* all;
  __device__ std::uint32_t operator()(std::uint64_t i) const {
    if (all->keys.data != nullptr) return all->keys(i) - static_cast<std::uint32_t>(all->first);
    if (all->kind == layout::rows) return static_cast<std::uint32_t>(i / all->length);
    std::uint64_t low = 0, high = all->results + 1;  // offsets up to i
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (cuda::offset_at(*all, all->first + middle) <= i) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low > all->results ? ~0u : static_cast<std::uint32_t>(low) - 1;
  }
};

/// A state, and the result that it is of.
template <class A>
struct keyed_state {
  std::uint32_t result;
  typename A::state state;
};
template <class A>
struct keyed_state_of_element {
  result_of_element result;
  state_of_element<A> state;
  __device__ keyed_state<A> operator()(std::uint64_t i) const { return {result(i), state(i)}; }
};
/// Merges two states of one result.
template <class A>
struct keyed_merged {
  __device__ keyed_state<A> operator()(keyed_state<A> a, const keyed_state<A>& b) const {
    A::merge(a.state, b.state);
    return a;
  }
};
/// Writes the state of a result to its place.
template <class A>
struct state_placer {
  typename A::state* states;
  std::uint64_t results;
  __device__ void operator()(std::ptrdiff_t, const keyed_state<A>& found) const {
    if (results > found.result) states[found.result] = found.state;
  }
};

/// Sets each state to the state of no elements. Writes the numbers of elements, and the facts about segments in
/// the status.
template <class A>
__global__ void __launch_bounds__(256) clear_states_kernel(const __grid_constant__ cuda::batch_elements all,
                                                           const __grid_constant__ cuda::batch_output out) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * 256 + threadIdx.x; i < all.results;
       i += std::uint64_t{gridDim.x} * 256) {
    std::uint64_t length = all.length;
    if (all.kind != layout::rows) {
      const cuda::segment_place place = cuda::place_of_segment(all, all.first + i);
      if (!place.valid) atomicMax(&out.status->bad_index, ~static_cast<unsigned long long>(all.first + i));
      length = place.length;
      atomicMax(&out.status->longest, static_cast<unsigned long long>(length));
    }
    static_cast<typename A::state*>(out.states)[i] = A::identity();
    out.present[i] = length;
  }
}

/// The elements of a launch that the iterators count.
inline std::uint64_t elements_of(const cuda::batch_elements& all) {
  return all.kind == layout::rows ? all.results * all.length : all.count;
}

/// The memory that the iterators read, and the scratch of the libraries.
struct batch_scratch {
  cuda::batch_elements* elements;
  std::uint64_t* run_count;
  std::byte* rest;
  std::size_t rest_bytes;
  explicit batch_scratch(const cuda::execution& where) {
    cuda::scratch_pieces pieces(static_cast<std::byte*>(where.scratch));
    elements = pieces.take<cuda::batch_elements>(sizeof *elements);
    run_count = pieces.take<std::uint64_t>(sizeof *run_count);
    const std::size_t before = pieces.taken_bytes();
    rest = pieces.take<std::byte>(0);
    rest_bytes = where.scratch_bytes > before ? where.scratch_bytes - before : 0;
  }
  static constexpr std::size_t fixed_bytes = (sizeof(cuda::batch_elements) + 255) / 256 * 256 + 256;
};

/// A fold of batches, and of nothing else, by a library. No order of a result's elements has a longer chain than its
/// length.
template <class A>
class batch_reference : public any_order_fold<A> {
 public:
  using any_order_fold<A>::any_order_fold;
  void launch(const cuda::execution&, const cuda::operands&, std::uint64_t, void*) const final {
    throw unsupported("this fold takes a batch, not an array");
  }
  cuda::batch_fold batches() const final { return {sizeof(typename A::state), cuda::batch_fold::never_cut}; }
  rounding_chain chain_of_result(std::uint64_t length) const final { return {0, static_cast<double>(length)}; }
  void launch_each(const cuda::execution& where, const cuda::batch_elements& all, const cuda::batch_output& out,
                   bool) const final {
    if (all.partial) throw unsupported("cub cannot leave out elements of a batch: use another backend");
    if (elements_of(all) > this->host().longest)
      throw unsupported("cub reduces at most 2^32 elements of a batch: use another backend");
    const batch_scratch scratch(where);
    cuda::check(cudaMemcpyAsync(scratch.elements, &all, sizeof all, cudaMemcpyHostToDevice, where.stream),
                "cudaMemcpyAsync");
    clear_states_kernel<A><<<cuda::blocks_for(where, all.results / 256 + 1), 256, 0, where.stream>>>(all, out);
    cuda::check(cudaGetLastError(), "launching a batch");
    if (elements_of(all) > 0) form_states(where, scratch, all, static_cast<typename A::state*>(out.states));
  }

 protected:
  virtual void form_states(const cuda::execution& where, const batch_scratch& scratch,
                           const cuda::batch_elements& all, typename A::state* states) const = 0;
};

/// The accumulator that batches fold. Minima and maxima fold keys, and other operations fold as other references
/// do.
template <class Recipe>
struct batch_form : reference_form<accumulator::folds_as_t<typename Recipe::accumulator>> {};
template <class Recipe>
requires(Recipe::what == operation::min || Recipe::what == operation::max) struct batch_form<Recipe> {
  using type = cuda::device_accumulator_of<Recipe>;
};

/// The fold of a batch, or null if the accumulator of the recipe has none.
template <template <class> class Fold, class T>
const cuda::kernel_launcher* find_batches(operation what, method how) {
  return with_recipe<T>(what, how, []<class Recipe>(Recipe) -> const cuda::kernel_launcher* {
    using A = typename batch_form<Recipe>::type;
    if constexpr (has_batches<A> && cuda::has_kernels<Recipe>) {
      static const Fold<A> fold(cuda::find_state_functions(Recipe::what, type_of<T>, Recipe::method));
      return &fold;
    } else {
      return nullptr;
    }
  });
}
template <template <class> class Fold>
const cuda::kernel_launcher* find_batches(const request& request) {
  return with_compared_number(request.inputs.type(),
                              [&]<class T>() { return find_batches<Fold, T>(request.what, request.method); });
}

}  // namespace fanin::cub_backend
