// SPDX-License-Identifier: Apache-2.0
// Lanes that MPI reduces. Behind those of the reduction are three more: how many ranks failed, and two that tell
// whether all ranks ask for the same. So a rank that fails takes part nevertheless, and no other waits for it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>

#include <fanin/lanes.hpp>
#include <fanin/mpi/place.hpp>

namespace fanin::mpi::detail {

inline constexpr std::size_t status_lanes = 3;

/// A number that is the same for the same request, below 2^16.
inline std::int64_t signature_of(operation what, element_type type, element_type result, nan_policy nan) {
  return static_cast<std::int64_t>(what) << 10 | static_cast<std::int64_t>(type) << 6 |
         static_cast<std::int64_t>(result) << 2 | static_cast<std::int64_t>(nan);
}

/// What one rank sends. `lanes` has status_lanes more than the reductions take. If write(), which writes those of the
/// reductions, throws, this rank's part changes nothing, and finish() throws the same.
class exchange {
 public:
  template <class Write>
  exchange(std::span<std::int64_t> lanes, lane_merge how, std::int64_t signature, Write write)
      : lanes_(lanes), how_(how), signature_(signature) {
    const auto own = lanes_.first(lanes_.size() - status_lanes);
    try {
      write(own);
    } catch (...) {
      failure_ = std::current_exception();
      std::ranges::fill(own, how == lane_merge::sum ? 0 : std::numeric_limits<std::int64_t>::min());
    }
    std::int64_t* const status = lanes_.data() + own.size();
    status[0] = failure_ ? 1 : 0;
    status[1] = signature;
    status[2] = how == lane_merge::sum ? signature * signature : -signature;
  }

  void run(const place& where) {
    if (where.root == place::everyone) {
      check(MPI_Allreduce(MPI_IN_PLACE, lanes_.data(), size(), MPI_INT64_T, op(), where.comm), "MPI_Allreduce");
    } else if (rank_in(where.comm) == where.root) {
      check(MPI_Reduce(MPI_IN_PLACE, lanes_.data(), size(), MPI_INT64_T, op(), where.root, where.comm), "MPI_Reduce");
    } else {
      check(MPI_Reduce(lanes_.data(), nullptr, size(), MPI_INT64_T, op(), where.root, where.comm), "MPI_Reduce");
    }
  }

  MPI_Request start(const place& where) {
    MPI_Request started = MPI_REQUEST_NULL;
    if (where.root == place::everyone) {
      check(MPI_Iallreduce(MPI_IN_PLACE, lanes_.data(), size(), MPI_INT64_T, op(), where.comm, &started),
            "MPI_Iallreduce");
    } else {
      const bool at_root = rank_in(where.comm) == where.root;
      check(MPI_Ireduce(at_root ? MPI_IN_PLACE : lanes_.data(), at_root ? lanes_.data() : nullptr, size(),
                        MPI_INT64_T, op(), where.root, where.comm, &started),
            "MPI_Ireduce");
    }
    return started;
  }

  /// The merged lanes of the reductions. Returns false on a rank that gets no value.
  /// @throws what write() threw; other_rank_failed; invalid_argument if the ranks ask for different reductions
  bool finish(const place& where) const {
    if (failure_) std::rethrow_exception(failure_);
    if (!gets_value(where)) return false;
    const std::int64_t* const status = lanes_.data() + lanes_.size() - status_lanes;
    const std::int64_t ranks = how_ == lane_merge::sum ? size_of(where.comm) : 1;
    if (status[1] != ranks * signature_ ||
        status[2] != (how_ == lane_merge::sum ? ranks * signature_ * signature_ : -signature_)) {
      throw invalid_argument("the ranks ask for different operations, types, results or treatments of NaN");
    }
    if (status[0] != 0) throw other_rank_failed("the reduction failed on another rank");
    return true;
  }

 private:
  int size() const { return static_cast<int>(lanes_.size()); }
  MPI_Op op() const { return how_ == lane_merge::sum ? MPI_SUM : MPI_MAX; }

  std::span<std::int64_t> lanes_;
  lane_merge how_;
  std::int64_t signature_;
  std::exception_ptr failure_;
};

}  // namespace fanin::mpi::detail
