// What integer reductions must give, by plain loops in 128 bits.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::test {

/// The value, or nothing where it is the error `overflow`. x is not empty, and integers have that operation.
template <class T>
std::optional<scalar> integer_reference(operation what, std::span<const T> x) {
  using R = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  using detail::int128;
  constexpr int128 beyond = int128{1} << 100;  // stands for every size over 64 bits
  const auto fitting = [](int128 v) -> std::optional<scalar> {
    if (v < std::numeric_limits<R>::min() || v > std::numeric_limits<R>::max()) return {};
    return scalar(static_cast<R>(v));
  };
  int128 total = 0;
  switch (what) {
    case operation::min:
      return scalar(*std::min_element(x.begin(), x.end()));
    case operation::max:
      return scalar(*std::max_element(x.begin(), x.end()));
    case operation::sum:
      for (const T v : x) total += v;
      return fitting(total);
    case operation::mean: {
      for (const T v : x) total += v;
      exact_accumulator<double> quotient;
      quotient.add_scaled(total, 0);
      return scalar(quotient.mean(x.size()));
    }
    case operation::sum_of_squares:
      for (const T v : x) {
        const auto size = static_cast<detail::uint128>(v < 0 ? -static_cast<int128>(v) : static_cast<int128>(v));
        total =
            static_cast<int128>(std::min<detail::uint128>(static_cast<detail::uint128>(total) + size * size, beyond));
      }
      return fitting(total);
    case operation::product: {
      if (std::count(x.begin(), x.end(), T{0}) > 0) return scalar(R{0});
      bool negative = false;
      detail::uint128 magnitude = 1;
      for (const T v : x) {
        negative = negative != (v < 0);
        const auto size = static_cast<std::uint64_t>(v < 0 ? -static_cast<int128>(v) : static_cast<int128>(v));
        if (magnitude >> 64 == 0) magnitude *= size;  // no factor brings it down again
      }
      total = magnitude >> 64 == 0 ? static_cast<int128>(magnitude) : beyond;
      return fitting(negative ? -total : total);
    }
    case operation::norm2:
    case operation::variance:
    case operation::dot:
      break;
  }
  return {};
}

}  // namespace fanin::test
