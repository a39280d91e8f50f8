// SPDX-License-Identifier: Apache-2.0
#include "cli/report/scale.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

namespace fanin::cli::charts {

namespace {

std::string power_text(int base, int exponent) {
  constexpr std::string_view digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = std::to_string(base);
  for (const char c : std::to_string(exponent)) text += c == '-' ? "⁻" : digits[c - '0'];
  return text;
}

double decade_of(double value) { return std::pow(10, std::floor(std::log10(value) + 1e-9)); }

/// The smallest of 1, 2, 5, 10, 20, ... that is at least `least`.
double round_up(double least) {
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade_of(least) >= least * (1 - 1e-9)) return factor * decade_of(least);
  }
  return 10 * decade_of(least);
}

/// The largest of 1, 2, 5, 10, 20, ... that is at most `most`.
double round_down(double most) {
  for (const double factor : {5.0, 2.0}) {
    if (factor * decade_of(most) <= most * (1 + 1e-9)) return factor * decade_of(most);
  }
  return decade_of(most);
}

}  // namespace

std::string number_text(double value) {
  const double size = std::abs(value);
  if (value == 0 || (size >= 1e-3 && size < 1e3)) return fmt::format("{:.3g}", value);
  if (size >= 1e3 && size < 1e5) return fmt::format("{:.0f}", value);
  const double rounding = 1 + 5e-4;  // 9.997 has the three digits of 10.0.
  const int exponent = static_cast<int>(std::floor(std::log10(size * rounding)));
  const std::string power = power_text(10, exponent), factor = fmt::format("{:.3g}", value / std::pow(10, exponent));
  return factor == "1" ? power : fmt::format("{}·{}", factor, power);
}

std::string count_text(double count) {
  int exponent;
  if (std::frexp(count, &exponent) == 0.5 && count >= 1024) return power_text(2, exponent - 1);
  return number_text(count);
}

scale::scale(scaling kind, std::span<const double> values, std::size_t most_ticks)
    : logarithmic_(kind != scaling::linear) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  bool zero = false;
  for (const double value : values) {
    if (logarithmic_ && value <= 0) {
      zero = true;
      continue;
    }
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (least > most) least = most = 1;
  if (kind == scaling::linear) set_linear(least, most, most_ticks);
  if (kind == scaling::log10) set_logarithmic(least, most, most_ticks, zero);
  if (kind == scaling::lengths) set_lengths(values, most_ticks);
}

void scale::set_linear(double least, double most, std::size_t most_ticks) {
  const double span = most > least ? most - least : std::max(std::abs(most), 1.0);
  const double step = round_up(span / static_cast<double>(most_ticks));
  const double first = std::floor(least / step + 1e-9);
  const double last = std::max(std::ceil(most / step - 1e-9), first + 1);
  low_ = first * step;
  high_ = last * step;
  for (double i = first; i <= last; ++i) ticks_.push_back({i * step, number_text(i * step)});
}

void scale::set_logarithmic(double least, double most, std::size_t most_ticks, bool zero) {
  low_ = position(round_down(least));
  high_ = std::max(position(round_up(most)), position(round_up(1.1 * least)));
  const double step = std::ceil((high_ - low_) / static_cast<double>(most_ticks));
  const bool dense = high_ - low_ <= 2;
  const bool powers = least < 1e-3 || high_ > 5 - 1e-9;  // Then all labels are powers of ten.
  const auto add = [&](double value, const std::string& label) {
    const double at = position(value);
    if (at > low_ - 1e-9 && at < high_ + 1e-9) ticks_.push_back({value, label});
  };
  for (double i = std::floor(low_ / step) * step; i <= high_ + 1e-9; i += step) {
    const double power = std::pow(10, i);
    add(power, powers ? power_text(10, static_cast<int>(i)) : number_text(power));
    if (!dense) continue;
    for (const double factor : {2.0, 5.0}) add(factor * power, number_text(factor * power));
  }
  if (!zero) return;
  low_ -= step;
  ticks_.push_back({0, "0"});
}

void scale::set_lengths(std::span<const double> values, std::size_t most_ticks) {
  std::vector<double> lengths(values.begin(), values.end());
  std::ranges::sort(lengths, std::greater());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  if (lengths.empty()) return;
  low_ = position(lengths.back());
  high_ = position(lengths.front());
  if (low_ == high_) {
    low_ -= 0.5;
    high_ += 0.5;
  }
  // The largest length has a tick, and each next one that is far enough from the tick before.
  const double apart = 1 / static_cast<double>(most_ticks) - 1e-9;
  for (const double one : lengths) {
    if (ticks_.empty() || place(ticks_.back().at) - place(one) >= apart) ticks_.push_back({one, count_text(one)});
  }
  std::ranges::reverse(ticks_);
}

scale::scale(std::span<const std::string> names, std::size_t most_ticks) {
  low_ = -0.5;
  high_ = static_cast<double>(names.size()) - 0.5;
  const std::size_t step = (names.size() + most_ticks - 1) / most_ticks;
  for (std::size_t i = 0; i < names.size(); i += step) ticks_.push_back({static_cast<double>(i), names[i]});
}

double scale::position(double value) const {
  if (!logarithmic_) return value;
  return value <= 0 ? low_ : std::log10(value);
}

double scale::place(double value) const { return (position(value) - low_) / (high_ - low_); }

}  // namespace fanin::cli::charts
