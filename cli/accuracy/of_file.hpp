// SPDX-License-Identifier: Apache-2.0
// Whether float would do for the data of a file: sums of the same numbers as f32 and as f64.
#pragma once

#include <string>

#include "cli/input/source.hpp"

namespace fanin::cli {

/// Ten lines of text, or a JSON object: how many numbers change as f32, and how many digits of the exact sum each
/// method gives with f32 and with f64. @throws usage_error, bad_data, fanin::error
std::string accuracy_of_file(const input_options& input, bool as_json);

}  // namespace fanin::cli
