// SPDX-License-Identifier: Apache-2.0
// The end of a reduction as a function of the operation and of the result's type at run time. Accumulators that merge
// their states alike share its code.
#pragma once

#include <cstring>

#include "backends/cuda/batch/scaled_products.cuh"
#include "backends/cuda/fold/double_word.hpp"
#include "backends/cuda/fold/finished.hpp"

namespace fanin::cuda {

/// The accumulator that merges the states of a recipe.
template <class Recipe>
struct merging {
  using type = accumulator::merges_as_t<typename Recipe::accumulator>;
};
template <class Recipe>
requires compares<Recipe>
struct merging<Recipe> {
  using keys = device_accumulator_of<Recipe>;
  static constexpr bool is_count = std::is_base_of_v<accumulator::nonzero_count<typename keys::word>, keys>;
  using type = std::conditional_t<is_count, keyed<accumulator::nonzero_count<std::uint8_t>>, keys>;
};
template <class Recipe>
using merging_t = typename merging<Recipe>::type;

/// Whether M merges the states of the recipe of its elements.
template <class M, operation What, method How>
constexpr bool merges() {
  if constexpr (fanin::detail::has_recipe<What, How, typename M::element>) {
    return std::is_same_v<merging_t<recipe<What, How, typename M::element>>, M>;
  } else {
    return false;
  }
}
/// Whether the recipe gives what was added up, as all such recipes with the same states do.
template <class Recipe>
inline constexpr bool is_total =
    std::is_same_v<accumulator::folds_as_t<typename Recipe::accumulator>, typename Recipe::accumulator>;
template <class M, operation What, method How>
constexpr bool gives_total() {
  if constexpr (merges<M, What, How>()) {
    return is_total<recipe<What, How, typename M::element>>;
  } else {
    return false;
  }
}

/// The method whose recipes M serves, and the first operations that it serves: the first one, and the first one that
/// gives a total.
template <class M, class = std::make_index_sequence<operation_count>>
struct served_by;
template <class M, std::size_t... What>
struct served_by<M, std::index_sequence<What...>> {
  template <method How>
  static constexpr bool any = (merges<M, static_cast<operation>(What), How>() || ...);
  static constexpr method how = any<method::fast>          ? method::fast
                                : any<method::compensated> ? method::compensated
                                                           : method::exact;
  static constexpr operation first = [] {
    std::size_t found = operation_count;
    ((found = found == operation_count && merges<M, static_cast<operation>(What), how>() ? What : found), ...);
    return static_cast<operation>(found);
  }();
  static constexpr operation total = [] {
    std::size_t found = operation_count;
    ((found = found == operation_count && gives_total<M, static_cast<operation>(What), how>() ? What : found), ...);
    return static_cast<operation>(found);
  }();
  using recipe_of_first = recipe<first, how, typename M::element>;
};

/// The operation that ends in the same way as the recipe.
template <class Recipe>
constexpr operation ended_as() {
  if constexpr (compares<Recipe>) {
    return Recipe::what;
  } else {
    return is_total<Recipe> ? served_by<merging_t<Recipe>>::total : Recipe::what;
  }
}
template <class M>
struct ends_with {
  template <class Recipe>
  constexpr bool operator()(Recipe) const {
    return std::is_same_v<merging_t<Recipe>, M> && ended_as<Recipe>() == Recipe::what;
  }
};

/// The facts that the end of a reduction needs.
struct ending {
  operation what;            ///< as ended_as() gives it
  summand adds;              ///< what a sum is of
  sum_value value;           ///< what becomes of a sum
  unsigned ddof;             ///< a sum of deviations is divided by the number of elements minus `ddof`
  element_type result;       ///< the type of the value's number
  detail::number_format to;  ///< the format of the value's parts, if these are floats
  element_rule rule;         ///< used by operations that compare
};

/// The format of the number's parts, if these are floats.
inline detail::number_format format_of(element_type type) {
  return with_element(type, [&]<class T>() {
    if constexpr (floating<part_of<T>>) return detail::number_format::of<part_of<T>>();
    if constexpr (!floating<part_of<T>>) return detail::number_format{};
  });
}

/// The value of a state: the bits of its parts, and whether it does not fit. An index is a part.
struct finished_bits {
  std::uint64_t part[2];
  bool overflowed;
};
template <class R>
FANIN_HOST_DEVICE std::uint64_t bits_of_part(R x) {
  if constexpr (std::is_floating_point_v<R>) {
    return detail::to_bits(x);
  } else {
    return static_cast<std::uint64_t>(x);
  }
}
template <class R>
FANIN_HOST_DEVICE finished_bits bits_of_value(const R& x, bool overflowed = false) {
  if constexpr (requires { x.index; }) {
    return {{bits_of_part(x.value), x.index}, overflowed};
  } else if constexpr (requires { x.max; }) {
    return {{bits_of_part(x.min), bits_of_part(x.max)}, overflowed};
  } else if constexpr (requires { x.re; }) {
    return {{x.re, x.im}, overflowed};
  } else if constexpr (complex_number<R>) {
    return {{bits_of_part(x.real()), bits_of_part(x.imag())}, overflowed};
  } else {
    return {{bits_of_part(x), 0}, overflowed};
  }
}

/// Calls f(R()) for the type R of the recipe's result, where it is not rounded: integers have a sign or not.
template <class Recipe, class F>
FANIN_HOST_DEVICE void with_unrounded(element_type result, const F& f) {
  using R = typename Recipe::result;
  if constexpr (std::is_same_v<R, std::int64_t>) {
    if (result == element_type::u64) return f(std::uint64_t{});
  }
  f(R());
}

/// Calls f(R()) for the number R of exact states to which a result of that type is added: the elements' number, or a
/// wider one.
template <class Recipe, class F>
FANIN_HOST_DEVICE void with_exact_number(element_type result, const F& f) {
  using T = typename Recipe::element;
  if constexpr (std::is_same_v<T, float>) {
    if (result == element_type::f64) return f(double());
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    if (result == element_type::c128) return f(std::complex<double>());
  }
  f(T());
}

/// The value of a recipe that rounds once. Its code is long.
template <class Recipe>
FANIN_HOST_DEVICE FANIN_NOINLINE finished_bits exact_bits(const typename Recipe::accumulator::state& s,
                                                          std::uint64_t count, const detail::number_format& to) {
  using R = std::conditional_t<complex_number<typename Recipe::result>, bits_of_parts, std::uint64_t>;
  return bits_of_value(value_of<Recipe, R>(s, count, to));
}

/// Whether states have exact sums of elements beside those of their squares, so that they also serve sums and means.
template <class State>
inline constexpr bool are_exact_moments = false;
template <class T>
inline constexpr bool are_exact_moments<exact_moments_accumulator<T>> = true;
template <class M>
inline constexpr bool has_exact_moments = are_exact_moments<typename M::state>;
/// For with_operation(): the recipes that add elements.
struct adds_elements {
  template <class Recipe>
  constexpr bool operator()(Recipe) const {
    return row_of(Recipe::what).adds == summand::elements;
  }
};

/// The value of `count` elements whose state is `s`.
template <class M>
FANIN_HOST_DEVICE finished_bits finished_value(const typename M::state& s, std::uint64_t count, const ending& end) {
  finished_bits found{};
  if constexpr (is_keyed<M>) {
    with_value_of_keys<M>(s, count, end.rule, [&](const auto& value) { found = bits_of_value(value); });
  } else {
    using T = typename M::element;
    constexpr method how = served_by<M>::how;
    if constexpr (has_exact_moments<M>) {
      if (end.adds == summand::elements) {
        with_operation<T, how>(end.what, adds_elements(),
                               [&]<class Recipe>(Recipe) { found = exact_bits<Recipe>(s.sum, count, end.to); });
        return found;
      }
    }
    with_operation<T, how>(end.what, ends_with<M>(), [&](auto one) {
      using Recipe = decltype(one);
      if constexpr (how == method::exact) {
        found = exact_bits<Recipe>(s, count, end.to);
      } else {
        with_unrounded<Recipe>(end.result, [&]<class R>(R) {
          const device_result<R> value = finished<Recipe, R>(s, count);
          found = bits_of_value(value.value, value.overflowed != 0);
        });
      }
    });
  }
  return found;
}

/// The accumulator of exact sums of few words whose states batches merge first.
template <class M>
struct scaled_in_place_of {
  using type = void;
};
template <class M>
requires(!is_keyed<M>) struct scaled_in_place_of<M> {
  using type = scaled_form_t<accumulator::folds_as_t<typename served_by<M>::recipe_of_first::accumulator>>;
};
template <class M>
using scaled_t = typename scaled_in_place_of<M>::type;
template <class M>
concept has_scaled = !std::is_void_v<scaled_t<M>>;

/// Sets `bits` to the value of `count` elements if pairs of doubles decide it, which takes a GPU less time than
/// integers: measures of dispersion, and roots of sums.
template <class P>
FANIN_HOST_DEVICE FANIN_NOINLINE bool decide_by_pairs(const typename P::state& sum, std::uint64_t count,
                                                      const typename P::use& use, const detail::number_format& to,
                                                      std::uint64_t& bits) {
  double_word near;
  if constexpr (requires { sum.squares; }) {
    if (count <= use.ddof || count >> 32 != 0) return false;
    constexpr int words = std::extent_v<decltype(sum.sum.word)>;
    constexpr int square_words = std::extent_v<decltype(sum.squares.word)>;
    std::uint32_t total[words], squares[square_words + 1], numerator[square_words + 2];
    sum.sum.magnitude(total);
    const int above = sum.squares.place() - 2 * sum.sum.place();  // 0 or 1
    for (int i = 0; i <= square_words; ++i) {                     // by constant indices
      const std::uint32_t same = i < square_words ? sum.squares.word[i < square_words ? i : 0] : 0;
      squares[i] = above == 0 ? same : i > 0 ? sum.squares.word[i > 0 ? i - 1 : 0] : 0;
    }
    subtract_in_registers(total, squares, static_cast<std::uint32_t>(count), numerator);
    if (!lead(numerator, 2 * sum.sum.exponent(), near)) return false;
    std::uint64_t divisor = count - use.ddof;
    if (count >> 26 == 0) {
      divisor *= count;
    } else {
      near.divide(static_cast<double>(count));
    }
    near.divide(static_cast<double>(divisor));
    if (use.root) near.take_root();
  } else {
    if (!use) return false;
    std::uint32_t size[std::extent_v<decltype(sum.word)>];
    sum.magnitude(size);
    if (!lead(size, sum.exponent(), near)) return false;
    near.take_root();
  }
  return find_nearest(near, to, bits);
}

/// Whether M merges sums of integers and of their squares.
template <class M>
inline constexpr bool has_moments = std::is_same_v<typename M::state, accumulator::integer_moments>;

/// Sets `bits` to the norm or measure of dispersion of `count` integers if doubles decide it.
FANIN_HOST_DEVICE inline bool decide_by_doubles(const accumulator::integer_moments& s, std::uint64_t count,
                                                const ending& end, std::uint64_t& bits) {
  double value;
  const bool decided =
      end.adds == summand::squares
          ? accumulator::decide_norm(s, value)
          : count > end.ddof && accumulator::decide_dispersion(s, count, {is_root(end.value), end.ddof}, value);
  if (decided) bits = detail::to_bits(value);
  return decided;
}

/// The value of `count` elements, whose sum fits in few words.
template <class M, class P = scaled_t<M>>
FANIN_HOST_DEVICE finished_bits scaled_bits(const typename P::state& sum, std::uint64_t count, const ending& end) {
  const auto use = P::use_of(end.value, end.ddof);
  if constexpr (folds_terms<P>) {
    if constexpr (has_exact_moments<M>) {
      if (end.adds == summand::elements) {
        return bits_of_value(rounded_sum<std::uint64_t>(sum.sum, count, end.value == sum_value::mean, end.to));
      }
    }
    if constexpr (row_of(served_by<M>::first).adds != summand::products) {  // A dot product has no root.
      std::uint64_t bits;
      if (decide_by_pairs<P>(sum, count, use, end.to, bits)) return bits_of_value(bits);
    }
    return bits_of_value(P::finish(sum, count, use, end.to));
  } else {
    if (end.result == element_type::f32) return bits_of_value(P::template finish<float>(sum, count, use));
    if (end.result == element_type::f64) return bits_of_value(P::template finish<double>(sum, count, use));
    return bits_of_value(P::template finish<std::uint64_t>(sum, count, use, end.to));
  }
}

/// The form of a state. It is a state of the accumulator that merges it, or a state as a kernel leaves it. Kernels
/// add narrow integers in 64 bits with or without a sign. Kernels of batches form exact sums of few words first.
enum class state_form : std::uint8_t { merged, of_kernel, of_signed, of_unsigned, scaled };

template <class M>
inline constexpr bool adds_integers = std::is_integral_v<typename M::element> && !is_keyed<M>;
template <class M, class T>
using narrow_state = typename device_recipe<recipe<served_by<M>::first, method::fast, T>>::partial;

/// The state that kernels leave to M, if that is not M's.
template <class M>
struct kernel_state {
  using type = typename device_recipe<typename served_by<M>::recipe_of_first>::partial;
};
/// Integers of 8 bits have the states of floats.
template <>
struct kernel_state<accumulator::log_sum<double>> {
  using type = float_log_sum::state;
};

/// Calls f.operator()<State>() for a form but `scaled`.
template <class M, class F>
FANIN_HOST_DEVICE void with_state(state_form form, const F& f) {
  if constexpr (has_moments<M>) {
    if (form == state_form::of_kernel) return f.template operator()<integer_moments_96>();
  }
  if constexpr (adds_integers<M>) {
    if (form == state_form::of_signed) return f.template operator()<narrow_state<M, std::int16_t>>();
    if (form == state_form::of_unsigned) return f.template operator()<narrow_state<M, std::uint16_t>>();
  } else if constexpr (!is_keyed<M>) {
    using of_kernel = typename kernel_state<M>::type;
    if constexpr (!std::is_same_v<of_kernel, typename M::state>) {
      if (form == state_form::of_kernel) return f.template operator()<of_kernel>();
    }
  }
  f.template operator()<typename M::state>();
}

/// The form of the states that the kernels of a recipe leave.
template <class Recipe>
constexpr state_form form_of_states() {
  using M = merging_t<Recipe>;
  using state = typename device_recipe<Recipe>::partial;
  if constexpr (std::is_same_v<state, typename M::state>) {
    return state_form::merged;
  } else if constexpr (std::is_same_v<state, integer_moments_96>) {
    return state_form::of_kernel;
  } else if constexpr (adds_integers<M>) {
    // Integers of 8 bits have the same states as integers of 16 bits.
    using T = typename Recipe::element;
    using wider =
        std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>, T>;
    using of_wider = typename device_recipe<recipe<Recipe::what, Recipe::method, wider>>::partial;
    static_assert(sizeof(of_wider) == sizeof(state));
    constexpr bool is_signed = std::is_same_v<of_wider, narrow_state<M, std::int16_t>>;
    static_assert(is_signed || std::is_same_v<of_wider, narrow_state<M, std::uint16_t>>);
    return is_signed ? state_form::of_signed : state_form::of_unsigned;
  } else {
    static_assert(std::is_same_v<state, typename device_recipe<typename served_by<M>::recipe_of_first>::partial>);
    return state_form::of_kernel;
  }
}
/// The form of the states that the kernels of log_sum_exp of integers leave.
inline state_form form_of_integer_log_sum(element_type type) {
  return byte_size(type) == 1 ? state_form::of_kernel : state_form::merged;
}

}  // namespace fanin::cuda
