// "did you mean": the known word nearest to a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fanin::detail {

/// "; did you mean 'word'?" with the known word fewest edits away, or "" if none is within a third of its length.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace fanin::detail
