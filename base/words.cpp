// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace fanin::detail {
namespace {

/// The fewest insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string
/// alignment). The case of letters does not count.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const bool equal =
          std::tolower(static_cast<unsigned char>(a[i - 1])) == std::tolower(static_cast<unsigned char>(b[j - 1]));
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (equal ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// The words of other libraries and tools that edits do not lead from, and the words here that mean the same or are
/// nearest in meaning.
struct synonym {
  std::string_view said, meant;
};
constexpr synonym synonyms[] = {
    {"std", "standard_deviation"},
    {"stddev", "standard_deviation"},
    {"stdev", "standard_deviation"},
    {"std_dev", "standard_deviation"},
    {"sd", "standard_deviation"},
    {"var", "variance"},
    {"avg", "mean"},
    {"average", "mean"},
    {"mean_square", "sum_of_squares"},
    {"sum_squares", "sum_of_squares"},
    {"sumsq", "sum_of_squares"},
    {"rms", "norm2"},
    {"l2", "norm2"},
    {"l1", "sum_of_magnitudes"},
    {"sum_abs", "sum_of_magnitudes"},
    {"len", "count"},
    {"size", "count"},
    {"percentile", "quantile"},
    {"total", "sum"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"stats", "describe"},
    {"summary", "describe"},
    {"summarize", "describe"},
    {"info", "describe"},
    {"omit", "skip"},
    {"raise", "propagate"},
    {"--skipna", "--nan"},
    {"--out", "--output"},
    {"--outfile", "--output"},
    {"--group", "--by"},
    {"--group-by", "--by"},
    {"--groupby", "--by"},
    {"--col", "--column"},
    {"-c", "--column"},
    {"--columns", "--column"},
    {"--usecols", "--column"},
    {"--field", "--column"},
    {"-f", "--column"},
    {"-k", "--column"},
    {"--key", "--by"},
    {"--decimal-comma", "--decimal"},
    {"--na", "--missing"},
    {"--na-values", "--missing-words"},
    {"--null", "--missing-words"},
    {"--skiprows", "--skip-lines"},
    {"--skip-rows", "--skip-lines"},
    {"--sort", "--sort-keys"},
    {"--dtype", "--type"},
    {"--jobs", "--threads"},
    {"-j", "--threads"},
    {"--sep", "--delimiter"},
    {"-d", "--delimiter"},
    {"--separator", "--delimiter"},
};

/// An option without the hyphens in front, which all options have.
std::string_view bare(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

/// The known word that is meant, or an empty one.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  const auto said = std::ranges::find(synonyms, word, &synonym::said);
  if (said != std::end(synonyms) && std::ranges::find(known, said->meant) != known.end()) return said->meant;
  std::string_view best;
  std::size_t fewest = std::string_view::npos;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edits(bare(word), bare(candidate));
    if (distance < fewest && distance <= std::max<std::size_t>(1, (bare(candidate).size() + 2) / 3)) {
      best = candidate;
      fewest = distance;
    }
  }
  return best;
}

}  // namespace

std::string printable(std::string_view text) {
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

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view best = nearest(word, known);
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

}  // namespace fanin::detail
