// Which accumulators serve an operation: one that kernels run, and one that the host merges and finishes.
#pragma once

#include <type_traits>

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/extremum.hpp>
#include <fanin/accumulator/integer.hpp>
#include <fanin/accumulator/product.hpp>
#include <fanin/accumulator/sum.hpp>
#include <fanin/request.hpp>

#include "backends/cuda/exact/chunk_sums.hpp"

namespace fanin::cuda {

/// Sum of at most 2^32 integers of 32 bits, exact in 64; the host splits longer input and adds the parts in 128 bits.
template <class T>
struct segment_sum {
  using element = T;
  using state = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  FANIN_HOST_DEVICE static constexpr state identity() { return 0; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s += x; }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s += other; }
};
inline constexpr std::uint64_t longest_segment = std::uint64_t{1} << 32;

template <class T>
using integer_sum_of = std::conditional_t<sizeof(T) == 4, segment_sum<T>, accumulator::integer_sum<T>>;

/// A public exact accumulator in the shape of the others.
template <class T, class State>
struct exact_total {
  using element = T;
  using state = State;
  FANIN_HOST_DEVICE static state identity() { return {}; }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { s.merge(other); }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    return s.template round<R>();
  }
};

/// The same sum as its kernel forms it; the host and the end of the kernel go on with an exact_total.
template <class T, class State>
struct chunked {
  using element = T;
  using state = State;
};

template <class T, int Power>
struct exact_sum : exact_total<T, basic_exact_accumulator<T, Power>> {
  FANIN_HOST_DEVICE static void add(basic_exact_accumulator<T, Power>& s, T x) { s.add(x); }
};

template <class T>
struct exact_mean : exact_sum<T, 1> {
  template <class R>
  FANIN_HOST_DEVICE static R finish(const typename exact_sum<T, 1>::state& s, std::uint64_t count) {
    return s.template mean<R>(count);
  }
};

template <class T>
struct exact_norm : exact_sum<T, 2> {
  template <class R>
  FANIN_HOST_DEVICE static R finish(const typename exact_sum<T, 2>::state& s, std::uint64_t) {
    return s.template root<R>();
  }
};

template <class T>
struct exact_variance : exact_total<T, exact_moments_accumulator<T>> {
  template <class R>
  FANIN_HOST_DEVICE static R finish(const exact_moments_accumulator<T>& s, std::uint64_t count) {
    return s.template variance<R>(count);
  }
};

/// A kernel's accumulator, and the one whose state its partial states are merged into.
template <class Kernel, class Total = Kernel>
struct accumulators {
  using kernel = Kernel;
  using total = Total;
};

template <operation What, method How, class T>
constexpr auto choose_accumulators() {
  namespace acc = accumulator;
  if constexpr (What == operation::min) {
    return accumulators<acc::smallest<T>>();
  } else if constexpr (What == operation::max) {
    return accumulators<acc::largest<T>>();
  } else if constexpr (!std::is_floating_point_v<T>) {
    if constexpr (What == operation::product) return accumulators<acc::integer_product<T>>();
    if constexpr (What == operation::sum_of_squares) return accumulators<acc::integer_square_sum<T>>();
    if constexpr (What == operation::sum) return accumulators<integer_sum_of<T>, acc::integer_sum<T>>();
    if constexpr (What == operation::mean) return accumulators<integer_sum_of<T>, acc::integer_mean<T>>();
  } else if constexpr (What == operation::product) {
    return accumulators<acc::plain_product<T>>();
  } else if constexpr (How == method::exact) {
    if constexpr (What == operation::sum) return accumulators<chunked<T, chunk_sums<T, 1>>, exact_sum<T, 1>>();
    if constexpr (What == operation::mean) return accumulators<chunked<T, chunk_sums<T, 1>>, exact_mean<T>>();
    if constexpr (What == operation::sum_of_squares)
      return accumulators<chunked<T, chunk_sums<T, 2>>, exact_sum<T, 2>>();
    if constexpr (What == operation::norm2) return accumulators<chunked<T, chunk_sums<T, 2>>, exact_norm<T>>();
    if constexpr (What == operation::variance) return accumulators<chunked<T, chunk_moments<T>>, exact_variance<T>>();
    if constexpr (What == operation::dot)
      return accumulators<chunked<T, chunk_products<T>>, exact_total<T, exact_dot_accumulator<T>>>();
  } else if constexpr (How == method::compensated) {
    if constexpr (What == operation::sum_of_squares) return accumulators<acc::compensated_square_sum<T>>();
    using sum = acc::compensated_sum<T>;
    if constexpr (What == operation::sum) return accumulators<sum>();
    if constexpr (What == operation::mean) return accumulators<sum, acc::mean_of<sum>>();
  } else {
    if constexpr (What == operation::sum_of_squares) return accumulators<acc::plain_square_sum<T>>();
    using sum = acc::plain_sum<T>;
    if constexpr (What == operation::sum) return accumulators<sum>();
    if constexpr (What == operation::mean) return accumulators<sum, acc::mean_of<sum>>();
  }
}

/// A reduction known at compile time.
template <operation What, method How, class T>
struct reduction {
  static constexpr operation what = What;
  static constexpr method how = How;
  using element = T;
  using kernel = typename decltype(choose_accumulators<What, How, T>())::kernel;
  using total = typename decltype(choose_accumulators<What, How, T>())::total;
  /// Whether nothing rounds on the way, so that order does not matter.
  static constexpr bool order_free =
      !std::is_floating_point_v<T> || How == method::exact || What == operation::min || What == operation::max;
  /// The most elements that one kernel's state can hold.
  static constexpr std::uint64_t longest =
      std::is_same_v<kernel, segment_sum<T>> ? longest_segment : ~std::uint64_t{0};
};

/// f(reduction<...>()), or a null value of its type where there is no such reduction. Methods that do not differ are
/// asked for as `fast`.
template <class T, class F>
auto with_reduction(operation what, method how, F f) -> decltype(f(reduction<operation::sum, method::fast, T>())) {
  const auto any_method = [&]<operation What>() { return f(reduction<What, method::fast, T>()); };
  const auto by_method = [&]<operation What>() -> decltype(f(reduction<operation::sum, method::fast, T>())) {
    if constexpr (std::is_floating_point_v<T>) {
      if (how == method::compensated) return f(reduction<What, method::compensated, T>());
      if (how == method::exact) return f(reduction<What, method::exact, T>());
    }
    return f(reduction<What, method::fast, T>());
  };
  const auto exact_only = [&]<operation What>() -> decltype(f(reduction<operation::sum, method::fast, T>())) {
    if constexpr (std::is_floating_point_v<T>) {
      if (how == method::exact) return f(reduction<What, method::exact, T>());
    }
    return {};
  };
  switch (what) {
    case operation::sum:
      return by_method.template operator()<operation::sum>();
    case operation::sum_of_squares:
      return by_method.template operator()<operation::sum_of_squares>();
    case operation::mean:
      return by_method.template operator()<operation::mean>();
    case operation::min:
      return any_method.template operator()<operation::min>();
    case operation::max:
      return any_method.template operator()<operation::max>();
    case operation::product:
      if (std::is_floating_point_v<T> && how != method::fast) return {};
      return any_method.template operator()<operation::product>();
    case operation::norm2:
      return exact_only.template operator()<operation::norm2>();
    case operation::variance:
      return exact_only.template operator()<operation::variance>();
    case operation::dot:
      return exact_only.template operator()<operation::dot>();
  }
  return {};
}

/// f<T>() for an element type known at run time.
template <class F>
auto with_element(element_type type, F f) {
  switch (type) {
    case element_type::f32:
      return f.template operator()<float>();
    case element_type::f64:
      return f.template operator()<double>();
    case element_type::i32:
      return f.template operator()<std::int32_t>();
    case element_type::i64:
      return f.template operator()<std::int64_t>();
    case element_type::u32:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

/// with_reduction for such a type.
template <class F>
auto with_reduction(operation what, element_type type, method how, F f) {
  return with_element(type, [&]<class T>() { return with_reduction<T>(what, how, f); });
}

/// The result's type where there is only one.
template <class Reduction>
using result_of =
    std::conditional_t<Reduction::what == operation::min || Reduction::what == operation::max ||
                           std::is_floating_point_v<typename Reduction::element>,
                       typename Reduction::element,
                       std::conditional_t<Reduction::what == operation::mean, double,
                                          std::conditional_t<std::is_signed_v<typename Reduction::element>,
                                                             std::int64_t, std::uint64_t>>>;

/// f(R()) for the result type of that reduction: float or double for exact sums, else the one there is.
template <class Reduction, class F>
auto with_result(element_type result, F f) {
  if constexpr (Reduction::how == method::exact) {
    return result == element_type::f32 ? f(float()) : f(double());
  } else {
    return f(result_of<Reduction>());
  }
}

}  // namespace fanin::cuda
