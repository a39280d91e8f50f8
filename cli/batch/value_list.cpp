// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/value_list.hpp"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "cli/input/npy.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

namespace {

/// The key of JSON for a list of values. A single result has its value under the key `name`.
std::string list_name(const std::string& name) {
  if (name == "value") return "values";
  return name == "index" ? "indices" : name;
}

}  // namespace

value_list::value_list(operation what, element_type type, std::size_t count)
    : what_(what),
      type_(type),
      count_(count),
      width_(with_result_type(what, type, []<class R>() { return sizeof(R); })) {
  if (count > bytes_.max_size() / width_) throw std::bad_alloc();
  bytes_.resize(count * width_);
}

results_view value_list::view() noexcept { return {bytes_.data(), count_, type_, row_of(what_).form}; }

scalar value_list::operator[](std::size_t i) const {
  return with_result_type(what_, type_, [&]<class R>() -> scalar {
    R value;
    std::memcpy(&value, bytes_.data() + i * sizeof value, sizeof value);
    return value;
  });
}

void value_list::set(std::size_t i, const scalar& value) noexcept {
  std::memcpy(bytes_.data() + i * width_, value.data(), width_);
}

json value_list::members() const {
  const bool extremes = row_of(what_).form == result_form::extremes;
  json all = extremes ? json{{"min", json::array()}, {"max", json::array()}} : json{{"values", json::array()}};
  json texts = json::array();
  for (std::size_t i = 0; i < count_; ++i) {
    const scalar value = (*this)[i];
    const json members = members_of(what_, value);
    for (const auto& [name, member] : members.items()) all[list_name(name)].push_back(member);
    texts.push_back(text_of(what_, value));
  }
  all["values_text"] = texts;
  return all;
}

void value_list::save(output_file& file, std::span<const std::size_t> shape) const {
  const bool indexed = row_of(what_).form == result_form::indexed;
  const std::string header = write_npy_header(indexed ? element_type::i64 : type_, shape);
  file.write(std::as_bytes(std::span(header)));
  if (indexed) {
    std::vector<std::uint64_t> indices(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      // The index is the last member of a result.
      std::memcpy(&indices[i], bytes_.data() + (i + 1) * width_ - sizeof indices[i], sizeof indices[i]);
    }
    file.write(std::as_bytes(std::span(indices)));
  } else {
    file.write(bytes_);
  }
  file.commit();
}

}  // namespace fanin::cli
