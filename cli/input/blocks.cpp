// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/input/source.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

class binary_source final : public block_source {
 public:
  binary_source(byte_reader& in, element_type type, std::optional<std::uint64_t> count, bool reject_trailing_bytes)
      : in_(in), type_(type), count_(count), reject_trailing_bytes_(reject_trailing_bytes), column_{.type = type} {}

  std::span<const array_view> next() override {
    in_.skip(delivered_);
    delivered_ = 0;
    const std::size_t width = byte_size(type_);
    const std::uint64_t left = count_ ? *count_ - elements_read_ : block_bytes / width;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, block_bytes / width));
    const auto bytes = in_.peek(wanted * width);
    if (count_ && bytes.size() < wanted * width) {
      throw bad_data(fmt::format("{}: truncated: it ends after {} of {}", in_.name(),
                                 elements_read_ + bytes.size() / width, counted(*count_, "element")));
    }
    if (bytes.size() % width != 0) {
      throw bad_data(fmt::format("{}: the data end inside an element of {}", in_.name(), to_string(type_)));
    }
    if (wanted == 0 && reject_trailing_bytes_ && !in_.peek(1).empty()) {
      throw bad_data(fmt::format("{}: there are bytes after the data that the header describes", in_.name()));
    }
    delivered_ = bytes.size();
    elements_read_ += bytes.size() / width;
    block_ = {bytes.data(), bytes.size() / width, type_};
    return {&block_, 1};
  }
  std::span<const input_column> columns() const override { return {&column_, 1}; }

 private:
  byte_reader& in_;
  element_type type_;
  std::optional<std::uint64_t> count_;
  bool reject_trailing_bytes_;
  input_column column_;
  array_view block_;
  std::uint64_t elements_read_ = 0;
  std::size_t delivered_ = 0;
};

class text_source final : public block_source {
 public:
  text_source(byte_reader& in, std::optional<element_type> type, const text_layout& layout)
      : in_(in), parser_(layout, type, in.name()) {
    while (!parser_.knows_columns() && !ended_) parse_window();
    for (const column_values& one : parser_.columns())
      columns_.push_back({.name = one.name, .has_numbers = !parser_.leaves_out_columns(), .type = one.type});
  }

  std::span<const array_view> next() override {
    const auto has_values = [](const column_values& one) { return !one.bytes.empty(); };
    if (!blocks_.empty()) parser_.clear();
    while (!ended_ && std::ranges::none_of(parser_.columns(), has_values)) parse_window();
    blocks_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column_values& found = parser_.columns()[i];
      blocks_.push_back({found.bytes.data(), found.bytes.size() / byte_size(found.type), found.type});
      columns_[i].missing = found.missing;
      columns_[i].type = found.type;
      columns_[i].rounded = found.rounded;
      columns_[i].heading = found.heading;
      if (has_values(found)) columns_[i].has_numbers = true;
    }
    if (std::ranges::none_of(parser_.columns(), has_values)) leave_out_columns();
    return blocks_;
  }

  std::span<const input_column> columns() const override { return columns_; }
  const record_keys* keys() const override { return parser_.keys(); }
  const element_lines* lines() const override { return parser_.lines(); }
  char delimiter() const override { return parser_.delimiter(); }

 private:
  void parse_window() {
    const auto bytes = in_.peek(window_);
    ended_ = bytes.size() < window_;
    const std::size_t done = parser_.parse(text_of(bytes), ended_);
    in_.skip(done);
    if (done == 0) window_ *= 2;  // A single word or field fills the window.
  }

  /// Says which columns are left out because they have no number. @throws bad_data if all are, or if there is no
  /// record
  void leave_out_columns() const {
    if (!parser_.has_record()) throw bad_data(fmt::format("{}: the input has no records", in_.name()));
    std::vector<std::string> empty;
    for (const input_column& one : columns_) {
      if (!one.has_numbers) empty.push_back(fmt::format("column '{}'", printable(one.name)));
    }
    if (empty.empty()) return;
    if (empty.size() == columns_.size()) throw bad_data(fmt::format("{}: the input has no numbers", in_.name()));
    write_stderr(fmt::format("note: {}: left out {}, which {} no numbers", in_.name(), fmt::join(empty, " and "),
                             empty.size() == 1 ? "has" : "have"));
  }

  byte_reader& in_;
  text_parser parser_;
  std::vector<input_column> columns_;
  std::vector<array_view> blocks_;
  std::size_t window_ = block_bytes;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<block_source> binary_blocks(byte_reader& in, element_type type, std::optional<std::uint64_t> count,
                                            bool reject_trailing_bytes) {
  return std::make_unique<binary_source>(in, type, count, reject_trailing_bytes);
}

std::unique_ptr<block_source> text_blocks(byte_reader& in, std::optional<element_type> type,
                                          const text_layout& layout) {
  return std::make_unique<text_source>(in, type, layout);
}

}  // namespace fanin::cli
