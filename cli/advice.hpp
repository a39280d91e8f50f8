// SPDX-License-Identifier: Apache-2.0
// Advice for words of other tools that fanin has under no name.
#pragma once

#include <string_view>

namespace fanin::cli {

/// What to do instead of the option `word` of the subcommand: one sentence, or nothing.
std::string_view advice_on_option(std::string_view subcommand, std::string_view word);

}  // namespace fanin::cli
