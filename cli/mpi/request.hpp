// SPDX-License-Identifier: Apache-2.0
// The request that `fanin_mpi` gets, and this rank's part of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/input/source.hpp"
#include "cli/kit/options.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli::mpi {

struct request {
  std::string operation;
  std::vector<std::string> files;  ///< one, or two of dot and vdot
  input_options input;
  run_options how;
  bool json = false;
};

/// @throws usage_error, CLI::CallForHelp, CLI::CallForVersion
request parse(int argc, char** argv);
/// The text that help prints.
std::string help();

/// The inputs of a reduction. Every rank maps the files and reads a part.
class opened_request {
 public:
  /// @throws usage_error, bad_data, fanin::error
  explicit opened_request(const request& asked);

  /// The number of elements of each input.
  std::uint64_t count() const { return count_; }
  /// A positive number that is the same on ranks that are asked for the same of inputs of the same type.
  std::int64_t fingerprint() const { return fingerprint_; }
  /// The reduction of the parts of all ranks. Its value is the value of all elements. Its report counts the absent
  /// elements of this rank. @throws as fanin::mpi::reduce
  finished_reduction reduce();

 private:
  operation what_;
  options chosen_;
  std::vector<std::unique_ptr<source>> inputs_;
  std::uint64_t count_ = 0;
  std::int64_t fingerprint_ = 0;
};

}  // namespace fanin::cli::mpi
