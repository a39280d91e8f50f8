// SPDX-License-Identifier: Apache-2.0
// Reductions over many processes, by whatever carries integers between them: MPI, NCCL, torch.distributed, Dask. Each
// participant writes what it knows of its own elements as lanes, 64-bit integers. The transport adds them up lane by
// lane, or takes the largest of each lane. From the result, every participant reads the same value, bit by bit, as
// one process that has all elements: for any number of participants, any distribution of the elements, any tree of
// additions. fanin/mpi.hpp does so over MPI.
//
//   const fanin::lane_format format = fanin::lanes_of(fanin::operation::sum, fanin::element_type::f64);
//   std::vector<std::int64_t> lanes(format.count);
//   fanin::to_lanes(fanin::operation::sum, x, lanes);
//   all_reduce(lanes, format.merge);                                  // the transport's
//   double total;
//   fanin::from_lanes(fanin::operation::sum, fanin::element_type::f64, lanes, total);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <fanin/accumulator/lanes.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// How many lanes a reduction has, and how they are merged.
struct lane_format {
  std::size_t count;
  lane_merge merge;
  /// The lanes from 0 up to `words` - 1 are words of a sum of floats, 32 bits each. Those that are not among the
  /// `short_words` ones from `first_short_word` on are 0 for elements, or products of two, that are 0 or within about
  /// 2^-260 and 2^250, so that a transport may leave them out. No words where leaving some out would not pay.
  std::size_t words = 0, first_short_word = 0, short_words = 0;
};

/// No reduction has more lanes.
inline constexpr std::size_t most_lanes = 288;

/// The lanes of an operation on elements of `type`: of sums, means, sums of squares and of magnitudes, norm2, the
/// variances and standard deviations, dot and vdot, min, max, minmax, max_magnitude, count_nonzero, any and all.
/// @throws unsupported for others: products and log_sum_exp, whose order matters or whose partial results do not
/// add, and argmin and argmax, whose positions need to know how many elements other participants have (mpi.hpp)
FANIN_API lane_format lanes_of(operation what, element_type type);

/// Writes the lanes of this participant's elements, of which there may be none: then they change nothing.
/// Up to 2^21 participants with up to 2^63 elements in all. Reproducible: exact; floats are added exactly, whatever
/// the operation's default method is. The lanes of the same elements may differ, the value of merged lanes does not.
/// report::bound is that of the value; report::absent counts this participant's elements.
/// Memory: as the verbs. `inputs` may be in host memory, or of an operation with sums, in what a named backend reads.
/// Threads: safe to call concurrently.   Cost: one read of the elements.
/// @throws as reduce(); invalid_argument for another number of lanes than lanes_of() says, for another method than
/// exact where one of them rounds, or if options::result is set
FANIN_API report to_lanes(operation what, const input_views& inputs, std::span<std::int64_t> out,
                          const options& chosen = {});

/// The value of merged lanes, which are not checked: they have to come from to_lanes() of this operation and type.
/// The result's type is one that the operation has with method::exact.
/// @throws invalid_argument if the elements together are too few for a value, or for memory of another type or number
/// of lanes; overflow if an integer value does not fit
FANIN_API void from_lanes(operation what, element_type type, std::span<const std::int64_t> merged,
                          const result_view& value);

}  // namespace fanin
