// Options that several subcommands share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <fanin/request.hpp>

#include "cli/input/source.hpp"

namespace CLI {
class App;
}

namespace fanin::cli {

/// FILE and how to read it. `required`: FILE has to be given.
void add_input_options(CLI::App& parser, input_options& said, bool required);

/// The whole number of at least `least` that the text is; `name` says whose it is. @throws usage_error
template <class Number>
Number parse_number(const std::string& name, std::uint64_t least, const std::string& text);
extern template unsigned parse_number(const std::string&, std::uint64_t, const std::string&);
extern template std::uint64_t parse_number(const std::string&, std::uint64_t, const std::string&);

/// An option that takes a whole number of at least `least`. The parser's own would take -3 for 2^64 - 3. Help shows
/// what `to` holds as the default. @throws usage_error, when the command line is parsed
template <class Number>
void add_number_option(CLI::App& parser, const std::string& name, std::uint64_t least, Number& to,
                       const std::string& description);
extern template void add_number_option(CLI::App&, const std::string&, std::uint64_t, unsigned&, const std::string&);
extern template void add_number_option(CLI::App&, const std::string&, std::uint64_t, std::uint64_t&,
                                       const std::string&);
extern template void add_number_option(CLI::App&, const std::string&, std::uint64_t, std::optional<std::uint64_t>&,
                                       const std::string&);

/// --budget SECONDS, for measurements. `usual`: what help shows as the default.
/// @throws usage_error, when the command line is parsed
void add_budget_option(CLI::App& parser, double usual, const std::function<void(double)>& take);

/// How to reduce, as typed.
struct run_options {
  std::string backend, variant, method, result;
  unsigned threads = 0;  ///< 0: all cores

  /// Names of backends and variants are the library's to check. @throws usage_error: another word that names nothing
  options checked() const;
};
void add_method_option(CLI::App& parser, std::string& method);
void add_threads_option(CLI::App& parser, unsigned& threads);
void add_run_options(CLI::App& parser, run_options& said);

/// Empty text gives nothing.
std::optional<fanin::method> parse_method(const std::string& text);

}  // namespace fanin::cli
