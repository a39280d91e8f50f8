// SPDX-License-Identifier: Apache-2.0
// The input of a subcommand: which format it has, and its elements, in memory at once or block by block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/request.hpp>

#include "cli/input/byte_reader.hpp"
#include "cli/input/mapped_file.hpp"
#include "cli/input/npy.hpp"
#include "cli/input/text_parser.hpp"

namespace fanin::cli {

/// The options that describe the input. Words stay as the user typed them, so that messages can repeat them.
struct input_options {
  std::string path = {};    ///< "-": standard input
  std::string format = {};  ///< npy, raw, text, csv; empty: by the first bytes, other options, extension
  std::string type = {};    ///< element type; required for raw
  bool integers = true;     ///< text, csv: without `type`, columns of integers alone are i64 or u64, and not f64
  std::uint64_t skip = 0;   ///< raw: bytes before the first element
  std::optional<std::uint64_t> count = {};          ///< raw: elements; default: all
  std::string column = {};                          ///< csv: see column_choice
  std::string by = {};                              ///< csv: the columns of the records' keys, see text_layout
  default_columns columns = default_columns::only;  ///< csv: what an empty `column` means
  std::string delimiter = {};                       ///< text, csv: one character, or "tab"
  bool header = false;                              ///< csv: see text_layout
  bool no_header = false;                           ///< csv: the first record is none; with neither, the records tell
  std::string member = {};                          ///< npy: the name of a member of .npz
  std::string missing = {};                         ///< text, csv: skip, or error; empty: error
  std::string missing_words = {};  ///< text, csv: further words to skip, separated by commas; implies skip
  std::string decimal = {};        ///< text, csv: the decimal character; empty: a point
  std::string thousands = {};      ///< text, csv: the character between thousands; empty: none
  std::uint64_t skip_lines = 0;    ///< text, csv: lines above the first one that is read
  std::string comment = {};        ///< text, csv: the first character of lines that are passed over
  bool keep_lines = false;         ///< text, csv: see source::lines()
  bool can_skip = true;            ///< text, csv: whether `missing` may be skip, for messages

  bool operator==(const input_options&) const = default;
};

/// The last four characters of the path in lower case: names in any case say the format. x.csv.gz gives .csv.
std::string extension(std::string_view path);

/// The format that the extension of a path names; empty if it names none.
std::string_view format_of_name(std::string_view path);

/// Whether missing numbers are left out. @throws usage_error if the word is neither skip nor error
bool skips_missing(const input_options& arguments);

/// A column of an input. An input that is no CSV has one.
struct input_column {
  std::string name = {};      ///< the name of one of several columns, see chosen_column
  std::string heading = {};   ///< the field of the header, once it has been read
  bool has_numbers = true;    ///< text: false if the column is left out unless a number follows
  std::uint64_t missing = 0;  ///< the numbers that were missing, and left out, so far
  /// The type of the last block. In text whose types are inferred, the type may differ from the type of the block
  /// before. It is then u64 or f64, and holds for the numbers before as well: see read_inferred().
  element_type type = element_type::f64;
  /// text: what was rounded so far on reading as `type`, or as f64 if `type` is one of integers.
  rounded_numbers rounded = {};

  /// The numbers that were rounded so far, if the numbers are taken as elements of `as`.
  rounded_numbers rounded_as(element_type as) const { return is_integer(as) ? rounded_numbers{} : rounded; }
};

/// The elements of an input, in blocks.
class block_source {
 public:
  virtual ~block_source() = default;
  /// The next elements of each column, valid until the next call. Columns may have different numbers of them; where
  /// all have none, the input has ended. @throws bad_data, usage_error
  virtual std::span<const array_view> next() = 0;
  /// The columns, in the order of the blocks. Their number and names do not change.
  virtual std::span<const input_column> columns() const = 0;
  /// The keys of the records of CSV so far; null of other input.
  virtual const record_keys* keys() const { return nullptr; }
  /// The lines of the elements so far, if they are kept.
  virtual const element_lines* lines() const { return nullptr; }
  /// The delimiter between fields of CSV.
  virtual char delimiter() const { return ','; }
};

/// Reads `count` binary elements, or all up to the end of the input. With `reject_trailing_bytes`, bytes after the
/// last element are an error.
std::unique_ptr<block_source> binary_blocks(byte_reader& in, element_type type, std::optional<std::uint64_t> count,
                                            bool reject_trailing_bytes);
/// Reads numbers in text; without a type each column has its own. A column that is not left out may be without a
/// number. The header or the first record is read at once if it decides how many columns there are.
std::unique_ptr<block_source> text_blocks(byte_reader& in, std::optional<element_type> type,
                                          const text_layout& layout);

/// An opened input. The constructor checks everything that can be checked before the elements are read.
class source {
 public:
  /// @throws bad_data, usage_error
  explicit source(const input_options& arguments);

  const std::string& name() const noexcept { return reader_.name(); }
  /// Whether the input is the regular file `path`, perhaps by another name.
  bool is_file(const std::string& path) const noexcept { return file_.is_file(path); }
  /// Whether the elements of each column decide its type, which is known when all are read.
  bool infers_types() const noexcept { return infers_types_; }
  /// The type of the elements, unless infers_types().
  element_type type() const noexcept { return type_; }
  /// The types that the elements may turn out to have: one, or where infers_types() i64, u64 and f64.
  std::span<const element_type> possible_types() const noexcept;
  std::string_view format() const noexcept { return format_; }
  bool skips_missing() const noexcept { return skips_missing_; }
  /// The header of an array of .npy or .npz.
  const std::optional<npy_header>& npy() const noexcept { return npy_; }

  /// The columns that are read. There is one column, unless --column asked for several.
  std::span<const input_column> columns() const;
  /// @throws usage_error if --column asked for several columns; `reader`, which takes one, is for the message
  void require_one_column(std::string_view reader) const;

  /// The keys of the records of CSV that have been read, if input_options::by asked for them.
  const record_keys& keys() const { return *blocks_->keys(); }
  /// The lines of the elements of text that have been read; null unless input_options::keep_lines asked for them.
  const element_lines* lines() const { return blocks_ ? blocks_->lines() : nullptr; }
  /// The delimiter between fields of CSV, known once an element has been read.
  char delimiter() const { return blocks_->delimiter(); }

  /// All elements if they lie in a mapped file; otherwise use next().
  const std::optional<array_view>& whole() const noexcept { return whole_; }
  /// The next elements of each column, see block_source.
  std::span<const array_view> next() { return blocks_->next(); }
  /// All elements of a column, as its type. The source copies the elements of all columns into its own memory if
  /// they are not mapped.
  array_view load(std::size_t column = 0);
  /// Call finish() after reading. @throws bad_data if a mapped file has changed meanwhile
  void finish() const;

 private:
  void decompress(const input_options& arguments);
  void open_archive(const input_options& arguments);
  void decide_format(const input_options& arguments, const text_layout& layout);
  void refuse_binary();
  void open_npy(const std::string& said);
  void open_raw(const input_options& arguments);
  bool mappable(std::uint64_t begin) const noexcept { return size_ >= 0 && begin % byte_size(type_) == 0; }
  void open_binary(std::uint64_t begin, std::optional<std::uint64_t> count, bool reject_trailing_bytes);

  descriptor file_;
  byte_reader reader_;
  std::int64_t size_;  ///< bytes in a regular file that is not compressed; otherwise -1
  element_type type_ = element_type::f64;
  std::string format_;
  std::string named_;  ///< the name that says the format: the path, or the name of a member of an archive
  bool skips_missing_ = false, infers_types_ = false;
  std::optional<npy_header> npy_;
  std::unique_ptr<mapped_file> map_;
  std::optional<array_view> whole_;
  input_column whole_column_;
  std::unique_ptr<block_source> blocks_;
  struct loaded_column {
    std::vector<std::byte> bytes;
    element_type type = element_type::f64;
  };
  std::vector<loaded_column> loaded_;  ///< one for each column
};

/// Calls push(column, block) with the blocks of the input, one after the other: a mapped input is one block.
template <class Push>
void for_each_block(source& input, Push push) {
  if (input.whole()) return push(std::size_t{0}, *input.whole());
  for (bool ended = false; !ended;) {
    ended = true;
    const std::span<const array_view> blocks = input.next();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].count == 0) continue;
      ended = false;
      push(i, blocks[i]);
    }
  }
}

/// Calls push(column, piece) with pieces of at most `most_bytes`, which is at least the size of an element.
template <class Push>
void for_each_piece(source& input, std::size_t most_bytes, Push push) {
  for_each_block(input, [&](std::size_t column, const array_view& block) {
    const std::size_t most = most_bytes / byte_size(block.type);
    for (std::size_t first = 0; first < block.count; first += most) {
      push(column, input_views(block).part(first, std::min(most, block.count - first))[0]);
    }
  });
}

}  // namespace fanin::cli
