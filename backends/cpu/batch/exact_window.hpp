// SPDX-License-Identifier: Apache-2.0
// The words of exact sums of groups, and the numbers that fit in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <fanin/request.hpp>

namespace fanin::cpu {

/// The sums of a group are formed of the elements, or of the elements and of their squares. Short sums are for groups
/// of floats of similar magnitudes.
enum class exact_terms { elements, moments, short_elements, short_moments };
constexpr bool are_short(exact_terms terms) { return terms >= exact_terms::short_elements; }
constexpr bool have_squares(exact_terms terms) {
  return terms == exact_terms::moments || terms == exact_terms::short_moments;
}

/// The state of a group has four words of 64 bits: word 0 to word 2 of the sum of its elements, and their number. For
/// moments, words 0 to 3 of the sum of the squares follow. Word j of a sum is in units of 2^(u + 40 j), where the
/// unit 2^u of elements is the same for all groups, and the unit of squares is 2^(2 u).
/// A short state has one word of the sum of its elements, for moments two words of the sum of the squares, in units
/// of 2^(2 u + 44 j), and the number of elements.
constexpr std::size_t state_words(exact_terms terms) {
  if (are_short(terms)) return have_squares(terms) ? 4 : 2;
  return have_squares(terms) ? 8 : 4;
}
inline constexpr int word_bits = 40, short_word_bits = 44;
constexpr std::size_t count_word(exact_terms terms) { return terms == exact_terms::short_elements ? 1 : 3; }
constexpr std::size_t first_square_word(exact_terms terms) { return are_short(terms) ? 1 : 4; }

/// How elements are split into words.
struct exact_window {
  exact_terms terms;
  int unit;                                ///< u
  double constant[3], square_constant[4];  ///< 1.5 * 2^52 units of each word
  double limit;                            ///< magnitudes are below this
  std::uint64_t ignored = 0;               ///< bits that are cleared first: the sign, or none
};

/// At most some 1024 of `count` elements of a floating type, as doubles. at(i) is the address of element i.
std::vector<double> sample_of(std::size_t count, element_type type,
                              const std::function<const void*(std::size_t)>& at);

/// The bits that elements may have above 2^u, if up to `count` of them are added to a sum. Columns have fewer words
/// (exact_split.hpp).
int bits_of_groups(exact_terms terms, std::size_t count);
int bits_of_columns(exact_terms terms, element_type type, std::size_t count);

/// A window for elements like those of a sample, of so many bits. Nothing if more than one in `one_misfit_in`
/// elements of the sample do not fit.
std::optional<exact_window> find_window(const std::vector<double>& sample, element_type type, exact_terms terms,
                                        int bits, std::size_t one_misfit_in);

}  // namespace fanin::cpu
