// SPDX-License-Identifier: Apache-2.0
// Reductions over many processes, by any transport that adds integers: MPI, NCCL, torch.distributed, Dask. Each
// participant writes the state of its own elements as lanes, which are 64-bit integers. The transport adds the lanes
// of all participants, lane by lane, or takes the largest value of each lane. Every participant reads the value from
// these merged lanes. The value has the bits of one process that has all elements, for any number of participants,
// any distribution of the elements, and any order of the additions. fanin/mpi.hpp does all this over MPI.
//
//   const fanin::lane_format format = fanin::lanes_of(fanin::operation::sum, fanin::element_type::f64);
//   std::vector<std::int64_t> lanes(format.count);
//   fanin::to_lanes(fanin::operation::sum, x, lanes);
//   all_reduce(lanes, format.merge);                                  // a function of the transport
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
  /// The lanes from 0 up to `words` - 1 are words of a sum of floats, 32 bits each. The short words are the
  /// `short_words` lanes from `first_short_word` on. If all elements (or products of two) are 0 or within about
  /// 2^-260 and 2^250, all other words are 0, and a transport may leave them out. `words` is 0 if a short message
  /// would save too little.
  std::size_t words = 0, first_short_word = 0, short_words = 0;
};

/// The largest number of lanes of any reduction.
inline constexpr std::size_t most_lanes = 288;

/// The lanes of an operation on elements of `type`. The operations are sums, means, sums of squares and of
/// magnitudes, norm2, variances and standard deviations, dot and vdot, min, max, minmax, max_magnitude,
/// count_nonzero, any and all.
/// @throws unsupported for the others. The partial results of products and log_sum_exp do not add without rounding.
/// argmin and argmax need to know how many elements other participants have (mpi.hpp has them)
FANIN_API lane_format lanes_of(operation what, element_type type);

/// Writes the lanes of this participant's elements. The lanes of no elements change nothing when they are merged.
/// There may be up to 2^21 participants, with up to 2^63 elements in all.
/// Reproducible: exact. Floats are added exactly, whatever the operation's default method is. Two calls with the same
/// elements may write different lanes, but the value of merged lanes is the same.
/// report::bound is the bound of the value. report::absent counts this participant's elements.
/// Memory: as the verbs. `inputs` is in host memory. For operations with sums it may be in any memory that the named
/// backend reads.
/// Threads: safe to call concurrently.   Cost: one read of the elements.
/// @throws as reduce(); invalid_argument if there are not as many lanes as lanes_of() says, if the method is not
/// exact and the operation rounds, or if options::result is set
FANIN_API report to_lanes(operation what, const input_views& inputs, std::span<std::int64_t> out,
                          const options& chosen = {});

/// The value of merged lanes. The lanes have to come from to_lanes() of this operation and type, which is not
/// checked. The result has a type that the operation offers with method::exact.
/// @throws invalid_argument if all elements together are too few for a value, or if the number of lanes or the type
/// of the result is wrong; overflow if an integer value does not fit
FANIN_API void from_lanes(operation what, element_type type, std::span<const std::int64_t> merged,
                          const result_view& value);

}  // namespace fanin
