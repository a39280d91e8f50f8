// SPDX-License-Identifier: Apache-2.0
// Complex numbers. An accumulator of real numbers does the arithmetic, once for the real parts and once for the
// imaginary parts. Only products and moduli have arithmetic of their own. Error bounds are for the modulus of the
// error; docs/numerics.md has the proofs.
#pragma once

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/exact_recipes.hpp>
#include <fanin/accumulator/rounded.hpp>
#include <fanin/accumulator/sum.hpp>

namespace fanin {
namespace accumulator {

namespace detail {

inline constexpr double root_of_2 = 1.4142135623730951, root_of_5 = 2.2360679774997898;  // rounded up

/// The bound for complex numbers, from the bound for each part. `of_products` says whether moduli of elements are
/// multiplied.
constexpr error_bound bound_of_parts(const error_bound& part, bool of_products = false) {
  return {part.of_result, part.of_magnitudes * (of_products ? root_of_2 * round_up : 1),
          part.absolute * root_of_2 * round_up};
}

}  // namespace detail

/// The states of the real and of the imaginary parts.
template <class State>
struct part_states {
  State re, im;
};

/// A over the real parts, and A over the imaginary parts.
template <class A>
struct componentwise {
  using element = std::complex<typename A::element>;
  using state = part_states<typename A::state>;
  using folds_as = componentwise<folds_as_t<A>>;
  using merges_as = componentwise<merges_as_t<A>>;
  static constexpr bool order_free = A::order_free;
  FANIN_HOST_DEVICE static constexpr state identity() { return {A::identity(), A::identity()}; }
  FANIN_HOST_DEVICE static void add(state& s, const element& x) {
    A::add(s.re, x.real());
    A::add(s.im, x.imag());
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    A::merge(s.re, other.re);
    A::merge(s.im, other.im);
  }
  /// `to` is empty, or for an exact accumulator the format of the parts.
  template <class R, class... To>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count, To... to) {
    using part = typename R::value_type;
    return {A::template finish<part>(s.re, count, to...), A::template finish<part>(s.im, count, to...)};
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return detail::bound_of_parts(A::template bound<typename R::value_type>(chain, count));
  }
};

/// A over the real and the imaginary parts together: n complex numbers count as 2 n real numbers.
template <class A>
struct over_parts : componentwise<A> {
  using state = typename componentwise<A>::state;
  template <class R, class... To>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count, To... to) {
    typename A::state all = s.re;
    A::merge(all, s.im);
    return A::template finish<R>(all, 2 * count, to...);
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return A::template bound<R>({chain.adds, chain.merges + 1}, 2 * count);
  }
};

/// Returns x, but +0 for -0, and the library's NaN for any NaN. An addition on a device gives another NaN.
template <class T>
FANIN_HOST_DEVICE T without_sign_of_zero(T x) {
  return canonical(x + 0);
}
/// Returns the bits x of a number in a format, or the bits of +0 for -0.
template <class To>
FANIN_HOST_DEVICE typename To::bits without_sign_of_zero(typename To::bits x, To to) {
  return x == to.sign ? 0 : x;
}

/// The states of the sums of a dot product. The real part of the result is the sum of the sums in `re`, and the
/// imaginary part is the sum of the sums in `im`.
template <class State, int Chains>
struct dot_states {
  State re[Chains], im[Chains];
};

/// Sum of x y, or with Conjugated, sum of conj(x) y. A sums products of real numbers. Each part of the result is
/// the sum of 2 n such products. If the order of additions matters, products with real parts of x and products
/// with imaginary parts of x are summed apart. A part that is zero is +0.
template <class A, bool Conjugated>
struct complex_dot {
  using part = typename A::element;
  using element = std::complex<part>;
  static constexpr bool order_free = A::order_free, conjugated = Conjugated;
  static constexpr std::size_t inputs = 2;
  static constexpr int chains = order_free ? 1 : 2;
  using state = dot_states<typename A::state, chains>;
  using merges_as = complex_dot<merges_as_t<A>, false>;
  FANIN_HOST_DEVICE static constexpr state identity() {
    state none{};
    for (int i = 0; i < chains; ++i) none.re[i] = none.im[i] = A::identity();
    return none;
  }
  FANIN_HOST_DEVICE static void add(state& s, const element& x, const element& y) {
    A::add(s.re[0], x.real(), y.real());
    A::add(s.re[chains - 1], x.imag(), Conjugated ? y.imag() : -y.imag());
    A::add(s.im[0], x.real(), y.imag());
    A::add(s.im[chains - 1], x.imag(), Conjugated ? -y.real() : y.real());
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    for (int i = 0; i < chains; ++i) {
      A::merge(s.re[i], other.re[i]);
      A::merge(s.im[i], other.im[i]);
    }
  }
  template <class R, class... To>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count, To... to) {
    const auto part_of_result = [count, to...](const typename A::state(&sums)[chains]) {
      typename A::state all = sums[0];
      if constexpr (chains == 2) A::merge(all, sums[1]);
      return without_sign_of_zero(A::template finish<typename R::value_type>(all, 2 * count, to...), to...);
    };
    return {part_of_result(s.re), part_of_result(s.im)};
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    const rounding_chain longer{chain.adds, chain.merges + (chains - 1)};
    return detail::bound_of_parts(A::template bound<typename R::value_type>(longer, 2 * count), true);
  }
};

/// Product. A factor of 1 changes nothing, even if the other factor is infinite. A part that is zero is +0. Error
/// <= g(sqrt(5) (n - 1)) |P| unless an intermediate product over- or underflows [Brent, Percival, Zimmermann
/// 2007].
template <class T>
struct complex_product {
  using element = std::complex<T>;
  using state = element;
  static constexpr bool order_free = false;
  FANIN_HOST_DEVICE static constexpr state identity() { return {T{1}, T{0}}; }
  FANIN_HOST_DEVICE static void add(state& s, const element& x) {
    const T a = s.real(), b = s.imag(), c = x.real(), d = x.imag();
    const T re = rounded_product(a, c) - rounded_product(b, d);
    const T im = rounded_product(a, d) + rounded_product(b, c);
    const bool s_is_one = a == 1 && b == 0, x_is_one = c == 1 && d == 0;
    s = {x_is_one ? a : s_is_one ? c : re, x_is_one ? b : s_is_one ? d : im};
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { add(s, other); }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    return {without_sign_of_zero(s.real()), without_sign_of_zero(s.imag())};
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t count) {
    if (count <= 1) return {};
    return {growth<T>(detail::root_of_5 * static_cast<double>(count - 1) * round_up), 0, 0, true};
  }
};

/// |x|, by the same operations on every machine. NaN if a part is NaN. The error is less than 2.1 u |x|, plus the
/// smallest subnormal if |x| is subnormal. Squares of floats are exact in double. Doubles whose squares might
/// over- or underflow are scaled by a power of two.
FANIN_HOST_DEVICE inline double modulus(double a, double b) {
  constexpr double large = 0x1p500, small = 0x1p-500, shift = 0x1p600;
  const double size_a = std::fabs(a), size_b = std::fabs(b);
  const bool is_large = size_a >= large || size_b >= large, is_small = size_a < small && size_b < small;
  const double down = is_large ? 1 / shift : is_small ? shift : 1, up = is_large ? shift : is_small ? 1 / shift : 1;
  const double x = a * down, y = b * down;
  return std::sqrt(rounded_product(x, x) + rounded_product(y, y)) * up;
}
FANIN_HOST_DEVICE inline float modulus(float a, float b) {
  const double x = a, y = b;
  return static_cast<float>(std::sqrt(x * x + y * y));
}

/// Sum of moduli. The moduli are added in the order in which plain_sum adds real numbers.
template <class T>
struct modulus_sum : plain_sum<T> {
  using element = std::complex<T>;
  using of_floats = plain_sum<T>;
  FANIN_HOST_DEVICE static void add(T& s, const element& x) { s += modulus(x.real(), x.imag()); }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return of_positive_terms(plain_sum_bound<T>(chain, count, 3));
  }
};

}  // namespace accumulator

template <operation What, method How, complex_number T>
requires(What == operation::sum || What == operation::mean) struct recipe_for<What, How, T>
    : accumulator::uses<accumulator::componentwise<typename recipe_for<What, How, part_of<T>>::type>> {
};
template <method How, complex_number T>
struct recipe_for<operation::norm2, How, T>
    : accumulator::uses<accumulator::over_parts<typename recipe_for<operation::norm2, How, part_of<T>>::type>> {};
template <method How, complex_number T>
struct recipe_for<operation::dot, How, T>
    : accumulator::uses<accumulator::complex_dot<typename recipe_for<operation::dot, How, part_of<T>>::type, false>> {
};
template <method How, complex_number T>
struct recipe_for<operation::vdot, How, T>
    : accumulator::uses<accumulator::complex_dot<typename recipe_for<operation::dot, How, part_of<T>>::type, true>> {
};
template <method How, std::floating_point T>
struct recipe_for<operation::vdot, How, T> : recipe_for<operation::dot, How, T> {};
template <complex_number T>
struct recipe_for<operation::product, method::fast, T> : accumulator::uses<accumulator::complex_product<part_of<T>>> {
};
template <complex_number T>
struct recipe_for<operation::sum_of_magnitudes, method::fast, T>
    : accumulator::uses<accumulator::modulus_sum<part_of<T>>> {};

}  // namespace fanin
