// SPDX-License-Identifier: Apache-2.0
// The options that ask for many results of one input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace fanin::cli {

struct batch_options {
  std::string axis;                     ///< rows: the axes, separated by commas
  std::string shape;                    ///< rows: the number of places on each axis, separated by commas
  std::string segments;                 ///< the file of the offsets
  std::string keys;                     ///< the file of the keys
  std::optional<std::uint64_t> groups;  ///< default: the largest key and 1
  bool drop_others = false;
  std::string by;  ///< csv: the columns whose text is the key of a group
  bool sort_keys = false, csv = false;
  std::string output;  ///< the .npy to write, of `by` the lines; empty: print the results

  /// Whether many results are asked for.
  bool given() const noexcept { return !axis.empty() || !segments.empty() || !keys.empty() || !by.empty(); }
  /// Whether missing numbers may be left out: the place of an element says to which row or segment it belongs.
  bool takes_missing() const noexcept { return !given() || !by.empty(); }
  /// The option that asks for many results, for messages.
  const char* name() const noexcept {
    if (!by.empty()) return "--by";
    return !axis.empty() ? "--axis" : !segments.empty() ? "--segments" : "--keys";
  }
  /// @throws usage_error if results are to be written, and one is asked for
  void check_output() const;
};

/// Adds the options that say which elements belong to which result.
void add_layout_options(CLI::App& parser, batch_options& arguments);
/// Adds the options of add_layout_options() and --output.
void add_batch_options(CLI::App& parser, batch_options& arguments);
/// Adds --by and --sort-keys. They exclude the options of add_batch_options() that the parser has.
void add_by_options(CLI::App& parser, batch_options& arguments);

}  // namespace fanin::cli
