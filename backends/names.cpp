// Names of the enumerators, and suggestions for names that are none.
#include <algorithm>
#include <vector>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "backends/words.hpp"

namespace fanin {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

template <class Enum, std::size_t N>
std::string_view name_of(Enum value, const std::string_view (&names)[N]) noexcept {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view to_string(operation what) noexcept {
  return name_of(what, {"sum", "product", "min", "max", "sum_of_squares", "mean", "norm2", "variance", "dot"});
}
std::string_view to_string(element_type type) noexcept {
  return name_of(type, {"f32", "f64", "i32", "i64", "u32", "u64"});
}
std::string_view to_string(method how) noexcept { return name_of(how, {"fast", "compensated", "exact"}); }
std::string_view to_string(memory place) noexcept { return name_of(place, {"host", "device"}); }
std::string_view to_string(reproducibility kind) noexcept {
  return name_of(kind, {"exact", "fixed_order", "run_to_run", "none"});
}
std::string_view to_string(reason why) noexcept {
  return name_of(why, {"usable", "not_compiled", "no_driver", "no_device", "too_old", "unsupported", "wrong_memory"});
}

std::string detail::printable(std::string_view text) {
  constexpr std::size_t longest = 60;
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return text.size() > longest ? shown + "..." : shown;
}

std::string detail::suggestion(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t fewest = std::string_view::npos;
  for (std::string_view candidate : known) {
    const std::size_t distance = edits(word, candidate);
    if (distance < fewest && distance <= std::max<std::size_t>(1, (candidate.size() + 2) / 3)) {
      best = candidate;
      fewest = distance;
    }
  }
  return best.empty() ? std::string() : "; did you mean '" + std::string(best) + "'?";
}

}  // namespace fanin
