// SPDX-License-Identifier: Apache-2.0
// The layout of text that the options of an input describe.
#pragma once

#include <string_view>

#include "cli/input/source.hpp"
#include "cli/input/text_layout.hpp"

namespace fanin::cli {

/// The layout of text or of CSV, which text_layout::csv is yet to say. `name` says a delimiter by its ending .tsv.
/// @throws usage_error if a value makes no sense
text_layout layout_of(const input_options& arguments, std::string_view name);

/// @throws usage_error if the layout is one of plain text and its numbers would be cut apart
void check_plain_text(const text_layout& layout);

}  // namespace fanin::cli
