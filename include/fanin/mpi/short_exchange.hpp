// SPDX-License-Identifier: Apache-2.0
// One reduction to all ranks by a short message.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>

#include <fanin/mpi/exchange.hpp>
#include <fanin/mpi/inputs.hpp>
#include <fanin/short_lanes.hpp>

namespace fanin::mpi::detail {

/// The number of lanes of a short message. All short reductions to all ranks send this many lanes, so the status
/// shows whether ranks ask for different reductions. Open MPI sends 256 bytes within a node in half the time of
/// 257 bytes.
inline constexpr std::size_t short_message = 32;
static_assert(fanin::detail::most_short_lanes + status_lanes == short_message);

/// Reduces by a short message, which has `count` of the lanes. If another lane of a rank is not 0, the short
/// message of the rank says so, and then all ranks send all lanes.
inline report reduce_short(operation what, const inputs_of_rank& in, const result_view& value, MPI_Comm comm,
                           const options& chosen, const lane_format& format, std::size_t count) {
  const input_views& inputs = in.views;
  constexpr std::int64_t has_other_words = std::int64_t{1} << 32;  // larger than any number of ranks
  std::int64_t own[short_message], merged[short_message], memory[most_lanes];
  std::int64_t* const own_status = own + fanin::detail::most_short_lanes;
  std::int64_t* const status = merged + fanin::detail::most_short_lanes;
  const std::span<std::int64_t> few(own, count), all(memory, format.count);
  const std::int64_t signature = signature_of(what, inputs.type(), value.type, chosen.nan);
  report done;
  std::exception_ptr failure;
  bool is_short = true;
  try {
    in.check();
    is_short = fanin::detail::to_short_lanes(what, inputs, few, all, chosen, done);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure || !is_short) fill_neutral(few, format.merge);
  std::fill(few.data() + count, own_status, 0);
  write_status(own_status, format.merge, signature, failure != nullptr);
  if (!is_short) *own_status += has_other_words;
  check(MPI_Allreduce(own, merged, short_message, MPI_INT64_T, op_of(format.merge), comm), "MPI_Allreduce");

  if (failure) std::rethrow_exception(failure);
  const bool all_lanes_follow = *status >= has_other_words;
  *status %= has_other_words;
  check_status(status, format.merge, signature, comm);
  if (!all_lanes_follow) {
    fanin::detail::from_short_lanes(what, inputs.type(), std::span(merged).first(count), value);
    return done;
  }
  if (is_short) fanin::detail::expand_lanes(format, few, all);
  check(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_SUM, comm),
        "MPI_Allreduce");
  from_lanes(what, inputs.type(), all, value);
  return done;
}

}  // namespace fanin::mpi::detail
