// The table from (operation, element type, method) to arithmetic.
#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/dot.hpp>
#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/extremum.hpp>
#include <fanin/accumulator/integer.hpp>
#include <fanin/accumulator/moments.hpp>
#include <fanin/accumulator/product.hpp>
#include <fanin/accumulator/sum.hpp>

#include "backends/cpu/bounds.hpp"
#include "backends/cpu/exact.hpp"
#include "backends/cpu/fold.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/products.hpp"

namespace fanin::cpu {
namespace {

namespace acc = accumulator;

using accumulate_function = void (*)(const void*, std::size_t, void*);
using bound_function = error_bound (*)(std::uint64_t, element_type);

template <class A>
void reset(void* state) {
  ::new (state) typename A::state(A::identity());
}

template <class A>
void merge(void* into, const void* from) {
  A::merge(*static_cast<typename A::state*>(into), *static_cast<const typename A::state*>(from));
}

template <class A, class R>
scalar finish(const void* state, std::uint64_t count, element_type) {
  return A::template finish<R>(*static_cast<const typename A::state*>(state), count);
}

/// A row of lanes with an accumulator's state in each: plane after plane, as the SIMD leaves lay it out.
template <class A>
struct row {
  using T = typename A::element;
  static constexpr std::size_t size = row_bytes / sizeof(T);
  static constexpr std::size_t planes = sizeof(typename A::state) / sizeof(T);
  T plane[planes][size];
};

template <class A>
void reset_row(void* state) {
  const auto nothing = std::bit_cast<std::array<typename A::element, row<A>::planes>>(A::identity());
  for (std::size_t p = 0; p < nothing.size(); ++p)
    std::fill_n(static_cast<row<A>*>(state)->plane[p], row<A>::size, nothing[p]);
}

template <class A>
void fold_row(const void* x, std::size_t count, void* state) {
  fold_lanes<A>(static_cast<const typename A::element*>(x), count, static_cast<row<A>*>(state)->plane[0]);
}

template <class A>
void merge_rows(void* into, const void* from) {
  auto& a = *static_cast<row<A>*>(into);
  const auto& b = *static_cast<const row<A>*>(from);
  using lane = std::array<typename A::element, row<A>::planes>;
  for (std::size_t i = 0; i < row<A>::size; ++i) {
    lane left, right;
    for (std::size_t p = 0; p < left.size(); ++p) left[p] = a.plane[p][i], right[p] = b.plane[p][i];
    auto state = std::bit_cast<typename A::state>(left);
    A::merge(state, std::bit_cast<typename A::state>(right));
    left = std::bit_cast<lane>(state);
    for (std::size_t p = 0; p < left.size(); ++p) a.plane[p][i] = left[p];
  }
}

/// `Finish` is A, or a mean formed from A's state.
template <class A, class Finish>
scalar finish_row(const void* state, std::uint64_t count, element_type) {
  std::array<typename A::element, row<A>::planes> total;
  collapse_lanes<A>(static_cast<const row<A>*>(state)->plane[0], total.data());
  return Finish::template finish<typename A::element>(std::bit_cast<typename A::state>(total), count);
}

template <class A>
void one_by_one(const void* x, std::size_t count, void* state) {
  auto& s = *static_cast<typename A::state*>(state);
  const auto* elements = static_cast<const typename A::element*>(x);
  for (std::size_t i = 0; i < count; ++i) A::add(s, elements[i]);
}

template <class T>
void integer_total(const void* x, std::size_t count, void* state) {
  constexpr bool narrow = sizeof(T) == 4;
  constexpr std::uint64_t sign = std::is_signed_v<T> ? (narrow ? 0x8000000080000000u : 0x8000000000000000u) : 0;
  constexpr std::size_t block = std::size_t{1}
                                << 31;  // 32-bit halves of fewer than 2^32 words cannot overflow 64 bits
  auto& total = *static_cast<acc::int128*>(state);
  const auto* elements = static_cast<const T*>(x);
  while (count > 0) {
    const std::size_t n = std::min(count, block);
    const std::size_t whole = narrow ? n / 2 * 2 : n;
    const halves sums = sum_halves(elements, whole * sizeof(T) / 8, sign);
    total += static_cast<acc::int128>(sums.high) * (narrow ? 1 : acc::int128{1} << 32) + sums.low;
    if (sign != 0) total -= static_cast<acc::int128>(whole) << (8 * sizeof(T) - 1);
    for (std::size_t i = whole; i < n; ++i) acc::integer_sum<T>::add(total, elements[i]);
    elements += n;
    count -= n;
  }
}

template <class T, bool Largest>
void extremum_total(const void* x, std::size_t count, void* state) {
  if (count == 0) return;
  const auto* elements = static_cast<const T*>(x);
  acc::extremum<T, Largest>::merge(*static_cast<T*>(state),
                                   Largest ? largest_leaf(elements, count) : smallest_leaf(elements, count));
}

/// Adapts the public exact accumulators, whose states are objects, to the shape of the other accumulators.
template <class Object, class Element, operation What>
struct exact_adapter {
  using element = Element;
  using state = Object;
  static state identity() { return {}; }
  static void merge(state& s, const state& other) { s.merge(other); }
  template <class R>
  static R finish(const state& s, std::uint64_t count) {
    if constexpr (What == operation::mean) {
      return s.template mean<R>(count);
    } else if constexpr (What == operation::norm2) {
      return s.template root<R>();
    } else if constexpr (What == operation::variance) {
      return s.template variance<R>(count);
    } else {
      return s.template round<R>();
    }
  }
};

template <class A>
scalar finish_exact(const void* state, std::uint64_t count, element_type result) {
  return result == element_type::f32 ? finish<A, float>(state, count, result)
                                     : finish<A, double>(state, count, result);
}

template <class T>
void exact_total(const void* x, std::size_t count, void* state) {
  add_exact(static_cast<const T*>(x), count, *static_cast<exact_accumulator<T>*>(state));
}

template <class T>
void exact_square_total(const void* x, std::size_t count, void* state) {
  add_squares(static_cast<const T*>(x), count, *static_cast<exact_square_accumulator<T>*>(state));
}

template <class T>
void exact_moments_total(const void* x, std::size_t count, void* state) {
  constexpr std::size_t cached = (std::size_t{1} << 17) / sizeof(T);  // that the second pass finds in a cache
  auto& total = *static_cast<exact_moments_accumulator<T>*>(state);
  for (std::size_t begin = 0; begin < count; begin += cached) {
    const T* const part = static_cast<const T*>(x) + begin;
    const std::size_t length = std::min(cached, count - begin);
    add_exact(part, length, total.sum);
    add_squares(part, length, total.squares);
  }
}

template <class T>
void dot_total(const void* x, const void* y, std::size_t count, void* state) {
  add_products(static_cast<const T*>(x), static_cast<const T*>(y), count,
               *static_cast<exact_dot_accumulator<T>*>(state));
}

error_bound no_error(std::uint64_t, element_type) { return {}; }
error_bound rounded_once(std::uint64_t, element_type result) {
  return result == element_type::f32 ? rounded_bound<float>() : rounded_bound<double>();
}
template <error_bound (*Bound)(std::uint64_t)>
error_bound summed(std::uint64_t count, element_type) {
  return Bound(count);
}
template <class T, error_bound (*Bound)(std::uint64_t)>
error_bound averaged(std::uint64_t count, element_type) {
  return divided<T>(Bound(count));
}

template <class A, class R>
constexpr fold make(reproducibility order, accumulate_function accumulate, bound_function bound) {
  static_assert(sizeof(typename A::state) <= sizeof(state_buffer) && std::is_trivially_copyable_v<typename A::state>);
  return {order, sizeof(typename A::state), reset<A>, accumulate, merge<A>, finish<A, R>, bound, nullptr};
}

/// Fixed order: the state is a row of lanes.
template <class A, class Finish>
constexpr fold make_row(bound_function bound) {
  return {reproducibility::fixed_order, sizeof(row<A>), reset_row<A>, fold_row<A>, merge_rows<A>,
          finish_row<A, Finish>,        bound,          nullptr};
}

template <class A>
constexpr fold make_exact(accumulate_function accumulate) {
  fold f = make<A, double>(reproducibility::exact, accumulate, rounded_once);
  f.finish = finish_exact<A>;
  return f;
}

template <class T>
constexpr fold make_dot() {
  fold f = make_exact<exact_adapter<exact_dot_accumulator<T>, T, operation::dot>>(nullptr);
  f.accumulate_pairs = dot_total<T>;
  return f;
}

/// What one element type has for each operation but min and max.
template <class Entry>
struct operations {
  Entry sum, mean, squares, product, norm2, variance, dot;
  const Entry& of(operation what) const {
    switch (what) {
      case operation::mean:
        return mean;
      case operation::sum_of_squares:
        return squares;
      case operation::product:
        return product;
      case operation::norm2:
        return norm2;
      case operation::variance:
        return variance;
      case operation::dot:
        return dot;
      default:
        return sum;
    }
  }
};

/// The folds of one operation by method; a fold without functions where there is none.
using by_method = std::array<fold, 3>;

template <class T>
constexpr operations<by_method> floating_folds() {
  using plain = acc::plain_sum<T>;
  using plain_squares = acc::plain_square_sum<T>;
  using compensated = acc::compensated_sum<T>;
  using compensated_squares = acc::compensated_square_sum<T>;
  using product = acc::plain_product<T>;
  using squares = exact_square_accumulator<T>;
  using moments = exact_moments_accumulator<T>;
  return {{make_row<plain, plain>(summed<plain_bound<T>>),
           make_row<compensated, compensated>(summed<compensated_bound<T>>),
           make_exact<exact_adapter<exact_accumulator<T>, T, operation::sum>>(exact_total<T>)},
          {make_row<plain, acc::mean_of<plain>>(averaged<T, plain_bound<T>>),
           make_row<compensated, acc::mean_of<compensated>>(averaged<T, compensated_bound<T>>),
           make_exact<exact_adapter<exact_accumulator<T>, T, operation::mean>>(exact_total<T>)},
          {make_row<plain_squares, plain_squares>(summed<plain_square_bound<T>>),
           make_row<compensated_squares, compensated_squares>(summed<compensated_square_bound<T>>),
           make_exact<exact_adapter<squares, T, operation::sum_of_squares>>(exact_square_total<T>)},
          {make_row<product, product>(summed<product_bound<T>>), {}, {}},
          {{{}, {}, make_exact<exact_adapter<squares, T, operation::norm2>>(exact_square_total<T>)}},
          {{{}, {}, make_exact<exact_adapter<moments, T, operation::variance>>(exact_moments_total<T>)}},
          {{{}, {}, make_dot<T>()}}};
}

template <class T>
constexpr operations<fold> integer_folds() {
  using R = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  using squares = acc::integer_square_sum<T>;
  using product = acc::integer_product<T>;
  constexpr auto any = reproducibility::exact;
  return {make<acc::integer_sum<T>, R>(any, integer_total<T>, no_error),
          make<acc::integer_mean<T>, double>(any, integer_total<T>, rounded_once),
          make<squares, R>(any, one_by_one<squares>, no_error),
          make<product, R>(any, one_by_one<product>, no_error),
          {},
          {},
          {}};
}

const fold* existing(const fold& f) noexcept { return f.reset != nullptr ? &f : nullptr; }

template <class T>
const fold* fold_for(operation what, method how) noexcept {
  constexpr auto any = reproducibility::exact;
  static constexpr fold min = make<acc::smallest<T>, T>(any, extremum_total<T, false>, no_error);
  static constexpr fold max = make<acc::largest<T>, T>(any, extremum_total<T, true>, no_error);
  if (what == operation::min) return &min;
  if (what == operation::max) return &max;
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr auto folds = floating_folds<T>();
    return existing(folds.of(what)[static_cast<std::size_t>(how)]);
  } else {
    static constexpr auto folds = integer_folds<T>();
    return existing(folds.of(what));
  }
}

}  // namespace

const fold* find_fold(operation what, element_type type, method how) noexcept {
  switch (type) {
    case element_type::f32:
      return fold_for<float>(what, how);
    case element_type::f64:
      return fold_for<double>(what, how);
    case element_type::i32:
      return fold_for<std::int32_t>(what, how);
    case element_type::i64:
      return fold_for<std::int64_t>(what, how);
    case element_type::u32:
      return fold_for<std::uint32_t>(what, how);
    case element_type::u64:
      return fold_for<std::uint64_t>(what, how);
  }
  return nullptr;
}

}  // namespace fanin::cpu
