// SPDX-License-Identifier: Apache-2.0
// The text of docs/ladder.md, which is compiled into the command.
#pragma once

#include <string>
#include <string_view>

namespace fanin::cli {

/// The whole text of docs/ladder.md.
extern const std::string_view lesson;

/// The section about one stage, from its heading to the next heading. Empty if there is none.
std::string_view page_of(std::string_view stage);

}  // namespace fanin::cli
