// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/layouts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/batch/shape.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {

namespace {

shaped_batch load_rows(std::span<source* const> inputs, const input_views& views, const batch_options& asked) {
  const std::vector<int> axes = parse_axes(asked.axis);
  const array_shape shape = shape_of(*inputs[0], asked.shape, views.count());
  if (inputs.size() == 2) {
    const array_shape other = shape_of(*inputs[1], asked.shape, views[1].count);
    if (shape.counts != other.counts) {
      throw usage_error(fmt::format("{} has the shape {}, but {} has {}", inputs[0]->name(), shape_text(shape.counts),
                                    inputs[1]->name(), shape_text(other.counts)));
    }
    if (shape.strides != other.strides) {
      throw usage_error(fmt::format("one of {} and {} is in Fortran order; save both in the same order",
                                    inputs[0]->name(), inputs[1]->name()));
    }
  }
  return {rows(views, shape.counts, axes, shape.strides), counts_left(shape.counts, axes)};
}

// Segments and keys are about elements one after the other.
void require_c_order(const source& input, const char* option) {
  if (!input.npy() || !input.npy()->fortran_order || input.npy()->shape.size() < 2) return;
  throw usage_error(
      fmt::format("{}: the array is in Fortran order; save it in C order for {}", input.name(), option));
}

// The number of groups: the largest key and 1.
std::size_t count_groups(const array_view& keys, const std::string& name) {
  std::optional<std::uint64_t> largest;
  with_element(keys.type, [&]<class T>() {
    if constexpr (std::integral<T>) {
      for (const T key : std::span(static_cast<const T*>(keys.data), keys.count)) {
        if (key >= 0) largest = std::max(largest, std::optional<std::uint64_t>(key));
      }
    }
  });
  constexpr std::uint64_t few = 1 << 20, for_each = 16;
  if (!largest) return 0;
  if (*largest < few || *largest / for_each < keys.count) return *largest + 1;
  throw usage_error(
      fmt::format("{}: the largest key is {}, but there are only {} elements; if the keys are right, say --groups",
                  name, *largest, keys.count));
}

shaped_batch load_groups(const input_views& views, source& index, const batch_options& asked) {
  const array_view keys = index.load();
  if (keys.count != views.count()) {
    throw bad_data(fmt::format("{}: there are {} keys for {} elements, and each element needs one", index.name(),
                               keys.count, views.count()));
  }
  const std::size_t count = asked.groups ? *asked.groups : count_groups(keys, index.name());
  const batch many = groups(views, keys, count);
  return {asked.drop_others ? many.drop_others() : many, {count}};
}

}  // namespace

void check_index_path(const batch_options& asked, const std::string& input) {
  if (input == "-" && (asked.segments == "-" || asked.keys == "-")) {
    throw usage_error("standard input is named twice");
  }
}

std::unique_ptr<source> open_index(const batch_options& asked) {
  const std::string& path = !asked.keys.empty() ? asked.keys : asked.segments;
  if (path.empty()) return nullptr;
  auto index = std::make_unique<source>(input_options{.path = path});
  const std::size_t least_bytes = asked.keys.empty() ? sizeof(std::int32_t) : 1;
  if (!index->npy() || !is_integer(index->type()) || byte_size(index->type()) < least_bytes) {
    throw usage_error(fmt::format("{}: {} takes an .npy file of {}, not {} of {}", index->name(), asked.name(),
                                  asked.keys.empty() ? "i32, i64, u32 or u64" : "integers", index->format(),
                                  to_string(index->type())));
  }
  require_c_order(*index, asked.name());
  return index;
}

shaped_batch load_batch(std::span<source* const> inputs, source* index, const batch_options& asked) {
  if (inputs[0]->skips_missing()) {
    throw usage_error(fmt::format("{} does not go with --missing skip, which would change the positions of elements",
                                  asked.name()));
  }
  const input_views views =
      inputs.size() == 2 ? input_views(inputs[0]->load(), inputs[1]->load()) : input_views(inputs[0]->load());
  if (index == nullptr) return load_rows(inputs, views, asked);
  for (const source* input : inputs) require_c_order(*input, asked.name());
  if (!asked.keys.empty()) return load_groups(views, *index, asked);
  const array_view offsets = index->load();
  const batch many = with_input_name(index->name(), [&] { return segments(views, offsets); });
  return {many, {many.result_count}};
}

batch without_results(const batch& many) {
  constexpr std::array<std::size_t, 1> empty_axis = {0};
  static constexpr std::int64_t zero = 0;
  const input_views none = many.inputs.part(0, 0);
  switch (many.kind) {
    case layout::segments:
      return segments(none, array_view(std::span(&zero, 1)));
    case layout::groups:
      return groups(none, array_view(std::span(&zero, 0)), 0);
    default:
      return rows(none, empty_axis, {});
  }
}

}  // namespace fanin::cli
