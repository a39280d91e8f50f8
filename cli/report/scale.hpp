// SPDX-License-Identifier: Apache-2.0
// Maps numbers to positions on an axis, and chooses the ticks of the axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fanin::cli::charts {

/// `lengths` is logarithmic, and its ticks are the values themselves: no tick stands where nothing was measured.
enum class scaling : std::uint8_t { linear, log10, lengths };

struct tick {
  double at;
  std::string label;
};

/// Whether a logarithmic axis shows `value`: 0, and 1e-100 to 1e100, so far from the ends of double that no tick and
/// no margin leaves it.
constexpr bool is_drawable(double value) { return value == 0 || (value >= 1e-100 && value <= 1e100); }

class scale {
 public:
  /// A scale that contains all values. It ends at round numbers, or at the least and the most of lengths. On a
  /// logarithmic scale 0 is below all other values and has a tick of its own; lengths are above 0.
  scale(scaling kind, std::span<const double> values, std::size_t most_ticks);
  /// A scale with the names at equal distances. If there are more than `most_ticks` names, only some of them have a
  /// tick.
  scale(std::span<const std::string> names, std::size_t most_ticks);

  /// The position of `value`, from 0 at the low end to 1 at the high end.
  double place(double value) const;
  const std::vector<tick>& ticks() const { return ticks_; }

 private:
  void set_linear(double least, double most, std::size_t most_ticks);
  void set_logarithmic(double least, double most, std::size_t most_ticks, bool zero);
  void set_lengths(std::span<const double> values, std::size_t most_ticks);
  double position(double value) const;

  bool logarithmic_ = false;
  double low_ = 0, high_ = 1;  // The ends, or for a logarithmic scale their decimal logarithms.
  std::vector<tick> ticks_;
};

/// A number as a label, as in "0.25", "1500" or "10⁻⁷".
std::string number_text(double value);
/// A count as a label: a power of two from 1024 on as in "2²⁰", any other number as number_text() has it.
std::string count_text(double count);

}  // namespace fanin::cli::charts
