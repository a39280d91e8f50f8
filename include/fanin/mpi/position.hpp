// SPDX-License-Identifier: Apache-2.0
// Smallest and largest elements with their positions among the elements of all ranks. The elements of rank 0 come
// first.
#pragma once

#include <mpi.h>

#include <limits>

#include <fanin/fanin.hpp>
#include <fanin/mpi/exchange.hpp>
#include <fanin/mpi/inputs.hpp>

namespace fanin::mpi::detail {

/// A pair that MPI_MAXLOC reduces with the type MPI_LONG_INT. `owner` is a rank of MPI. `rank_of_element` is a
/// number of accumulator::rank_of(), and the largest one wins. If several are equal, the lowest `owner` wins.
struct candidate {
  long rank_of_element;
  int owner;
};
static_assert(sizeof(long) == sizeof(std::int64_t), "the order of elements of 64 bits is that of `long`");

/// Whether elements of this rank take part.
inline bool has_elements(const input_views& inputs, bool largest, const options& chosen) {
  const bool may_be_absent = inputs.mask() || chosen.nan == nan_policy::skip;
  if (inputs.count() == 0 || !may_be_absent) return inputs.count() > 0;
  std::int64_t lanes[2];
  to_lanes(largest ? operation::max : operation::min, inputs, lanes, chosen);
  return lanes[1] > 0;
}

/// Finds the first smallest or largest element of all ranks. One reduction finds the element and its owner.
/// Another reduction adds up how many elements the ranks before the owner have.
template <class T>
report reduce_position(operation what, const inputs_of_rank& in, indexed<T>* value, const place& where,
                       const options& chosen) {
  const input_views& inputs = in.views;
  const bool largest = row_of(what).seeks == extremity::greatest;
  const auto order = [largest](computed_as<T> x) {
    return largest ? accumulator::rank_of<true>(x) : accumulator::rank_of<false>(x);
  };
  const auto element = [largest](std::int64_t rank) {
    using wide = computed_as<T>;
    return T(largest ? accumulator::of_rank<true, wide>(rank) : accumulator::of_rank<false, wide>(rank));
  };
  constexpr int nobody = std::numeric_limits<int>::max();
  const int self = rank_in(where.comm);
  candidate best{std::numeric_limits<long>::min(), nobody};
  indexed<T> own{};
  report done;
  std::exception_ptr failure;
  try {
    in.check();
    if (has_elements(inputs, largest, chosen)) {
      done = fanin::reduce(what, inputs, own, chosen);
      best = {order(own.value), self};
    }
  } catch (...) {
    failure = std::current_exception();
  }
  check(MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_LONG_INT, MPI_MAXLOC, where.comm), "MPI_Allreduce");

  std::int64_t lanes[1 + status_lanes];
  exchange sent(lanes, 1, lane_merge::sum, signature_of(what, inputs.type(), inputs.type(), chosen.nan),
                [&](auto position) {
                  if (failure) std::rethrow_exception(failure);
                  const std::size_t before = self < best.owner ? inputs.count() : self == best.owner ? own.index : 0;
                  position[0] = static_cast<std::int64_t>(before);
                });
  sent.run(where);
  if (!sent.finish(where)) return done;
  if (best.owner == nobody) {
    throw invalid_argument(std::string(to_string(what)) + " of an empty array");
  }
  *value = {element(best.rank_of_element), static_cast<std::uint64_t>(lanes[0])};
  return done;
}

}  // namespace fanin::mpi::detail
