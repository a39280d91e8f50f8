// SPDX-License-Identifier: Apache-2.0
// The states in which kernels fold the recipes' accumulators. The host merges them into states of the accumulators.
#pragma once

#include <type_traits>

#include <fanin/recipe.hpp>

#include "backends/cuda/exact/chunk_sums.hpp"
#include "backends/cuda/float_log_sum.hpp"
#include "backends/cuda/integer_log_sum.hpp"
#include "backends/cuda/numbers.hpp"
#include "backends/cuda/word_integers.hpp"

namespace fanin::cuda {

/// The sum of at most 2^32 terms of up to 32 bits, exact in 64 bits. The host splits longer input, and adds the sums
/// of the parts in 128 bits.
template <class T, class Term = accumulator::plain_term>
struct integer_sum_64 {
  using element = T;
  using state = std::conditional_t<std::is_signed_v<decltype(Term::of(T()))>, std::int64_t, std::uint64_t>;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return 0; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s += Term::of(x); }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s += other; }
};
inline constexpr std::uint64_t most_terms_in_64_bits = std::uint64_t{1} << 32;

/// An exact sum as its kernel forms it: a State converts to the accumulator with which the host goes on.
template <class T, class State>
struct chunked {
  using element = T;
  using state = State;
};

/// Integers of one width share the kernels of their sums and moments, and up to 32 bits also those of products.
template <class T, class Term>
struct shared_form<T, integer_sum_64<T, Term>> {
  using type = word_sum<word_for<T>>;
};
template <class T, class Term>
struct shared_form<T, accumulator::integer_sum<T, Term>> {
  using type = word_sum<word_for<T>>;
};
template <class T>
requires(sizeof(T) < 8) struct shared_form<T, accumulator::integer_product<T>> {
  using type = word_product<word_for<T>>;
};
template <class T>
struct shared_form<T, accumulator::integer_square_sum<T>> {
  using type = wide_word_squares<word_for<T>>;
};
template <class T>
struct shared_form<T, accumulator::integer_dispersion<T>> {
  using type = wide_word_moments<word_for<T>>;
};
template <class T>
struct shared_form<T, integer_dispersion_96<T>> {
  using type = wide_word_moments<word_for<T>>;
};

/// The accumulator that kernels fold in place of A, and the most elements that one of its states can hold.
template <class A>
struct device_form {
  using device_accumulator = A;
  static constexpr std::uint64_t longest = ~std::uint64_t{0};
};
template <class T, class Term>
requires(sizeof(T) < 8) struct device_form<accumulator::integer_sum<T, Term>> {
  using device_accumulator = integer_sum_64<T, Term>;
  static constexpr std::uint64_t longest = most_terms_in_64_bits;
};
/// The square of an integer of up to 16 bits, which has up to 32 bits.
struct square_term {
  template <class T>
  FANIN_HOST_DEVICE static std::uint32_t of(T x) {
    const std::uint32_t size = accumulator::magnitude_term::of(x);
    return size * size;
  }
};
template <class T>
requires(sizeof(T) <= 2) struct device_form<accumulator::integer_square_sum<T>> {
  using device_accumulator = integer_sum_64<T, square_term>;
  static constexpr std::uint64_t longest = most_terms_in_64_bits;
};
/// The sum of at most 2^32 integers of up to 16 bits, and the sum of their squares, each exact in 64 bits.
template <class T>
struct integer_moments_64 {
  using element = T;
  using sums = integer_sum_64<T>;
  using squares = integer_sum_64<T, square_term>;
  struct state {
    typename sums::state sum;
    typename squares::state square_sum;
    FANIN_HOST_DEVICE explicit operator accumulator::integer_moments() const { return {sum, square_sum, 0}; }
  };
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return {0, 0}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) {
    sums::add(s.sum, x);
    squares::add(s.square_sum, x);
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.sum += other.sum;
    s.square_sum += other.square_sum;
  }
};
template <class T>
struct shared_form<T, integer_moments_64<T>> {
  using type = word_moments<word_for<T>>;
};
template <class T>
requires(sizeof(T) <= 2) struct device_form<accumulator::integer_dispersion<T>> {
  using device_accumulator = integer_moments_64<T>;
  static constexpr std::uint64_t longest = most_terms_in_64_bits;
};
template <class T>
requires(sizeof(T) == 4) struct device_form<accumulator::integer_dispersion<T>> {
  using device_accumulator = integer_dispersion_96<T>;
  static constexpr std::uint64_t longest = std::uint64_t{1} << 31;
};
template <class T, bool All>
struct device_form<accumulator::nonzero_test<T, All>> {
  using device_accumulator = accumulator::nonzero_count<T>;
  static constexpr std::uint64_t longest = ~std::uint64_t{0};
};
template <class T>
struct device_form<accumulator::shifted_moments<T>> {
  using device_accumulator = accumulator::compensated_moments<T>;
  static constexpr std::uint64_t longest = ~std::uint64_t{0};
};
template <>
struct device_form<accumulator::log_sum<float>> {
  using device_accumulator = float_log_sum;
  static constexpr std::uint64_t longest = ~std::uint64_t{0};
};
template <class T, class State>
struct chunked_form {
  using device_accumulator = chunked<T, State>;
  static constexpr std::uint64_t longest = ~std::uint64_t{0};
};
template <class T, class Term>
struct device_form<accumulator::exact_sum<T, Term>> : chunked_form<T, chunk_sums<T, 1>> {};
template <class T>
struct device_form<accumulator::exact_square_sum<T>> : chunked_form<T, chunk_sums<T, 2>> {};
template <class T>
struct device_form<accumulator::exact_dispersion<T>> : chunked_form<T, chunk_moments<T>> {};
template <class T>
struct device_form<accumulator::exact_dot<T>> : chunked_form<T, chunk_products<T>> {};
template <class T>
struct device_form<accumulator::componentwise<accumulator::exact_sum<T>>>
    : chunked_form<std::complex<T>, chunk_parts<T>> {};
template <class T>
struct device_form<accumulator::componentwise<accumulator::exact_square_sum<T>>>
    : chunked_form<std::complex<T>, chunk_part_squares<T>> {};
template <class T, bool Conjugated>
struct device_form<accumulator::complex_dot<accumulator::exact_dot<T>, Conjugated>>
    : chunked_form<std::complex<T>, chunk_part_products<T>> {};

template <class T, class A>
struct device_form<accumulator::widening<T, A>> {
  using device_accumulator = accumulator::widening<T, typename device_form<A>::device_accumulator>;
  static constexpr std::uint64_t longest = device_form<A>::longest;
};

/// A recipe that compares elements folds their keys; `compares` tells whether it does.
template <class Recipe>
inline constexpr bool compares = row_of(Recipe::what).unrounded;

/// Whether devices have the recipe. Dot products of integers are left to CPUs.
template <class Recipe>
inline constexpr bool has_kernels =
    !std::is_integral_v<typename Recipe::element> || row_of(Recipe::what).adds != summand::products;

/// The form in which kernels fold a recipe's accumulator.
template <class Recipe>
struct device_recipe : device_form<accumulator::folds_as_t<typename Recipe::accumulator>> {
  using of_elements = typename device_form<accumulator::folds_as_t<typename Recipe::accumulator>>::device_accumulator;
  using device_accumulator = typename shared_form<typename Recipe::element, of_elements>::type;
  using partial = typename of_elements::state;  ///< the state whose bits the kernel's state has
  /// The state of the recipe's accumulator, for a state of the kernel's.
  FANIN_HOST_DEVICE static typename Recipe::accumulator::state total(const typename device_accumulator::state& s) {
    return static_cast<typename Recipe::accumulator::state>(__builtin_bit_cast(partial, s));
  }
};
template <class Recipe>
requires compares<Recipe>
struct device_recipe<Recipe> {
  using device_accumulator = typename keyed_accumulator<Recipe>::type;
  using partial = typename device_accumulator::state;
  static constexpr std::uint64_t longest = ~std::uint64_t{0};
  static typename Recipe::accumulator::state total(const typename device_accumulator::state& s) {
    return state_of_keys<Recipe, device_accumulator>(s);
  }
};
template <class T>
struct device_recipe<recipe_of_log_sum<T>> {
  using device_accumulator = typename integer_log_sum<word_for<T>>::type;
  using partial = typename device_accumulator::state;
  static constexpr std::uint64_t longest = ~std::uint64_t{0};
  FANIN_HOST_DEVICE static accumulator::scaled_sum total(const partial& s) {
    return static_cast<accumulator::scaled_sum>(s);
  }
};
template <class Recipe>
using device_accumulator_of = typename device_recipe<Recipe>::device_accumulator;

/// The method whose recipes finish the states of a recipe. Devices fold `fast` moments of doubles as compensated
/// ones.
template <class Recipe>
inline constexpr method method_of_end =
    std::is_same_v<device_accumulator_of<Recipe>, accumulator::compensated_moments<double>> ? method::compensated
                                                                                            : Recipe::method;

}  // namespace fanin::cuda
