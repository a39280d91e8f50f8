#include "cli/options.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include <fanin/backend.hpp>

#include "cli/errors.hpp"
#include "cli/text.hpp"

namespace fanin::cli {

namespace {

void check_backend_names(std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, comma);
    if (!name.empty() && name != "auto") find_backend(name);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

}  // namespace

void add_input_options(CLI::App& parser, input_options& said, bool required) {
  parser.add_option("FILE", said.path, "input file; - is standard input")->required(required);
  parser.add_option("--format", said.format, "npy, raw, text or csv; found out by itself if not given");
  parser.add_option("--type", said.type, "element type: f32 f64 i32 i64 u32 u64 (raw needs it; text: f64)");
  parser.add_option("--skip", said.skip, "raw: bytes to pass over at the start");
  parser.add_option("--count", said.count, "raw: number of elements to read (default: all)");
  parser.add_option("--column", said.column, "csv: the column, by name or by number from 1");
  parser.add_option("--delimiter", said.delimiter, "text, csv: character between fields, or 'tab' (default: comma)");
  parser.add_flag("--header", said.header, "csv: the first line names the columns");
}

void add_method_option(CLI::App& parser, std::string& method) {
  parser.add_option("--method", method, "fast, compensated or exact");
}

void add_threads_option(CLI::App& parser, std::string& threads) {
  parser.add_option("--threads", threads, "threads that CPU backends may use (default: all cores)");
}

void add_run_options(CLI::App& parser, run_options& said) {
  parser.add_option("--backend", said.backend, "a name (that one or an error), a list 'tbb,serial', or auto");
  parser.add_option("--variant", said.variant, "one of the backend's ways to do it; see 'fanin backends'");
  add_method_option(parser, said.method);
  parser.add_option("--result", said.result, "result type: f32 or f64 (f64 from f32 with --method exact)");
  add_threads_option(parser, said.threads);
}

options run_options::checked() const {
  check_backend_names(backend);
  options chosen;
  chosen.backend = backend;
  chosen.variant = variant;
  chosen.how = parse_method(method);
  chosen.threads = parse_threads(threads);
  if (!result.empty()) chosen.result = parse_choice<element_type>("result type", result, all_element_types);
  return chosen;
}

std::optional<fanin::method> parse_method(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_choice<fanin::method>("method", text, all_methods);
}

unsigned parse_threads(const std::string& text) {
  if (text.empty()) return 0;
  unsigned threads = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (code != std::errc() || end != text.data() + text.size() || threads < 1) {
    throw usage_error(fmt::format("--threads is a number from 1, not '{}'", printable(text)));
  }
  return threads;
}

}  // namespace fanin::cli
