// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// Reads a whole number written as 1000, 1e3 or 10^3.
std::errc read_whole(std::string_view text, std::uint64_t& value) {
  const char* const last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  if (end == last || code == std::errc::invalid_argument) return code;
  if (*end != '^' && *end != 'e' && *end != 'E') return std::errc::invalid_argument;
  std::uint64_t exponent = 0;
  const auto [exponent_end, exponent_code] = std::from_chars(end + 1, last, exponent);
  if (exponent_end != last || exponent_code == std::errc::invalid_argument) return std::errc::invalid_argument;
  if (code != std::errc()) return code;
  const std::uint64_t base = *end == '^' ? std::exchange(value, 1) : 10;
  if (exponent_code != std::errc()) exponent = 64;
  exponent = std::min<std::uint64_t>(exponent, 64);  // More factors overflow, unless they are 0 or 1.
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(value, base, &value)) return std::errc::result_out_of_range;
  }
  return {};
}

}  // namespace

template <class Number>
Number parse_number(const std::string& name, std::uint64_t least, const std::string& text) {
  std::uint64_t value = 0;
  const std::errc code = read_whole(text, value);
  if (code == std::errc::invalid_argument || (code == std::errc() && value < least)) {
    throw usage_error(fmt::format("{} is a whole number of at least {}, not '{}'", name, least, printable(text)));
  }
  if (code != std::errc() || value > std::numeric_limits<Number>::max()) {
    throw usage_error(fmt::format("{}: {} is too large", name, printable(text)));
  }
  return static_cast<Number>(value);
}
template unsigned parse_number(const std::string&, std::uint64_t, const std::string&);
template std::uint64_t parse_number(const std::string&, std::uint64_t, const std::string&);

template <class Number>
void add_number_option(CLI::App& parser, const std::string& name, std::uint64_t least, Number& to,
                       const std::string& description) {
  using whole = std::conditional_t<std::is_same_v<Number, unsigned>, unsigned, std::uint64_t>;
  const auto take = [name, least, &to](const std::string& text) { to = parse_number<whole>(name, least, text); };
  CLI::Option* option = parser.add_option_function<std::string>(name, take, description)->type_name("NUMBER");
  if constexpr (!std::is_same_v<Number, std::optional<std::uint64_t>>) {
    if (to >= least) option->default_str(std::to_string(to));
  }
}
template void add_number_option(CLI::App&, const std::string&, std::uint64_t, unsigned&, const std::string&);
template void add_number_option(CLI::App&, const std::string&, std::uint64_t, std::uint64_t&, const std::string&);
template void add_number_option(CLI::App&, const std::string&, std::uint64_t, std::optional<std::uint64_t>&,
                                const std::string&);

CLI::Option* add_list_option(CLI::App& parser, const std::string& name, std::string& to,
                             const std::string& description) {
  const auto take = [&to](const std::vector<std::string>& words) { to = fmt::format("{}", fmt::join(words, ",")); };
  return parser.add_option_function<std::vector<std::string>>(name, take, description)->expected(1)->take_all();
}

void add_seconds_option(CLI::App& parser, const std::string& name, const std::string& description,
                        double default_seconds, const std::function<void(double)>& take) {
  const auto parse = [name, take](const std::string& text) {
    double seconds = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (code != std::errc() || end != text.data() + text.size() || !(std::isfinite(seconds) && seconds > 0)) {
      throw usage_error(fmt::format("{} is a number of seconds above 0, not '{}'", name, printable(text)));
    }
    take(seconds);
  };
  parser.add_option_function<std::string>(name, parse, description)
      ->type_name("SECONDS")
      ->default_str(fmt::format("{}", default_seconds));
}

void add_budget_option(CLI::App& parser, double default_seconds, const std::function<void(double)>& take) {
  add_seconds_option(parser, "--budget", "seconds that the timing of a case may take", default_seconds, take);
}

void add_method_option(CLI::App& parser, std::string& method) {
  parser.add_option("--method", method, "fast, compensated or exact")->type_name("METHOD");
}

void add_threads_option(CLI::App& parser, unsigned& threads) {
  add_number_option(parser, "--threads", 1, threads, "threads that CPU backends may use (default: all cores)");
}

void add_devices_option(CLI::App& parser, std::vector<int>& devices) {
  const auto take = [&devices](const std::string& text) {
    devices.clear();
    if (text == "all") {
      devices.resize(static_cast<std::size_t>(std::max(1, find_backend("cuda").device_count())));
      return std::iota(devices.begin(), devices.end(), 0);
    }
    for (const std::string& number : split(text, ',')) {
      const unsigned most = std::numeric_limits<int>::max();
      devices.push_back(static_cast<int>(std::min(most, parse_number<unsigned>("--devices", 0, number))));
    }
  };
  parser
      .add_option_function<std::string>("--devices", take,
                                        "GPUs that share the elements, by number from 0, as in '0,1'; or all")
      ->type_name("LIST");
}

void add_run_options(CLI::App& parser, run_options& arguments) {
  parser
      .add_option(
          "--backend", arguments.backend,
          "one backend (an error if it cannot run); or a list in order of preference, as in 'tbb,serial'; or auto")
      ->type_name("NAMES");
  parser
      .add_option("--variant", arguments.variant,
                  "one of the backend's ways to compute the result; 'fanin backends' lists them")
      ->type_name("NAME");
  add_method_option(parser, arguments.method);
  parser
      .add_option(
          "--result", arguments.result,
          "type of the result; with --method exact a result that would be f32 may also be f64 or the element type")
      ->type_name("TYPE");
  parser.add_option("--nan", arguments.nan, "skip leaves NaN out; with propagate (default) NaN take part")
      ->type_name("POLICY");
  add_threads_option(parser, arguments.threads);
  add_devices_option(parser, arguments.devices);
}

void add_backends_option(CLI::App& parser, std::vector<std::string>& names) {
  parser.add_option("--backend", names, "backends (default: all that are usable here, as with auto)")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->envname("FANIN_BACKEND");
}

std::vector<const backend*> chosen_backends(const std::vector<std::string>& names) {
  std::vector<const backend*> all;
  if (names.empty() || names == std::vector<std::string>{"auto"}) {
    std::ranges::copy_if(backends(), std::back_inserter(all),
                         [](const backend* one) { return one->probe().usable(); });
    return all;
  }
  for (const std::string& name : names) {
    all.push_back(&find_backend(name));
    const availability& state = all.back()->probe();
    if (!state.usable()) throw backend_unavailable(fmt::format("{}: {}", name, state.detail));
  }
  return all;
}

options run_options::checked() const {
  options chosen;
  chosen.backend = backend;
  chosen.variant = variant;
  chosen.method = parse_method(method);
  chosen.threads = threads;
  chosen.devices = devices;
  if (!result.empty()) chosen.result = parse_choice<element_type>("result type", result, all_element_types);
  if (!nan.empty()) chosen.nan = parse_choice<nan_policy>("NaN policy", nan, all_nan_policies);
  return chosen;
}

std::optional<fanin::method> parse_method(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_choice<fanin::method>("method", text, all_methods);
}

}  // namespace fanin::cli
