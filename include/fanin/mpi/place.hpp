// SPDX-License-Identifier: Apache-2.0
// The ranks of a reduction over MPI, the ranks that get its value, and the errors of such reductions.
#pragma once

#include <mpi.h>

#include <string>

#include <fanin/error.hpp>

namespace fanin::mpi {

/// A call of MPI failed, and the error handler of the communicator returned. what() has the name of the call and
/// MPI's message. MPI's default handler, MPI_ERRORS_ARE_FATAL, does not return but ends the program.
class mpi_error : public error {
  using error::error;
};

/// Another rank could not do its part. That rank throws its own error. All other ranks that were to get the value
/// throw this error.
class other_rank_failed : public error {
  using error::error;
};

/// The ranks of a communicator, and who gets the value: all of them, or `root` alone.
struct place {
  static constexpr int everyone = -1;
  MPI_Comm comm;
  int root;
  place(MPI_Comm comm_, int root_ = everyone) noexcept : comm(comm_), root(root_) {}
};

namespace detail {

inline void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw mpi_error(std::string(call) + " failed: " + text);
}

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}
inline int rank_count(MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

/// Whether the calling rank gets the value.
inline bool gets_value(const place& where) {
  return where.root == place::everyone || rank_in(where.comm) == where.root;
}

}  // namespace detail

}  // namespace fanin::mpi
