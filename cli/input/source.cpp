#include "cli/input/source.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "backends/words.hpp"
#include "cli/input/npy.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

constexpr std::array<std::string_view, 4> formats = {"npy", "raw", "text", "csv"};

std::string_view extension_format(std::string_view path) {
  if (path.ends_with(".npy")) return "npy";
  if (path.ends_with(".csv") || path.ends_with(".tsv")) return "csv";
  if (path.ends_with(".txt")) return "text";
  if (path.ends_with(".bin") || path.ends_with(".raw")) return "raw";
  return {};
}

char delimiter_of(const input_options& said) {
  if (said.delimiter.empty()) return said.path.ends_with(".tsv") ? '\t' : ',';
  if (said.delimiter == "\\t" || said.delimiter == "tab") return '\t';
  if (said.delimiter.size() == 1 && said.delimiter != "\n" && said.delimiter != "\"") return said.delimiter[0];
  throw usage_error(fmt::format("--delimiter is one character or 'tab', not '{}'", printable(said.delimiter)));
}

void check_options(const input_options& said, std::string_view format) {
  const auto refuse = [&](bool given, std::string_view option, std::string_view meant) {
    if (given) throw usage_error(fmt::format("{} is for {} input, and this is {}", option, meant, format));
  };
  if (format != "raw") {
    refuse(said.skip != 0, "--skip", "raw");
    refuse(said.count.has_value(), "--count", "raw");
  }
  if (format != "csv") {
    refuse(!said.column.empty(), "--column", "csv");
    refuse(said.header, "--header", "csv");
  }
  if (format != "csv" && format != "text") refuse(!said.delimiter.empty(), "--delimiter", "text or csv");
}

}  // namespace

source::source(const input_options& said)
    : file_(said.path), reader_(file_.get(), said.path == "-" ? "standard input" : one_line(said.path)) {
  decide_format(said);
  check_options(said, format_);
  if (!said.type.empty()) type_ = parse_choice<element_type>("element type", said.type, all_element_types);
  if (format_ == "npy") {
    open_npy();
    if (!said.type.empty() && to_string(type_) != said.type) {
      throw usage_error(fmt::format("{}: holds {}, and --type says {}", name(), to_string(type_), said.type));
    }
  } else if (format_ == "raw") {
    open_raw(said);
  } else {
    blocks_ = text_blocks(reader_, type_, {format_ == "csv", delimiter_of(said), said.column, said.header});
  }
}

void source::decide_format(const input_options& said) {
  const bool like_csv = !said.column.empty() || said.header;
  if (!said.format.empty()) {
    if (std::ranges::find(formats, said.format) == formats.end()) {
      throw usage_error(
          fmt::format("unknown format '{}'{}", printable(said.format), detail::suggestion(said.format, formats)));
    }
    format_ = said.format;
  } else if (is_npy(reader_.peek(6))) {
    format_ = "npy";
  } else if (like_csv) {
    format_ = "csv";
  } else if (!extension_format(said.path).empty()) {
    format_ = extension_format(said.path);
  } else {
    format_ = said.skip != 0 || said.count ? "raw" : "text";
  }
  if (said.format.empty() && format_ == "text") refuse_binary();
}

void source::refuse_binary() {
  const auto start = reader_.peek(4096);
  std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const auto odd = std::ranges::find_if(text, [](char c) { return !is_space(c) && (c < 0x20 || c > 0x7e); });
  if (odd == text.end()) return;
  throw bad_data(
      fmt::format("{}: does not look like numbers in text (byte {} is 0x{:02x}); if it is binary, say "
                  "--format raw and --type",
                  name(), &*odd - reinterpret_cast<const char*>(start.data()), static_cast<unsigned char>(*odd)));
}

void source::open_npy() {
  const npy_header header = read_npy_header(reader_);
  type_ = header.type;
  if (file_.size() >= 0) {
    const std::uint64_t promised = header.count * size_of(header.type);
    const std::uint64_t there = static_cast<std::uint64_t>(file_.size()) - header.header_bytes;
    if (there < promised) {
      throw bad_data(fmt::format("{}: truncated: the header promises {} bytes of data and {} are there", name(),
                                 promised, there));
    }
    if (there > promised) {
      throw bad_data(fmt::format("{}: {} bytes behind the data that the header describes", name(), there - promised));
    }
  }
  open_binary(header.header_bytes, header.count, true);
}

void source::open_raw(const input_options& said) {
  if (said.type.empty()) throw usage_error("raw input needs --type");
  if (file_.size() >= 0) {
    const auto size = static_cast<std::uint64_t>(file_.size());
    if (said.skip > size)
      throw bad_data(fmt::format("{}: --skip {} goes beyond its {} bytes", name(), said.skip, size));
    const std::uint64_t there = size - said.skip, width = size_of(type_);
    if (!said.count && there % width != 0) {
      throw bad_data(
          fmt::format("{}: {} bytes are not a whole number of {} elements", name(), there, to_string(type_)));
    }
    if (said.count && *said.count > there / width) {
      throw bad_data(
          fmt::format("{}: --count {} asks for more than its {} elements", name(), *said.count, there / width));
    }
  }
  if (!mappable(said.skip) && reader_.skip(said.skip) < said.skip) {
    throw bad_data(fmt::format("{}: --skip {} goes beyond its end", name(), said.skip));
  }
  open_binary(said.skip, said.count, false);
}

void source::open_binary(std::uint64_t begin, std::optional<std::uint64_t> count, bool exact_end) {
  if (!mappable(begin)) {
    blocks_ = binary_blocks(reader_, type_, count, exact_end);
    return;
  }
  const auto bytes = static_cast<std::size_t>(file_.size());
  map_ = std::make_unique<mapped_file>(file_.get(), bytes, name());
  const std::uint64_t there = (bytes - begin) / size_of(type_);
  whole_ =
      array_view(bytes == 0 ? nullptr : map_->data() + begin, static_cast<std::size_t>(count.value_or(there)), type_);
}

array_view source::load() {
  if (whole_) return *whole_;
  for (array_view block = next(); block.count > 0; block = next()) {
    const auto* bytes = static_cast<const std::byte*>(block.data);
    loaded_.insert(loaded_.end(), bytes, bytes + block.bytes());
  }
  return {loaded_.data(), loaded_.size() / size_of(type_), type_};
}

void source::finish() const {
  if (map_) map_->check_size();
}

}  // namespace fanin::cli
