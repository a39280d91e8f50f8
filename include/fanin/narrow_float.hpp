// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers of 8 and 16 bits. They are for storage. Arithmetic converts them to float.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fanin/compiler.hpp>

namespace fanin {

/// The bits of a number with a sign, a biased exponent and a mantissa, with subnormal numbers, as in IEEE 754. A
/// format either has infinities and NaN as in IEEE 754, or it has no infinities and only one NaN, in which all bits
/// but the sign are ones. CUDA, PyTorch and ml_dtypes have the same memory layout. So fanin::array_view(pointer,
/// count, element_type::f16) describes an array of these libraries. The conversion to float is implicit and exact.
/// The conversion from float is explicit: f16(x). Neither conversion depends on the floating-point environment.
template <int ExponentBits, int MantissaBits, bool HasInfinity = true>
struct narrow {
  static constexpr int width = 1 + ExponentBits + MantissaBits;
  static_assert(width == 8 || width == 16);
  using word = std::conditional_t<width == 8, std::uint8_t, std::uint16_t>;
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  static constexpr bool has_infinity = HasInfinity;
  static constexpr word sign_bit = 1 << (width - 1);
  static constexpr word implicit_one = 1 << MantissaBits;
  /// The bits that follow the bits of the largest number. They are infinity, or NaN if the format has no infinity.
  static constexpr word after_largest = HasInfinity ? sign_bit - implicit_one : sign_bit - 1;
  static constexpr word quiet_nan = HasInfinity ? after_largest | implicit_one >> 1 : after_largest;

  word bits;

  narrow() = default;
  /// The nearest number, ties to even. Beyond the largest number it is infinity, or NaN if the format has no
  /// infinity. NaN gives the quiet NaN without payload.
  FANIN_HOST_DEVICE constexpr explicit narrow(float x) : bits(nearest(__builtin_bit_cast(std::uint32_t, x))) {}
  FANIN_HOST_DEVICE static constexpr narrow of_bits(unsigned bits) {
    narrow x;
    x.bits = static_cast<word>(bits);
    return x;
  }

  /// The number as a float, which is exact.
  FANIN_HOST_DEVICE operator float() const {
#if defined(__CUDA_ARCH__)
    if constexpr (ExponentBits <= 5) return float_by_half();
#endif
    if constexpr (ExponentBits == 8) return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & sign_bit) << (32 - width);
    return __builtin_bit_cast(float, sign | float_magnitude(bits & (sign_bit - 1u)));
  }

  /// The difference between the bits of a float and the bits of the same normal number in this format, moved to
  /// their place in a float.
  static constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - bias) << 23;
  static constexpr std::uint32_t float_infinity = 0x7f800000, quiet_bit = 1u << 22;

 private:
#if defined(__CUDA_ARCH__)
  /// Converts by a binary16 that has the same mantissa, and the exponent's bits with its own bias.
  __device__ float float_by_half() const {
    constexpr int half_bias = 15;
    const unsigned magnitude = bits & (sign_bit - 1u);
    const auto half =
        static_cast<std::uint16_t>((bits & sign_bit) << (16 - width) | magnitude << (10 - MantissaBits));
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    if constexpr (bias != half_bias) x *= static_cast<float>(1 << (half_bias - bias));
    if constexpr (!HasInfinity) x = magnitude == quiet_nan ? __builtin_nanf("") : x;
    return x;
  }
#endif

  FANIN_HOST_DEVICE static std::uint32_t float_magnitude(std::uint32_t magnitude) {
    const std::uint32_t shifted = magnitude << (23 - MantissaBits);
    if (magnitude >= after_largest) return float_infinity | (HasInfinity ? shifted : quiet_bit);
    if (magnitude >= implicit_one) return shifted + rebias;
    // A subnormal number is the difference of two normal floats, so that flushing subnormals has no effect.
    constexpr std::uint32_t least = rebias + (1u << 23);
    return __builtin_bit_cast(std::uint32_t,
                              __builtin_bit_cast(float, shifted + least) - __builtin_bit_cast(float, least));
  }

  FANIN_HOST_DEVICE static constexpr word nearest(std::uint32_t x) {
    const std::uint32_t sign = x >> (32 - width) & sign_bit, magnitude = x & 0x7fffffff;
    if (magnitude > float_infinity) return quiet_nan;
    const bool normal = magnitude >> 23 != 0;
    const std::uint32_t mantissa = (magnitude & 0x7fffff) | (normal ? 1u << 23 : 0u);
    const int exponent = (normal ? static_cast<int>(magnitude >> 23) : 1) - 127 + bias;  // biased
    // A shift of 25 or more leaves nothing.
    const int dropped = 23 - MantissaBits + (exponent < 1 ? 1 - exponent : 0), shift = dropped < 25 ? dropped : 25;
    const std::uint32_t last = mantissa >> shift & 1;
    const std::uint32_t rounded = (mantissa + (1u << (shift - 1)) - 1 + last) >> shift;
    // The leading one of a normal number's mantissa adds 1 to the exponent.
    const std::uint32_t result =
        rounded + (static_cast<std::uint32_t>(exponent > 1 ? exponent - 1 : 0) << MantissaBits);
    return static_cast<word>(sign | (result < after_largest ? result : after_largest));
  }
};

/// IEEE binary16, and bfloat16, which has the exponents of a float.
using f16 = narrow<5, 10>;
using bf16 = narrow<8, 7>;
/// The formats of 8 bits of the Open Compute Project. e4m3 has no infinities, and 448 is its largest number.
using e5m2 = narrow<5, 2>;
using e4m3 = narrow<4, 3, false>;

template <class T>
inline constexpr bool is_narrow = false;
template <int ExponentBits, int MantissaBits, bool HasInfinity>
inline constexpr bool is_narrow<narrow<ExponentBits, MantissaBits, HasInfinity>> = true;
template <class T>
concept narrow_float = is_narrow<T>;

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
template <int ExponentBits, int MantissaBits, bool HasInfinity>
class std::numeric_limits<fanin::narrow<ExponentBits, MantissaBits, HasInfinity>> {
  using number = fanin::narrow<ExponentBits, MantissaBits, HasInfinity>;

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = HasInfinity, is_iec559 = HasInfinity;
  static constexpr bool has_quiet_NaN = true, has_signaling_NaN = false;
  static constexpr bool is_bounded = true, is_modulo = false, traps = false, tinyness_before = false;
  static constexpr auto has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr auto round_style = std::round_to_nearest;
  static constexpr int radix = 2, digits = MantissaBits + 1, digits10 = MantissaBits * 301 / 1000;
  static constexpr int max_digits10 = 2 + digits * 301 / 1000;
  static constexpr int min_exponent = 2 - number::bias, max_exponent = number::bias + (HasInfinity ? 1 : 2);
  static constexpr int min_exponent10 = (min_exponent - 1) * 301 / 1000, max_exponent10 = max_exponent * 301 / 1000;
  static constexpr number min() noexcept { return number::of_bits(number::implicit_one); }
  static constexpr number max() noexcept { return number::of_bits(number::after_largest - 1u); }
  static constexpr number lowest() noexcept {
    return number::of_bits(number::sign_bit | (number::after_largest - 1u));
  }
  static constexpr number epsilon() noexcept {
    return number::of_bits(static_cast<unsigned>(number::bias - MantissaBits) << MantissaBits);
  }
  static constexpr number round_error() noexcept {
    return number::of_bits(static_cast<unsigned>(number::bias - 1) << MantissaBits);
  }
  static constexpr number infinity() noexcept { return number::of_bits(number::after_largest); }
  static constexpr number quiet_NaN() noexcept { return number::of_bits(number::quiet_nan); }
  static constexpr number signaling_NaN() noexcept { return quiet_NaN(); }
  static constexpr number denorm_min() noexcept { return number::of_bits(1); }
};
/// @endcond
