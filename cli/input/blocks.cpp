// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "cli/input/source.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

class binary_source final : public block_source {
 public:
  binary_source(byte_reader& in, element_type type, std::optional<std::uint64_t> count, bool reject_trailing_bytes)
      : in_(in), type_(type), count_(count), reject_trailing_bytes_(reject_trailing_bytes) {}

  array_view next() override {
    in_.skip(delivered_);
    delivered_ = 0;
    const std::size_t width = size_of(type_);
    const std::uint64_t left = count_ ? *count_ - elements_read_ : block_bytes / width;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, block_bytes / width));
    const auto bytes = in_.peek(wanted * width);
    if (count_ && bytes.size() < wanted * width) {
      throw bad_data(fmt::format("{}: truncated: it ends after {} of {} elements", in_.name(),
                                 elements_read_ + bytes.size() / width, *count_));
    }
    if (bytes.size() % width != 0) {
      throw bad_data(fmt::format("{}: its end is not a whole {} element", in_.name(), to_string(type_)));
    }
    if (wanted == 0 && reject_trailing_bytes_ && !in_.peek(1).empty()) {
      throw bad_data(fmt::format("{}: more bytes behind the data that the header describes", in_.name()));
    }
    delivered_ = bytes.size();
    elements_read_ += bytes.size() / width;
    return {bytes.data(), bytes.size() / width, type_};
  }

 private:
  byte_reader& in_;
  element_type type_;
  std::optional<std::uint64_t> count_;
  bool reject_trailing_bytes_;
  std::uint64_t elements_read_ = 0;
  std::size_t delivered_ = 0;
};

class text_source final : public block_source {
 public:
  text_source(byte_reader& in, element_type type, text_layout layout)
      : in_(in), type_(type), parser_(std::move(layout), type, in.name()) {}

  array_view next() override {
    values_.clear();
    while (values_.empty() && !ended_) {
      const auto bytes = in_.peek(window_);
      ended_ = bytes.size() < window_;
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const std::size_t done = parser_.parse(text, ended_, values_);
      in_.skip(done);
      if (done == 0) window_ *= 2;  // A single word or field fills the window.
    }
    found_number_ = found_number_ || !values_.empty();
    if (!found_number_) throw bad_data(fmt::format("{}: there is no number in it", in_.name()));
    return {values_.data(), values_.size() / size_of(type_), type_};
  }

 private:
  byte_reader& in_;
  element_type type_;
  text_parser parser_;
  std::vector<std::byte> values_;
  std::size_t window_ = block_bytes;
  bool ended_ = false, found_number_ = false;
};

}  // namespace

std::unique_ptr<block_source> binary_blocks(byte_reader& in, element_type type, std::optional<std::uint64_t> count,
                                            bool reject_trailing_bytes) {
  return std::make_unique<binary_source>(in, type, count, reject_trailing_bytes);
}

std::unique_ptr<block_source> text_blocks(byte_reader& in, element_type type, text_layout layout) {
  return std::make_unique<text_source>(in, type, std::move(layout));
}

}  // namespace fanin::cli
