// SPDX-License-Identifier: Apache-2.0
// The input of a subcommand: which format it has, and its elements, in memory at once or block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fanin/request.hpp>

#include "cli/input/byte_reader.hpp"
#include "cli/input/mapped_file.hpp"
#include "cli/input/text_parser.hpp"

namespace fanin::cli {

/// The options that describe the input. Words stay as the user typed them, so that messages can repeat them.
struct input_options {
  std::string path = {};    ///< "-": standard input
  std::string format = {};  ///< npy, raw, text, csv; empty: by the first bytes, other options, extension
  std::string type = {};    ///< element type; required for raw
  std::uint64_t skip = 0;   ///< raw: bytes before the first element
  std::optional<std::uint64_t> count = {};  ///< raw: elements; default: all
  std::string column = {};                  ///< csv: see text_layout
  std::string delimiter = {};               ///< text, csv: one character, or "tab"
  bool header = false;                      ///< csv: see text_layout

  bool operator==(const input_options&) const = default;
};

/// The elements of an input, in blocks.
class block_source {
 public:
  virtual ~block_source() = default;
  /// The next elements, valid until the next call; a count of 0 means the end. @throws bad_data, usage_error
  virtual array_view next() = 0;
};

/// Reads `count` binary elements, or all up to the end of the input. With `reject_trailing_bytes`, bytes after the
/// last element are an error.
std::unique_ptr<block_source> binary_blocks(byte_reader& in, element_type type, std::optional<std::uint64_t> count,
                                            bool reject_trailing_bytes);
/// Reads numbers in text. Text without a number is an error.
std::unique_ptr<block_source> text_blocks(byte_reader& in, element_type type, text_layout layout);

/// An opened input. The constructor checks everything that can be checked before the elements are read.
class source {
 public:
  /// @throws bad_data, usage_error
  explicit source(const input_options& arguments);

  const std::string& name() const noexcept { return reader_.name(); }
  /// Whether the input is the regular file `path`, perhaps by another name.
  bool is_file(const std::string& path) const noexcept { return file_.is_file(path); }
  element_type type() const noexcept { return type_; }
  std::string_view format() const noexcept { return format_; }

  /// All elements if they lie in a mapped file; otherwise use next().
  const std::optional<array_view>& whole() const noexcept { return whole_; }
  array_view next() { return blocks_->next(); }
  /// All elements. The source copies them into its own memory if they are not mapped.
  array_view load();
  /// Call finish() after reading. @throws bad_data if a mapped file has changed meanwhile
  void finish() const;

 private:
  void decide_format(const input_options& arguments);
  void refuse_binary();
  void open_npy();
  void open_raw(const input_options& arguments);
  bool mappable(std::uint64_t begin) const noexcept { return file_.size() >= 0 && begin % size_of(type_) == 0; }
  void open_binary(std::uint64_t begin, std::optional<std::uint64_t> count, bool reject_trailing_bytes);

  descriptor file_;
  byte_reader reader_;
  element_type type_ = element_type::f64;
  std::string format_;
  std::unique_ptr<mapped_file> map_;
  std::optional<array_view> whole_;
  std::unique_ptr<block_source> blocks_;
  std::vector<std::byte> loaded_;
};

}  // namespace fanin::cli
