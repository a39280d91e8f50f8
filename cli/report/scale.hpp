// Numbers to places along an axis, and the ticks that a reader expects there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fanin::cli::charts {

enum class scaling : std::uint8_t { linear, log2, log10 };

struct tick {
  double at;
  std::string label;
};

class scale {
 public:
  /// Holds all the values, and ends at round numbers. On a logarithmic scale 0 stands below everything else, with a
  /// tick of its own.
  scale(scaling kind, std::span<const double> values, std::size_t most_ticks);
  /// The names at equal distances; a tick for some of them if there are more than `most_ticks`.
  scale(std::span<const std::string> names, std::size_t most_ticks);

  /// From 0 at the low end to 1 at the high end.
  double place(double value) const;
  const std::vector<tick>& ticks() const { return ticks_; }

 private:
  void set_linear(double least, double most, std::size_t most_ticks);
  void set_logarithmic(double base, double least, double most, std::size_t most_ticks, bool zero);
  double position(double value) const;

  double base_ = 0, low_ = 0, high_ = 1;  // base 0: linear; otherwise low and high are exponents
  std::vector<tick> ticks_;
};

/// 0.25, 1500, 10⁻⁷.
std::string number_text(double value);
/// "2²⁰" for powers of two, the number otherwise.
std::string count_text(double count);

}  // namespace fanin::cli::charts
