// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/request.hpp>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fanin::cli {

/// Parses a whole number of at least `least`, as in "1000", "1e3" or "2^10". `name` is the option's name in messages.
/// @throws usage_error
template <class Number>
Number parse_number(const std::string& name, std::uint64_t least, const std::string& text);
extern template unsigned parse_number(const std::string&, std::uint64_t, const std::string&);
extern template std::uint64_t parse_number(const std::string&, std::uint64_t, const std::string&);

/// Adds an option that takes a whole number of at least `least`. CLI11's own options would read -3 as 2^64 - 3. The
/// value of `to` is the default that help shows. @throws usage_error, when the command line is parsed
template <class Number>
void add_number_option(CLI::App& parser, const std::string& name, std::uint64_t least, Number& to,
                       const std::string& description);
extern template void add_number_option(CLI::App&, const std::string&, std::uint64_t, unsigned&, const std::string&);
extern template void add_number_option(CLI::App&, const std::string&, std::uint64_t, std::uint64_t&,
                                       const std::string&);
extern template void add_number_option(CLI::App&, const std::string&, std::uint64_t, std::optional<std::uint64_t>&,
                                       const std::string&);

/// Adds an option whose words are separated by commas. The option may be given several times.
CLI::Option* add_list_option(CLI::App& parser, const std::string& name, std::string& to,
                             const std::string& description);

/// Adds an option that takes seconds. `default_seconds` is the default that help shows; `take` is called with a
/// number that is given. @throws usage_error, when the command line is parsed
void add_seconds_option(CLI::App& parser, const std::string& name, const std::string& description,
                        double default_seconds, const std::function<void(double)>& take);
/// Adds --budget SECONDS, as add_seconds_option() does.
void add_budget_option(CLI::App& parser, double default_seconds, const std::function<void(double)>& take);

/// The options of a reduction, as the user typed them.
struct run_options {
  std::string backend, variant, method, result, nan;
  unsigned threads = 0;      ///< 0: all cores
  std::vector<int> devices;  ///< empty: the backend's own choice

  /// The library's options, which refer to these. The library itself checks the names of backends and variants.
  /// @throws usage_error if another word is unknown
  options checked() const;
};
void add_method_option(CLI::App& parser, std::string& method);
void add_threads_option(CLI::App& parser, unsigned& threads);
/// Adds --devices, a list of numbers, or all. Without any device, all is device 0, whose absence the library
/// explains.
void add_devices_option(CLI::App& parser, std::vector<int>& devices);
void add_run_options(CLI::App& parser, run_options& arguments);

/// Adds --backend with a list of names. The environment variable FANIN_BACKEND stands in for it, as it does in the
/// library for --backend of a reduction.
void add_backends_option(CLI::App& parser, std::vector<std::string>& names);
/// The backends of these names; for none and for "auto" all that are usable here.
/// @throws invalid_argument if a name is unknown, backend_unavailable if a named backend is not usable
std::vector<const backend*> chosen_backends(const std::vector<std::string>& names);

/// The method of that name, or nothing if `text` is empty. @throws usage_error
std::optional<fanin::method> parse_method(const std::string& text);

}  // namespace fanin::cli
