// SPDX-License-Identifier: Apache-2.0
// Text for messages: untrusted text with escapes, and suggestions for a misspelt word.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fanin::detail {

/// The first 60 bytes of `text`, with every byte but printable ASCII written as \xNN, and "..." if there are more.
/// Messages show text from files and from the command line so.
std::string printable(std::string_view text);

/// "; did you mean 'word'? there are ..." with the nearest known word and then all of them. The nearest word is
/// the known word that other libraries call `word`, or else the known word that is fewest edits away. The question
/// is left out if every word is more edits away than a third of its length. Leading hyphens do not count. If the
/// question is asked, more than 16 words are not listed.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace fanin::detail
