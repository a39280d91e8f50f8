// SPDX-License-Identifier: Apache-2.0
// The lanes that MPI reduces. Three lanes of status follow the lanes of the reduction. The first one counts the
// ranks that failed. The other two show whether all ranks ask for the same reduction. A rank that fails still
// takes part, so that no other rank waits for it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <vector>

#include <fanin/lanes.hpp>
#include <fanin/mpi/place.hpp>

namespace fanin::mpi::detail {

inline constexpr std::size_t status_lanes = 3;

/// Reductions to a root, and started reductions, send at least as many lanes as the longest sum of real numbers.
/// So the messages of different reductions have the same length, and the status shows whether ranks ask for
/// different reductions.
inline constexpr std::size_t common_lanes = 142;
constexpr std::size_t sent_lanes(std::size_t count) { return std::max(count, common_lanes); }

/// A number below 2^16. Ranks that ask for the same reduction have the same number.
inline std::int64_t signature_of(operation what, element_type type, element_type result, nan_policy nan) {
  return static_cast<std::int64_t>(what) << 10 | static_cast<std::int64_t>(type) << 6 |
         static_cast<std::int64_t>(result) << 2 | static_cast<std::int64_t>(nan);
}

inline MPI_Op op_of(lane_merge how) { return how == lane_merge::sum ? MPI_SUM : MPI_MAX; }

/// The length of a message, as an int for MPI.
inline int length_of(std::size_t lanes) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (lanes > most) throw invalid_argument("one reduction has at most 2^31 - 1 lanes");
  return static_cast<int>(lanes);
}

/// The lanes of a rank that failed. They change nothing in the merged lanes.
inline void fill_neutral(std::span<std::int64_t> lanes, lane_merge how) {
  std::ranges::fill(lanes, how == lane_merge::sum ? 0 : std::numeric_limits<std::int64_t>::min());
}

inline void write_status(std::int64_t* status, lane_merge how, std::int64_t signature, bool failed) {
  status[0] = failed ? 1 : 0;
  status[1] = signature;
  status[2] = how == lane_merge::sum ? signature * signature : -signature;
}

/// Throws if the merged status says that ranks ask for different reductions, or that a rank failed. The signatures
/// of all ranks are equal if the sum of the signatures, and the sum of their squares, are the sums that equal
/// signatures have.
inline void check_status(const std::int64_t* status, lane_merge how, std::int64_t signature, MPI_Comm comm) {
  const std::int64_t ranks = how == lane_merge::sum ? rank_count(comm) : 1;
  if (status[1] != ranks * signature ||
      status[2] != (how == lane_merge::sum ? ranks * signature * signature : -signature)) {
    throw invalid_argument("the ranks ask for different operations, types, results or treatments of NaN");
  }
  if (status[0] != 0) throw other_rank_failed("the reduction failed on another rank");
}

/// The message of one rank. It has the `count` lanes of the reductions, then zeros, then the lanes of status.
/// write() writes the lanes of the reductions. If write() throws, the lanes of this rank change no result, and
/// finish() throws the same exception.
class exchange {
 public:
  template <class Write>
  exchange(std::span<std::int64_t> lanes, std::size_t count, lane_merge how, std::int64_t signature, Write write)
      : lanes_(lanes), how_(how), signature_(signature) {
    const auto own = lanes_.first(count);
    const auto status = lanes_.last(status_lanes);
    try {
      write(own);
    } catch (...) {
      failure_ = std::current_exception();
      fill_neutral(own, how);
    }
    std::fill(own.end(), status.begin(), 0);
    write_status(status.data(), how, signature, failure_ != nullptr);
  }

  void run(const place& where) {
    if (where.root == place::everyone) {
      check(MPI_Allreduce(MPI_IN_PLACE, lanes_.data(), size(), MPI_INT64_T, op(), where.comm), "MPI_Allreduce");
    } else {
      sent_ = {lanes_.begin(), lanes_.end()};
      check(MPI_Reduce(sent_.data(), lanes_.data(), size(), MPI_INT64_T, op(), where.root, where.comm), "MPI_Reduce");
    }
  }

  MPI_Request start(const place& where) {
    MPI_Request started = MPI_REQUEST_NULL;
    if (where.root == place::everyone) {
      check(MPI_Iallreduce(MPI_IN_PLACE, lanes_.data(), size(), MPI_INT64_T, op(), where.comm, &started),
            "MPI_Iallreduce");
    } else {
      sent_ = {lanes_.begin(), lanes_.end()};
      check(MPI_Ireduce(sent_.data(), lanes_.data(), size(), MPI_INT64_T, op(), where.root, where.comm, &started),
            "MPI_Ireduce");
    }
    return started;
  }

  /// The merged lanes of the reductions. Returns false on a rank that gets no value.
  /// @throws what write() threw; other_rank_failed; invalid_argument if the ranks ask for different reductions
  bool finish(const place& where) const {
    if (failure_) std::rethrow_exception(failure_);
    if (!gets_value(where)) return false;
    check_status(lanes_.data() + lanes_.size() - status_lanes, how_, signature_, where.comm);
    return true;
  }

 private:
  int size() const { return length_of(lanes_.size()); }
  MPI_Op op() const { return op_of(how_); }

  std::span<std::int64_t> lanes_;
  lane_merge how_;
  std::int64_t signature_;
  std::exception_ptr failure_;
  std::vector<std::int64_t> sent_;  ///< for a root: MPICH 4.0 writes to the result's memory on every rank
};

}  // namespace fanin::mpi::detail
