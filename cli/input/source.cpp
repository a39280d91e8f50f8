// SPDX-License-Identifier: Apache-2.0
#include "cli/input/source.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/words.hpp"
#include "cli/input/column_choice.hpp"
#include "cli/input/compression.hpp"
#include "cli/input/inferred_number.hpp"
#include "cli/input/layout_options.hpp"
#include "cli/input/npz.hpp"
#include "cli/input/table_guess.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

constexpr std::array<std::string_view, 4> formats = {"npy", "raw", "text", "csv"};

/// A format that fanin does not read.
struct foreign_format {
  std::string_view magic;  ///< the file's first bytes
  std::string_view what, advice;
};
using namespace std::string_view_literals;
constexpr std::array foreign_formats = {
    foreign_format{"\xfd"
                   "7zXZ\0"sv,
                   "xz data", "'xz -dc' unpacks it, and 'fanin SUBCOMMAND -' reads a pipe"},
    foreign_format{"BZh"sv, "bzip2 data", "'bzip2 -dc' unpacks it, and 'fanin SUBCOMMAND -' reads a pipe"},
    foreign_format{"PK\x05\x06"sv, "an empty zip archive", "there is nothing in it to reduce"},
    foreign_format{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "an Excel workbook (.xls)",
                   "save the sheet as CSV, or convert it: 'soffice --convert-to csv FILE'"},
    foreign_format{"SQLite f"sv, "an SQLite database", "'sqlite3 -csv FILE \"SELECT ...\"' writes CSV"},
    foreign_format{"PAR1"sv, "a Parquet file", "DuckDB or pyarrow converts it to CSV"},
    foreign_format{"\x89HDF\r\n\x1a\n"sv, "an HDF5 file", "'h5dump -d DATASET -b LE -o x.bin' writes raw data"},
    foreign_format{"ARROW1"sv, "an Arrow file", "pyarrow converts it to CSV"},
    foreign_format{"FEA1"sv, "a Feather file", "pyarrow converts it to CSV"},
};

/// The offset behind the characters of UTF-8 at the front of a text that are no control characters but white space.
std::size_t end_of_text(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80 && !is_space(text[at]) && (first < 0x20 || first == 0x7f)) break;
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xc2 ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                               : first < 0xf5 ? 4
                                              : 0;
    const std::string_view rest = text.substr(at, length).substr(std::min<std::size_t>(length, 1));
    const bool continues = std::ranges::all_of(rest, [](char c) { return (c & 0xc0) == 0x80; });
    if (length == 0 || rest.size() + 1 < length || !continues) break;
    at += length;
  }
  return at;
}

void refuse_foreign_format(byte_reader& in) {
  const std::string_view bytes = text_of(in.peek(8));
  for (const foreign_format& one : foreign_formats) {
    if (bytes.starts_with(one.magic)) {
      throw bad_data(
          fmt::format("{}: this looks like {}, which fanin does not read; {}; if it is something else, say --format",
                      in.name(), one.what, one.advice));
    }
  }
}

void check_options(const input_options& arguments, std::string_view format) {
  const auto refuse = [&](bool given, std::string_view option, std::string_view meant) {
    if (given) throw usage_error(fmt::format("{} is for {} input, and this is {}", option, meant, format));
  };
  if (format != "raw") {
    refuse(arguments.skip != 0, "--skip", "raw");
    refuse(arguments.count.has_value(), "--count", "raw");
  }
  if (format != "csv") {
    refuse(!arguments.column.empty(), "--column", "csv");
    refuse(arguments.header, "--header", "csv");
    refuse(arguments.no_header, "--no-header", "csv");
  }
  for (const auto& [words, option] : {std::pair(arguments.column, "--column"), std::pair(arguments.by, "--by")}) {
    if (!arguments.no_header || !column_choice(words).has_name()) continue;
    throw usage_error(
        fmt::format("{} {} is a name, and --no-header says that there are none", option, printable(words)));
  }
  if (format != "csv" && format != "text") {
    refuse(!arguments.delimiter.empty(), "--delimiter", "text or csv");
    refuse(!arguments.missing.empty(), "--missing", "text or csv");
    refuse(!arguments.missing_words.empty(), "--missing-words", "text or csv");
    refuse(!arguments.decimal.empty(), "--decimal", "text or csv");
    refuse(!arguments.thousands.empty(), "--thousands", "text or csv");
    refuse(arguments.skip_lines != 0, "--skip-lines", "text or csv");
    refuse(!arguments.comment.empty(), "--comment", "text or csv");
  }
}

/// The type of the elements behind the header, where the user said `said`, or nothing.
element_type type_of_npy(const npy_header& header, std::string_view said, const std::string& name) {
  const std::vector<element_type> meant = types_to_say(header);
  if (said.empty() && meant.empty()) return header.type;
  if (said.empty()) {
    std::vector<std::string_view> names;
    for (const element_type one : meant) names.push_back(to_string(one));
    throw usage_error(
        fmt::format("{}: the header says only that an element has {}; if the elements are {}, say --type {}", name,
                    byte_size(header.type) == 1 ? "one byte" : "two bytes", fmt::join(names, " or "),
                    fmt::join(names, " or --type ")));
  }
  for (const element_type one : meant) {
    if (to_string(one) == said) return one;
  }
  if (to_string(header.type) == said) return header.type;
  throw usage_error(fmt::format("{}: holds {}, and --type says {}", name, to_string(header.type), said));
}

}  // namespace

std::string extension(std::string_view path) {
  path = name_inside(path);
  std::string end(path.substr(path.size() - std::min<std::size_t>(path.size(), 4)));
  for (char& c : end) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return end;
}

std::string_view format_of_name(std::string_view path) {
  const std::string end = extension(path);
  if (end == ".npy") return "npy";
  if (end == ".csv" || end == ".tsv") return "csv";
  if (end == ".txt") return "text";
  if (end == ".bin" || end == ".raw") return "raw";
  return {};
}

bool skips_missing(const input_options& arguments) {
  constexpr std::array<std::string_view, 2> words = {"skip", "error"};
  if (!arguments.missing.empty() && std::ranges::find(words, arguments.missing) == words.end()) {
    throw usage_error(fmt::format("--missing is skip or error, not '{}'", printable(arguments.missing)));
  }
  if (arguments.missing == "error" && !arguments.missing_words.empty()) {
    throw usage_error("--missing-words names words to skip, but --missing error skips none; leave one of them out");
  }
  return arguments.missing == "skip" || !arguments.missing_words.empty();
}

source::source(const input_options& arguments)
    : file_(arguments.path),
      reader_(file_.get(), input_name(arguments.path)),
      size_(file_.size()),
      named_(arguments.path) {
  if (!arguments.type.empty()) type_ = parse_choice<element_type>("element type", arguments.type, all_element_types);
  decompress(arguments);
  open_archive(arguments);
  text_layout layout = layout_of(arguments, named_);
  decide_format(arguments, layout);
  check_options(arguments, format_);
  if (format_ == "npy") {
    open_npy(arguments.type);
  } else if (format_ == "raw") {
    open_raw(arguments);
  } else {
    layout.csv = format_ == "csv";
    if (!layout.csv) check_plain_text(layout);
    skips_missing_ = layout.skip_missing;
    infers_types_ = arguments.type.empty() && arguments.integers;
    blocks_ = text_blocks(reader_, infers_types_ ? std::nullopt : std::optional(type_), layout);
  }
}

// Raw data may begin with any bytes, so they are compressed only if their name says so. Text in a pipe is not
// waited for, so faults of the command line are found first.
void source::decompress(const input_options& arguments) {
  if (arguments.format == "raw" && name_inside(arguments.path) == arguments.path) return;
  const bool later = size_ < 0 && (arguments.format == "text" || arguments.format == "csv");
  if (later) {
    reader_ = byte_reader(decompressed_when_read(std::move(reader_)), input_name(arguments.path));
  } else if (is_compressed(reader_.peek(4))) {
    reader_ = byte_reader(decompressed(std::move(reader_)), input_name(arguments.path));
    size_ = -1;
  }
}

// Raw data may begin with any bytes, and text in a pipe is not waited for.
void source::open_archive(const input_options& arguments) {
  const bool is_text = arguments.format == "text" || arguments.format == "csv";
  const bool may_be_archive =
      arguments.format == "raw" ? extension(arguments.path) == ".zip" : !is_text || size_ >= 0;
  if (!may_be_archive || !is_zip(reader_.peek(4))) {
    if (!arguments.member.empty()) throw usage_error(fmt::format("{}: --member is for .npz and .zip input", name()));
    return;
  }
  if (size_ < 0)
    throw bad_data(fmt::format(
        "{}: fanin reads a zip archive from a file, not from a pipe or from compressed data; name the file", name()));
  const std::string member =
      arguments.member.empty() ? "" : fmt::format(": member '{}'", printable(arguments.member));
  zip_member opened = open_zip_member(file_.get(), arguments.member, name());
  reader_ = byte_reader(std::move(opened.bytes), input_name(arguments.path) + member);
  named_ = opened.name;
  size_ = -1;
}

void source::decide_format(const input_options& arguments, const text_layout& layout) {
  const bool like_csv = !arguments.column.empty() || arguments.header || arguments.no_header;
  const std::string_view by_name = format_of_name(named_);
  if (!arguments.format.empty()) {
    if (std::ranges::find(formats, arguments.format) == formats.end()) {
      throw usage_error(fmt::format("unknown format '{}'{}", printable(arguments.format),
                                    detail::suggestion(arguments.format, formats)));
    }
    format_ = arguments.format;
    return;
  }
  if (is_npy(reader_.peek(6))) {
    format_ = "npy";
  } else if (like_csv) {
    format_ = "csv";
  } else if (!by_name.empty() && by_name != "text") {
    format_ = by_name;
  } else if (by_name.empty() && (arguments.skip != 0 || arguments.count)) {
    format_ = "raw";
  }
  refuse_foreign_format(reader_);
  if (!format_.empty()) return;
  const std::string_view front = text_of(reader_.peek(most_guessed_bytes + 1));
  const bool is_all = front.size() <= most_guessed_bytes;
  const text_numbers numbers(type_, layout, name());
  format_ = is_table(front.substr(0, most_guessed_bytes), is_all, layout, numbers) ? "csv" : "text";
  if (format_ == "text") refuse_binary();
}

void source::refuse_binary() {
  constexpr std::size_t most = 4096;
  const std::string_view start = text_of(reader_.peek(most));
  if (!utf16_name(start).empty()) return;  // The parser says so.
  const std::size_t odd = end_of_text(start);
  if (odd == start.size() || (start.size() == most && odd + 4 > most)) return;  // A character may be cut.
  throw bad_data(
      fmt::format("{}: does not look like numbers in text (byte {} is 0x{:02x}); if it is binary, say "
                  "--format raw and --type",
                  name(), odd + 1, static_cast<unsigned char>(start[odd])));
}

void source::open_npy(const std::string& said) {
  npy_ = read_npy_header(reader_);
  const npy_header& header = *npy_;
  type_ = type_of_npy(header, said, name());
  if (size_ >= 0) {
    const std::uint64_t promised = header.count * byte_size(header.type);
    const std::uint64_t available = static_cast<std::uint64_t>(size_) - header.header_bytes;
    if (available < promised) {
      throw bad_data(fmt::format("{}: truncated: the header promises {} of data, and the file has {}", name(),
                                 counted(promised, "byte"), available));
    }
    if (available > promised) {
      throw bad_data(fmt::format("{}: {} after the data that the header describes", name(),
                                 counted(available - promised, "byte")));
    }
  }
  open_binary(header.header_bytes, header.count, true);
}

void source::open_raw(const input_options& arguments) {
  if (arguments.type.empty()) throw usage_error("raw input needs --type");
  if (size_ >= 0) {
    const auto size = static_cast<std::uint64_t>(size_);
    if (arguments.skip > size)
      throw bad_data(fmt::format("{}: --skip {} goes beyond its {}", name(), arguments.skip, counted(size, "byte")));
    const std::uint64_t available = size - arguments.skip, width = byte_size(type_);
    if (!arguments.count && available % width != 0) {
      throw bad_data(fmt::format("{}: {} {} not a whole number of {} elements", name(), counted(available, "byte"),
                                 available == 1 ? "is" : "are", to_string(type_)));
    }
    if (arguments.count && *arguments.count > available / width) {
      throw bad_data(fmt::format("{}: --count {} asks for more than its {}", name(), *arguments.count,
                                 counted(available / width, "element")));
    }
  }
  if (!mappable(arguments.skip) && reader_.skip(arguments.skip) < arguments.skip) {
    throw bad_data(fmt::format("{}: --skip {} goes beyond its end", name(), arguments.skip));
  }
  open_binary(arguments.skip, arguments.count, false);
}

void source::open_binary(std::uint64_t begin, std::optional<std::uint64_t> count, bool reject_trailing_bytes) {
  if (!mappable(begin)) {
    blocks_ = binary_blocks(reader_, type_, count, reject_trailing_bytes);
    return;
  }
  const auto bytes = static_cast<std::size_t>(size_);
  map_ = std::make_unique<mapped_file>(file_.get(), bytes, name());
  const std::uint64_t available = (bytes - begin) / byte_size(type_);
  whole_ = array_view(bytes == 0 ? nullptr : map_->data() + begin,
                      static_cast<std::size_t>(count.value_or(available)), type_);
  whole_column_.type = type_;
}

std::span<const input_column> source::columns() const {
  return blocks_ ? blocks_->columns() : std::span(&whole_column_, 1);
}

std::span<const element_type> source::possible_types() const noexcept {
  static constexpr std::array inferred = {element_type::i64, element_type::u64, element_type::f64};
  return infers_types_ ? std::span<const element_type>(inferred) : std::span(&type_, 1);
}

void source::require_one_column(std::string_view reader) const {
  if (columns().size() > 1) throw usage_error(fmt::format("{} takes one column, not several", reader));
}

array_view source::load(std::size_t column) {
  if (whole_) return *whole_;
  if (loaded_.empty()) {
    for (const input_column& one : columns()) loaded_.push_back({.bytes = {}, .type = one.type});
    for_each_block(*this, [&](std::size_t i, const array_view& block) {
      auto& [loaded, type] = loaded_[i];
      if (block.type == element_type::f64 && type != block.type) round_to_f64(loaded, type);
      type = block.type;
      const auto* bytes = static_cast<const std::byte*>(block.data);
      loaded.insert(loaded.end(), bytes, bytes + block.bytes());
    });
  }
  const loaded_column& one = loaded_[column];
  return {one.bytes.data(), one.bytes.size() / byte_size(one.type), one.type};
}

void source::finish() const {
  if (map_) map_->check_unchanged();
}

}  // namespace fanin::cli
