// SPDX-License-Identifier: Apache-2.0
// Which elements of opened inputs belong to which result.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fanin/batch.hpp>

#include "cli/batch/options.hpp"
#include "cli/input/source.hpp"

namespace fanin::cli {

/// A batch, and the shape that its results have as an array.
struct shaped_batch {
  batch many;
  std::vector<std::size_t> shape;
};

/// @throws usage_error if standard input is both the input and the offsets or keys
void check_index_path(const batch_options& asked, const std::string& input);
/// The offsets or the keys; null for rows. @throws usage_error unless they are an .npy of such integers
std::unique_ptr<source> open_index(const batch_options& asked);
/// Loads the elements of the inputs, and `index`. @throws usage_error, bad_data, invalid_argument
shaped_batch load_batch(std::span<source* const> inputs, source* index, const batch_options& asked);
/// A batch of the same layout without results. Its reduction fails if the options are wrong, with any input.
batch without_results(const batch& many);

}  // namespace fanin::cli
