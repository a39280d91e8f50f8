// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/elements.hpp"

#include <cstring>
#include <numeric>
#include <span>

#include "backends/cpu/batch/axes.hpp"

namespace fanin::cli {

namespace {

/// The offsets or the keys as numbers.
std::vector<std::uint64_t> numbers_of(const array_view& index) {
  return with_element(index.type, [&]<class T>() {
    std::vector<std::uint64_t> numbers;
    if constexpr (std::integral<T>) {
      const auto* const entries = static_cast<const T*>(index.data);
      numbers.assign(entries, entries + index.count);
    }
    return numbers;
  });
}

}  // namespace

batch_elements::batch_elements(const batch& many) : many_(many) {
  if (many.kind == layout::segments) begins_ = numbers_of(many.index);
  if (many.kind != layout::groups) return;
  const std::vector<std::uint64_t> keys = numbers_of(many.index);
  begins_.resize(many.result_count + 1);
  const auto is_of_group = [&](std::uint64_t key) { return key < many.result_count; };
  for (const std::uint64_t key : keys) {
    if (is_of_group(key)) ++begins_[key + 1];
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  by_key_.resize(begins_.back());
  std::vector<std::uint64_t> next = begins_;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (is_of_group(keys[i])) by_key_[next[keys[i]]++] = i;
  }
}

void batch_elements::find_places(std::size_t result) {
  if (many_.kind == layout::rows) {
    const auto reduced = cpu::reduced_axes(many_);
    const std::ptrdiff_t first = cpu::axis_walk(cpu::kept_axes(many_), result).here().of_input[0];
    cpu::axis_walk along(reduced);
    places_.resize(cpu::places(reduced));
    for (std::size_t& place : places_) {
      place = static_cast<std::size_t>(first + along.here().of_input[0]);
      along.next();
    }
    return;
  }
  places_.resize(begins_[result + 1] - begins_[result]);
  std::iota(places_.begin(), places_.end(), begins_[result]);
  if (many_.kind == layout::segments) return;
  for (std::size_t& place : places_) place = by_key_[place];
}

array_view batch_elements::of(std::size_t result) {
  find_places(result);
  const std::size_t bytes = byte_size(many_.inputs.type());
  const auto inputs = static_cast<std::size_t>(many_.inputs.size());
  copies_.resize(inputs * places_.size() * bytes);
  std::byte* to = copies_.data();
  for (int i = 0; i < many_.inputs.size(); ++i) {
    for (const std::size_t place : places_) {
      std::memcpy(to, static_cast<const std::byte*>(many_.inputs[i].data) + place * bytes, bytes);
      to += bytes;
    }
  }
  return {copies_.data(), inputs * places_.size(), many_.inputs.type()};
}

}  // namespace fanin::cli
