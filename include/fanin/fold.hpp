// SPDX-License-Identifier: Apache-2.0
// Reductions with an accumulator of your own, on the CPU backends. <fanin/fold.cuh> has the same for device memory.
//
//   struct bounding_box {                      // any type with these members
//     using element = point;                   // trivially copyable
//     using state = box;                       // trivially copyable
//     using result = box;                      // the default is element
//     static constexpr bool order_free = true; // whether any order of add() and merge() gives the same state
//     static state identity();                 // merging it changes nothing
//     static void add(state&, const element&);
//     static void merge(state&, const state&); // commutative: the elements of both states may alternate in the input
//     template <class R> static R finish(const state&, std::uint64_t count);
//   };
//   auto box = fanin::fold<bounding_box>(points).value;
#pragma once

#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

#include <fanin/backend.hpp>
#include <fanin/loop.hpp>

namespace fanin {

namespace detail {

template <class A>
struct result_of_own {
  using type = typename A::element;
};
template <class A>
requires requires { typename A::result; }
struct result_of_own<A> {
  using type = typename A::result;
};

template <class A, class... Arguments>
consteval bool takes() {
  return requires(typename A::state & s, const Arguments&... arguments) { A::add(s, arguments...); };
}

/// Whether A has the add() that its `inputs` and `wants_position` ask for.
template <class A>
consteval bool has_add() {
  using T = typename A::element;
  if constexpr (accumulator::inputs_of<A>() == 2) {
    return accumulator::wants_position<A>() ? takes<A, T, T, std::uint64_t>() : takes<A, T, T>();
  } else {
    return accumulator::wants_position<A>() ? takes<A, T, std::uint64_t>() : takes<A, T>();
  }
}

}  // namespace detail

/// The type of fold()'s value for A: A::result if there is one, else A::element.
template <class A>
using fold_result = typename detail::result_of_own<A>::type;

/// A type that fold() accepts as an operation. accumulator/accumulator.hpp describes each member, and the optional
/// members `inputs`, `wants_position` and `bound`.
template <class A>
concept foldable = requires(typename A::state& s, const typename A::state& other, std::uint64_t count) {
  requires detail::has_add<A>();
  requires std::default_initializable<typename A::state>;
  requires std::default_initializable<fold_result<A>>;
  { A::identity() } -> std::convertible_to<typename A::state>;
  { A::order_free } -> std::convertible_to<bool>;
  A::merge(s, other);
  { A::template finish<fold_result<A>>(other, count) } -> std::convertible_to<fold_result<A>>;
}
&&std::is_trivially_copyable_v<typename A::state>&& std::is_trivially_copyable_v<typename A::element>;

namespace detail {

/// A::bound. If A has no bound, the coefficients are infinite, and promise nothing.
template <foldable A>
error_bound bound_of_own(const rounding_chain& chain, std::uint64_t count) {
  if constexpr (requires { A::template bound<fold_result<A>>(chain, count); }) {
    return A::template bound<fold_result<A>>(chain, count);
  } else {
    constexpr double unknown = std::numeric_limits<double>::infinity();
    return {unknown, unknown, unknown};
  }
}

template <foldable A>
constexpr arithmetic own_arithmetic() {
  using R = fold_result<A>;
  arithmetic f = general_arithmetic<A>();
  f.finish = [](const void* state, std::uint64_t count, element_type, void* out) {
    *static_cast<R*>(out) = A::template finish<R>(general_total<A>(state), count);
  };
  f.bound = [](const rounding_chain& chain, std::uint64_t count, element_type) {
    return bound_of_own<A>(chain, count);
  };
  return f;
}

template <foldable A>
inline constexpr arithmetic arithmetic_of_own = own_arithmetic<A>();

/// A view of elements of any type. Own accumulators ignore the type in the view, because their elements may have a
/// type that is no element_type.
template <class T>
array_view untyped(std::span<const T> x) {
  return {x.data(), x.size(), element_type::f64};
}

FANIN_API report fold_own(const arithmetic& own, const input_views& inputs, void* value, const options& chosen);

class FANIN_API own_stream {
 public:
  own_stream(const arithmetic& own, const options& chosen);
  void push(const input_views& blocks);
  report finish(void* value);

 private:
  selection chosen_;
  std::unique_ptr<stream> stream_;
};

}  // namespace detail

/// A contiguous range of A::element.
template <class Range, class A>
concept elements_for = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                       std::same_as < std::remove_cv_t<std::ranges::range_value_t<Range>>,
typename A::element > ;

/// The reduction of x[0..n), in host memory, by A. Empty gives A::finish(A::identity(), 0).
/// Accuracy: A::bound, if A has one. Otherwise the report's bound is infinite, and promises nothing.
/// Reproducible: the same bits for the same values in the same order, on serial, openmp and tbb with any thread count
/// (fixed_order; loop.hpp describes the order). If A is order_free, the same bits for any order. add() and merge()
/// run with rounding to nearest and subnormals kept.
/// Order: the states of a row take turns, so the elements of two merged states alternate in the input. If the order
/// of the elements matters to A, as for the last element, A needs `wants_position`.
/// Memory: no copy. Each calling thread keeps scratch for its next call: 16 states for each thread that takes part,
/// and 48 more. If order matters, each of these states is a row of up to 256 A::state. An A::state takes at most 16
/// KiB, or 256 KiB if A is order_free. An element is aligned to at most 16 bytes.
/// Threads: safe to call concurrently, also from within add(). add() and merge() run on several threads at once and
/// must not throw. finish() runs on the calling thread and may throw.   Cost: one read of x by a plain loop over
/// add().
/// `chosen`: only backend and threads may be set. @throws invalid_argument if the method or the type of the result is
/// set, or a variant that no backend has; unsupported if another variant is set, or if the backend is a GPU's;
/// backend_unavailable, out_of_memory
template <foldable A, elements_for<A> Range>
requires(accumulator::inputs_of<A>() == 1) result<fold_result<A>> fold(const Range& x, const options& chosen = {}) {
  const std::span<const typename A::element> all(std::ranges::data(x), std::ranges::size(x));
  return result<fold_result<A>>([&](fold_result<A>& value) {
    return detail::fold_own(detail::arithmetic_of_own<A>, detail::untyped(all), &value, chosen);
  });
}

/// Folds x and y by an accumulator of two inputs. @throws also invalid_argument if their lengths differ
template <foldable A, elements_for<A> Range, elements_for<A> Other>
requires(accumulator::inputs_of<A>() == 2) result<fold_result<A>> fold(const Range& x, const Other& y,
                                                                       const options& chosen = {}) {
  const std::span<const typename A::element> all(std::ranges::data(x), std::ranges::size(x));
  const std::span<const typename A::element> others(std::ranges::data(y), std::ranges::size(y));
  return result<fold_result<A>>([&](fold_result<A>& value) {
    return detail::fold_own(detail::arithmetic_of_own<A>, {detail::untyped(all), detail::untyped(others)}, &value,
                            chosen);
  });
}

/// fold() over input that arrives in blocks. Not copyable. Memory: up to 2048 leaves (loop.hpp) of pending elements.
/// Threads: one call at a time.
template <foldable A>
requires(accumulator::inputs_of<A>() == 1) class incremental_fold {
 public:
  /// @throws as fold
  explicit incremental_fold(const options& chosen = {}) : stream_(detail::arithmetic_of_own<A>, chosen) {}
  incremental_fold(const incremental_fold&) = delete;
  incremental_fold& operator=(const incremental_fold&) = delete;

  /// Adds the elements of the block, whose memory the caller may reuse on return.
  /// @throws invalid_argument if the block is null and not empty, out_of_memory
  void push(std::span<const typename A::element> block) { stream_.push(detail::untyped(block)); }
  /// The value and the report for all elements pushed. Call finish() once, after the last push().
  result<fold_result<A>> finish() {
    result<fold_result<A>> answer{};
    answer.report = stream_.finish(&answer.value);
    return answer;
  }

 private:
  detail::own_stream stream_;
};

}  // namespace fanin
