// What comes back: a value, and a report of who formed it and what it is worth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fanin/request.hpp>

namespace fanin {

/// For which changes the bits of a result stay the same.
enum class reproducibility : std::uint8_t {
  exact,        ///< same multiset of values: any order, split, backend, machine
  fixed_order,  ///< same values in the same order: any CPU backend, thread count, instruction set
  run_to_run,   ///< same device, same build, elements at the same place in a line of 128 bytes
  none,         ///< may differ from one call to the next
};
std::string_view to_string(reproducibility) noexcept;

/// A value of one of the element types.
using scalar = std::variant<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

/// A proven bound: |value - exact| <= of_result * |exact| + of_magnitudes * M + absolute, where M is the sum of |x_i|
/// (of x_i^2 for sum_of_squares, of |x_i| / n for mean). It holds as long as the sum
/// of the magnitudes (before a mean's division) is
/// at most half the largest finite value, so that no intermediate value overflows; in a product, as long as none
/// over- or underflows. Infinite coefficients mean that nothing is promised (too many elements for the precision).
struct error_bound {
  double of_result = 0;
  double of_magnitudes = 0;
  double absolute = 0;
};

/// Why a backend cannot be used, here or for this request.
enum class reason : std::uint8_t {
  usable,
  not_compiled,  ///< this build left it out
  no_driver,     ///< no GPU driver on this machine
  no_device,     ///< a driver, but no device it may use
  too_old,       ///< driver or device older than what the build needs
  unsupported,   ///< usable, but not for this request
  wrong_memory,  ///< the data lies where this backend does not work
};
std::string_view to_string(reason) noexcept;

/// A backend that a list or `auto` preferred but could not take.
struct passed_over {
  std::string_view backend;
  reason why = reason::usable;
  std::string detail;  ///< one sentence
};

/// What a backend returns.
struct outcome {
  scalar value;
  std::string_view variant;
  method how = method::fast;
  fanin::reproducibility reproducibility = reproducibility::none;
  error_bound bound;
};

/// How a value came to be. Names point to static storage.
struct report {
  std::string_view backend;
  std::string_view variant;
  method how = method::fast;
  fanin::reproducibility reproducibility = reproducibility::none;
  error_bound bound;
  std::vector<passed_over> fallback;  ///< in the order they were tried; empty when the first choice served
};

template <class Value>
struct result {
  Value value;
  fanin::report report;
};

}  // namespace fanin
