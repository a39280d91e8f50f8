// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/shape.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/options.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

std::vector<std::size_t> parse_counts(const std::string& text) {
  std::vector<std::size_t> counts;
  for (const std::string& word : split(text, ',')) {
    counts.push_back(parse_number<std::uint64_t>("each part of --shape", 0, word));
  }
  return counts;
}

std::vector<std::ptrdiff_t> fortran_strides(std::span<const std::size_t> counts) {
  std::vector<std::ptrdiff_t> strides;
  std::ptrdiff_t next = 1;
  for (const std::size_t count : counts) {
    strides.push_back(next);
    next *= static_cast<std::ptrdiff_t>(count);
  }
  return strides;
}

}  // namespace

std::vector<int> parse_axes(const std::string& text) {
  std::vector<int> axes;
  for (const std::string& word : split(text, ',')) {
    int axis = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), axis);
    if (code != std::errc() || end != word.data() + word.size()) {
      throw usage_error(
          fmt::format("--axis is a number such as 0 or -1, or a list such as '0,2', not '{}'", printable(text)));
    }
    axes.push_back(axis);
  }
  return axes;
}

array_shape shape_of(const source& input, const std::string& said, std::size_t count) {
  const std::optional<npy_header>& header = input.npy();
  array_shape shape{said.empty() ? std::vector{count} : parse_counts(said), {}};
  if (!header) return shape;
  if (!said.empty() && shape.counts != header->shape) {
    throw usage_error(fmt::format("{}: the array has the shape {}, but --shape says {}", input.name(),
                                  shape_text(header->shape), shape_text(shape.counts)));
  }
  shape.counts = header->shape;
  // An array without elements has no element that is apart from another, and its strides could overflow.
  if (header->fortran_order && count > 0) shape.strides = fortran_strides(shape.counts);
  return shape;
}

std::vector<std::size_t> counts_left(std::span<const std::size_t> counts, std::span<const int> along) {
  std::vector<std::size_t> left;
  for (int i = 0, axes = static_cast<int>(counts.size()); i < axes; ++i) {
    const auto is_axis = [&](int named) { return named == i || named + axes == i; };
    if (std::ranges::none_of(along, is_axis)) left.push_back(counts[static_cast<std::size_t>(i)]);
  }
  return left;
}

std::string shape_text(std::span<const std::size_t> counts) {
  return fmt::format("({}{})", fmt::join(counts, ", "), counts.size() == 1 ? "," : "");
}

}  // namespace fanin::cli
