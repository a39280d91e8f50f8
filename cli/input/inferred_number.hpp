// SPDX-License-Identifier: Apache-2.0
// Numbers of a column of text whose element type the numbers themselves decide.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>

#include <fanin/request.hpp>

#include "cli/input/text_layout.hpp"

namespace fanin::cli {

/// Appends the number that a word is to a column of i64, u64 or f64. A column that begins as i64 becomes u64 with an
/// integer above 2^63 - 1, if no integer before was negative; and it becomes f64 with any other number that i64 and
/// u64 do not hold, -0 among them. The numbers in to.bytes then become numbers of the new type. A column of f64 stays
/// one. Returns what number_reader returns for f64; the column does not change if the word is no number.
std::errc read_inferred(std::string_view word, column_values& to);

/// Whether a word is an integer of any size: digits, perhaps behind a sign.
bool is_integer(std::string_view word);

/// Rounds integers of type i64 or u64 to f64, in place.
void round_to_f64(std::span<std::byte> integers, element_type from);

}  // namespace fanin::cli
