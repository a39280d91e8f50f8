// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers of 16 bits. They are stored, not computed with: arithmetic converts them to float.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fanin/compiler.hpp>

namespace fanin {

/// The bits of a number with a sign, a biased exponent and a mantissa, as in IEEE 754: of one binade of subnormal
/// numbers, with infinities and NaN. Has the layout of CUDA's, PyTorch's and NumPy's type of that format, whose
/// arrays fanin::array_view(pointer, count, element_type::f16) describes. A float holds every value: a number becomes
/// one by itself, and exactly, and arithmetic is that of floats. A float becomes a number by a conversion that is
/// written, f16(x). Neither depends on the floating-point environment.
template <int ExponentBits, int MantissaBits>
struct narrow {
  static_assert(1 + ExponentBits + MantissaBits == 16);
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  static constexpr std::uint16_t sign_bit = 0x8000;
  static constexpr std::uint16_t implicit_one = 1 << MantissaBits;
  static constexpr std::uint16_t infinity = sign_bit - implicit_one;
  static constexpr std::uint16_t quiet_nan = infinity | implicit_one >> 1;

  std::uint16_t bits;

  narrow() = default;
  /// The nearest number, ties to even; beyond the largest one infinity. NaN gives the quiet NaN without payload.
  FANIN_HOST_DEVICE constexpr explicit narrow(float x) : bits(nearest(__builtin_bit_cast(std::uint32_t, x))) {}
  FANIN_HOST_DEVICE static constexpr narrow of_bits(unsigned bits) {
    narrow x;
    x.bits = static_cast<std::uint16_t>(bits);
    return x;
  }

  /// The same number.
  FANIN_HOST_DEVICE operator float() const {
#if defined(__CUDA_ARCH__)
    if constexpr (ExponentBits == 5) {
      float x;
      asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
      return x;
    }
#endif
    if constexpr (ExponentBits == 8) return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & sign_bit) << 16;
    return __builtin_bit_cast(float, sign | float_magnitude(bits & (sign_bit - 1u)));
  }

 private:
  static constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - bias) << 23, float_infinity = 0x7f800000;

  FANIN_HOST_DEVICE static std::uint32_t float_magnitude(std::uint32_t magnitude) {
    const std::uint32_t shifted = magnitude << (23 - MantissaBits);
    if (magnitude >= infinity) return shifted | float_infinity;
    if (magnitude >= implicit_one) return shifted + rebias;
    // A subnormal number is the difference of two normal floats, so that flushing subnormals has no effect.
    constexpr std::uint32_t least = rebias + (1u << 23);
    return __builtin_bit_cast(std::uint32_t,
                              __builtin_bit_cast(float, shifted + least) - __builtin_bit_cast(float, least));
  }

  FANIN_HOST_DEVICE static constexpr std::uint16_t nearest(std::uint32_t x) {
    const std::uint32_t sign = x >> 16 & sign_bit, magnitude = x & 0x7fffffff;
    if (magnitude > float_infinity) return quiet_nan;
    const bool normal = magnitude >> 23 != 0;
    const std::uint32_t mantissa = (magnitude & 0x7fffff) | (normal ? 1u << 23 : 0u);
    const int exponent = (normal ? static_cast<int>(magnitude >> 23) : 1) - 127 + bias;  // biased
    // From a shift of 25 on, nothing is left.
    const int dropped = 23 - MantissaBits + (exponent < 1 ? 1 - exponent : 0), shift = dropped < 25 ? dropped : 25;
    const std::uint32_t last = mantissa >> shift & 1;
    const std::uint32_t rounded = (mantissa + (1u << (shift - 1)) - 1 + last) >> shift;
    // The leading one of a normal number's mantissa adds 1 to the exponent.
    const std::uint32_t result =
        rounded + (static_cast<std::uint32_t>(exponent > 1 ? exponent - 1 : 0) << MantissaBits);
    return static_cast<std::uint16_t>(sign | (result < infinity ? result : infinity));
  }
};

/// IEEE binary16, and bfloat16, which has the exponents of a float.
using f16 = narrow<5, 10>;
using bf16 = narrow<8, 7>;

template <class T>
concept narrow_float = std::same_as<T, f16> || std::same_as<T, bf16>;

/// A floating-point type, and a type in which machines compute.
template <class T>
concept floating = std::floating_point<T> || narrow_float<T>;
template <class T>
concept computable = std::floating_point<T> || std::integral<T>;

/// The type in which machines compute with numbers of type T.
template <class T>
using computed_as = std::conditional_t<narrow_float<T>, float, T>;

}  // namespace fanin

/// @cond
template <int ExponentBits, int MantissaBits>
class std::numeric_limits<fanin::narrow<ExponentBits, MantissaBits>> {
  using number = fanin::narrow<ExponentBits, MantissaBits>;

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = false, is_iec559 = true;
  static constexpr bool is_bounded = true, is_modulo = false, traps = false, tinyness_before = false;
  static constexpr auto has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr auto round_style = std::round_to_nearest;
  static constexpr int radix = 2, digits = MantissaBits + 1, digits10 = MantissaBits * 301 / 1000;
  static constexpr int max_digits10 = 2 + digits * 301 / 1000;
  static constexpr int min_exponent = 2 - number::bias, max_exponent = number::bias + 1;
  static constexpr int min_exponent10 = (min_exponent - 1) * 301 / 1000, max_exponent10 = max_exponent * 301 / 1000;
  static constexpr number min() noexcept { return number::of_bits(number::implicit_one); }
  static constexpr number max() noexcept { return number::of_bits(number::infinity - 1u); }
  static constexpr number lowest() noexcept { return number::of_bits(number::sign_bit | (number::infinity - 1u)); }
  static constexpr number epsilon() noexcept {
    return number::of_bits(static_cast<unsigned>(number::bias - MantissaBits) << MantissaBits);
  }
  static constexpr number round_error() noexcept {
    return number::of_bits(static_cast<unsigned>(number::bias - 1) << MantissaBits);
  }
  static constexpr number infinity() noexcept { return number::of_bits(number::infinity); }
  static constexpr number quiet_NaN() noexcept { return number::of_bits(number::quiet_nan); }
  static constexpr number signaling_NaN() noexcept { return quiet_NaN(); }
  static constexpr number denorm_min() noexcept { return number::of_bits(1); }
};
/// @endcond
