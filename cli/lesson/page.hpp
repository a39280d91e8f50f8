// The lesson, docs/ladder.md: the copy that was compiled in.
#pragma once

#include <string>
#include <string_view>

namespace fanin::cli {

/// The whole lesson, as in the file.
extern const std::string_view lesson;

/// The part about one stage, from its heading to the next one; empty if there is none.
std::string_view page_of(std::string_view stage);

}  // namespace fanin::cli
