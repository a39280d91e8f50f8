// SPDX-License-Identifier: Apache-2.0
// Tables of text with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace fanin::cli {

using table_row = std::vector<std::string>;

/// The rows as lines of text. The first `left` columns are aligned to the left, the others to the right. Every line
/// ends with a newline and without trailing spaces.
std::string align(const std::vector<table_row>& rows, std::size_t left);

}  // namespace fanin::cli
