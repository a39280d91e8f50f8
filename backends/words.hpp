// Words for messages: foreign text made harmless, and the known word nearest to a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fanin::detail {

/// For text that comes out of a file or off the command line: at most 60 bytes of it, all but printable ASCII as
/// \xNN.
std::string printable(std::string_view text);

/// "; did you mean 'word'?" with the known word fewest edits away, or "" if none is within a third of its length.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace fanin::detail
