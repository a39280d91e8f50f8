// SPDX-License-Identifier: Apache-2.0
// The second fold of items whose states of few words did not fit, by the exact accumulator. Where all fit, which is
// said by the batch's status, the kernel ends at once. A graph that runs again keeps the number of its call, so that
// an item of an earlier run makes the kernel look at all items.
#pragma once

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/batch/columns_kernel.cuh"
#include "backends/cuda/batch/lines_kernel.cuh"
#include "backends/cuda/batch/scaled_products.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int refold_threads = 128;
/// Items of up to so many elements are folded by a thread each, where several threads of the warp have one.
inline constexpr std::uint64_t most_of_thread = 256;
inline constexpr int least_threads = 8;
}  // namespace tuning

/// Whether the state or the result of item i is marked as one that does not fit.
template <class P>
__device__ bool is_marked(const batch_elements& all, const batch_output& out, std::uint64_t i) {
  if (all.kind != layout::rows && !all.only_long && place_of_segment(all, all.first + i).length > all.most_short)
    return false;
  if (out.states != nullptr) return !static_cast<const typename P::state*>(out.states)[i].fits();
  bool marked = false;
  if constexpr (ends_sums<P>) {
    with_rounded_type<P>(out, [&]<class R>(R) {
      marked =
          detail::to_bits(static_cast<const R*>(out.results)[all.first + i]) == detail::to_bits(refold_mark<R>());
    });
  }
  return marked;
}

/// Writes the state of an item, or its result if it is a sum.
template <class A, class P>
__device__ void write_refolded(const batch_output& out, const batch_item& item, std::uint64_t count,
                               const typename A::state& s) {
  if (out.states != nullptr) {
    static_cast<typename A::state*>(out.exact_states)[item.state] = s;
    return;
  }
  if constexpr (ends_sums<P>) {
    using N = typename A::number;
    constexpr bool squares = std::is_same_v<A, by_word<typename A::element, accumulator::exact_square_sum<N>>>;
    constexpr operation sum = !folds_terms<P> ? operation::sum : squares ? operation::sum_of_squares : operation::dot;
    with_rounded_type<P>(out, [&]<class R>(R) {
      if constexpr (sum == operation::sum) {
        if (out.value == sum_value::mean) {
          return write_result(out, item.result, count,
                              finished<recipe<operation::mean, method::exact, N>, R>(s, count));
        }
      }
      write_result(out, item.result, count, finished<recipe<sum, method::exact, N>, R>(s, count));
    });
  }
}

template <class A, class P>
__device__ void refold(const batch_elements& all, const batch_output& out) {
  const unsigned warp_thread = threadIdx.x % 32;
  const std::uint64_t items = item_count(all), warps = std::uint64_t{gridDim.x} * (tuning::refold_threads / 32);
  const auto at_once = static_cast<unsigned>(::min(items / warps + 1, std::uint64_t{32}));
  std::uint64_t first = (std::uint64_t{blockIdx.x} * (tuning::refold_threads / 32) + threadIdx.x / 32) * at_once;
  for (; first < items; first += warps * at_once) {
    std::uint64_t i = first + warp_thread;
    bool is_mine = warp_thread < at_once && i < items && is_marked<P>(all, out, i);
    unsigned marked = __ballot_sync(0xffffffffu, is_mine);
    batch_item item{};
    if (is_mine) find_item(all, i, item);
    const bool by_threads = __popc(marked) >= tuning::least_threads &&
                            !__any_sync(0xffffffffu, item.end - item.begin > tuning::most_of_thread);
    while (marked != 0) {
      if (!by_threads) {
        const auto next = static_cast<unsigned>(__ffs(static_cast<int>(marked)) - 1);
        find_item(all, first + next, item);
        is_mine = warp_thread == 0;
      }
      unsigned absent = 0;
      typename A::state s = fold_one_by_one<A>(all, item, by_threads ? 0 : warp_thread, by_threads ? 1 : 32, absent);
      if (!by_threads) {
        s = merge_threads<A>(s, 32);
        absent = warp_sum(absent);
      }
      marked = by_threads ? 0 : marked & (marked - 1);
      if (!is_mine) continue;
      write_refolded<A, P>(out, item, item.end - item.begin - absent, s);
    }
  }
}

/// Folds the marked items again by A, whose form of few words is P. `OfSquares` is in place of A, if P serves two.
template <class P, class A, class... OfSquares>
__global__ void __launch_bounds__(tuning::refold_threads)
    refold_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ batch_output out) {
  overlap_with_next_launch();
  if (out.status->unfit != out.call) return;
  if constexpr (sizeof...(OfSquares) > 0) {
    if (all.rule.squares) return refold<OfSquares..., P>(all, out);
  }
  refold<A, P>(all, out);
}

}  // namespace fanin::cuda
