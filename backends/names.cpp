// SPDX-License-Identifier: Apache-2.0
// Names of the enumerators, and suggestions for misspelt names.
#include <algorithm>
#include <vector>

#include <fanin/catalog.hpp>
#include <fanin/result.hpp>

#include "backends/words.hpp"

namespace fanin {
namespace {

/// The fewest insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string
/// alignment).
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

/// Whether Value is an enumerator: the compiler prints other values as casts, like (fanin::method)7.
template <auto Value>
constexpr bool is_named() {
  constexpr std::string_view function = __PRETTY_FUNCTION__, before = "Value = ";
  constexpr std::size_t at = function.rfind(before);
  static_assert(at != std::string_view::npos);
  return function[at + before.size()] != '(';
}
static_assert(is_named<operation::sum>() && !is_named<static_cast<operation>(operation_count)>() &&
                  !is_named<static_cast<element_type>(element_count)>() &&
                  !is_named<static_cast<method>(std::size(method_rows))>(),
              "every enumerator has a row in the catalogue");

/// names[value]; "unknown" for a value that is no enumerator.
template <class Enum, class Names>
std::string_view name_of(Enum value, const Names& names) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return i < std::size(names) ? std::string_view(names[i]) : "unknown";
}

}  // namespace

std::string_view to_string(operation what) noexcept {
  const auto i = static_cast<std::size_t>(what);
  return i < operation_count ? operation_rows[i].name : "unknown";
}
std::string_view to_string(element_type type) noexcept {
  static constexpr auto names = detail::for_each_element_row([](const auto& row) { return row.name; });
  return name_of(type, names);
}
std::string_view to_string(method how) noexcept {
  const auto i = static_cast<std::size_t>(how);
  return i < std::size(method_rows) ? method_rows[i].name : "unknown";
}
std::string_view to_string(memory place) noexcept {
  static constexpr std::string_view names[] = {"host", "device"};
  return name_of(place, names);
}
std::string_view to_string(layout kind) noexcept {
  static constexpr std::string_view names[] = {"array", "rows", "segments", "groups"};
  return name_of(kind, names);
}
std::string_view to_string(nan_policy policy) noexcept {
  static constexpr std::string_view names[] = {"propagate", "skip"};
  return name_of(policy, names);
}
std::string_view to_string(reproducibility kind) noexcept {
  static constexpr std::string_view names[] = {"exact", "fixed_order", "run_to_run", "none"};
  return name_of(kind, names);
}
std::string_view to_string(reason why) noexcept {
  static constexpr std::string_view names[] = {"usable",  "not_compiled", "no_driver", "no_device",
                                               "too_old", "unsupported",  "failed",    "wrong_memory"};
  return name_of(why, names);
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
  constexpr std::size_t most_listed = 16;
  std::vector<std::string_view> listed;
  for (const std::string_view one : known) {
    if (std::find(listed.begin(), listed.end(), one) == listed.end()) listed.push_back(one);
  }
  std::string text = best.empty() ? ";" : "; did you mean '" + std::string(best) + "'?";
  if (!best.empty() && listed.size() > most_listed) return text;
  for (const std::string_view one : listed) text += (one == listed.front() ? " there are " : ", ") + std::string(one);
  return listed.empty() ? "" : text;
}

}  // namespace fanin
