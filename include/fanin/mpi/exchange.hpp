// SPDX-License-Identifier: Apache-2.0
// Lanes that MPI reduces. Behind those of the reduction are three more: how many ranks failed, and two that tell
// whether all ranks ask for the same. So a rank that fails takes part nevertheless, and no other waits for it.
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

/// A number that is the same for the same request, below 2^16.
inline std::int64_t signature_of(operation what, element_type type, element_type result, nan_policy nan) {
  return static_cast<std::int64_t>(what) << 10 | static_cast<std::int64_t>(type) << 6 |
         static_cast<std::int64_t>(result) << 2 | static_cast<std::int64_t>(nan);
}

/// The most lanes of a short message. Open MPI sends 256 bytes within a node in half the time of 257.
inline constexpr std::size_t short_message = 32;

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
      all_reduce(lanes_, where.comm);
    } else {
      sent_ = {lanes_.begin(), lanes_.end()};
      check(MPI_Reduce(sent_.data(), lanes_.data(), size(), MPI_INT64_T, op(), where.root, where.comm), "MPI_Reduce");
    }
  }

  /// run() for all ranks without the unusual words of one sum, if no rank has any; otherwise it sends all lanes after
  /// it.
  void run_short(const lane_format& format, MPI_Comm comm) {
    const std::size_t behind = lanes_.size() - format.words, count = format.usual + behind;
    std::int64_t few[short_message];
    if (count > std::size(few)) return all_reduce(lanes_, comm);
    std::int64_t* const usual = lanes_.data() + format.first_usual;
    std::int64_t* const others = lanes_.data() + format.words;
    std::int64_t unusual = 0;
    for (const std::int64_t* word = lanes_.data(); word != usual; ++word) unusual |= *word;
    for (const std::int64_t* word = usual + format.usual; word != others; ++word) unusual |= *word;
    std::copy_n(usual, format.usual, few);
    std::copy_n(others, behind, few + format.usual);
    std::int64_t& status = few[count - status_lanes];
    if (unusual != 0) status += has_unusual;
    all_reduce({few, count}, comm);
    if (status >= has_unusual) return all_reduce(lanes_, comm);
    std::copy_n(few, format.usual, usual);
    std::copy_n(few + format.usual, behind, others);
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
  /// Above any number of ranks that failed.
  static constexpr std::int64_t has_unusual = std::int64_t{1} << 32;

  void all_reduce(std::span<std::int64_t> lanes, MPI_Comm comm) const {
    check(MPI_Allreduce(MPI_IN_PLACE, lanes.data(), static_cast<int>(lanes.size()), MPI_INT64_T, op(), comm),
          "MPI_Allreduce");
  }
  int size() const { return static_cast<int>(lanes_.size()); }
  MPI_Op op() const { return how_ == lane_merge::sum ? MPI_SUM : MPI_MAX; }

  std::span<std::int64_t> lanes_;
  lane_merge how_;
  std::int64_t signature_;
  std::exception_ptr failure_;
  std::vector<std::int64_t> sent_;  ///< to a root. MPICH 4.0 writes to the memory for the result on every rank.
};

}  // namespace fanin::mpi::detail
