// Columns of text.
#pragma once

#include <string>
#include <vector>

namespace fanin::cli {

using table_row = std::vector<std::string>;

/// The rows with their columns aligned: the first `left` to the left, the others to the right. Every line, the
/// heading included, ends with a newline and has no white space at its end.
std::string align(const std::vector<table_row>& rows, std::size_t left);

}  // namespace fanin::cli
