// SPDX-License-Identifier: Apache-2.0
// Reductions of elements that are on many ranks, over the caller's MPI and communicator. All code for MPI is in
// headers. The program links its MPI, and the library contains no code for MPI.
//
//   double total = fanin::mpi::sum(x, MPI_COMM_WORLD).value;          // x: this rank's elements
//   auto norm = fanin::mpi::norm2(x, {MPI_COMM_WORLD, 0});            // the value on rank 0 only
//   auto later = fanin::mpi::start_dot(x, y, comm);                   // ... and then later.wait().value
//   fanin::mpi::all_reduce(accumulator, comm);                        // your own exact_accumulator
//   fanin::mpi::reduce_each(operation::sum, fields, totals, comm);    // one reduction for 32 sums
//
// Shared by all functions below:
//   Input: the inputs of fanin's verbs, also where(x, mask). A rank may have no elements. Special values are treated
//   as by the verbs.
//   Accuracy: floats are added exactly, and the sum is rounded once. All ranks compute the same bits.
//   Reproducible: the bits of one process that has all elements, for any number of ranks, any distribution and any
//   MPI (exact). For argmin and argmax the elements are in the order of the ranks.
//   Communication: one MPI_Allreduce of integers by MPI_SUM or MPI_MAX, or MPI_Reduce to a root. argmin and argmax
//   take two such calls. Messages have these lengths, in MPI_INT64_T (docs/scale.md has times):
//   - To all ranks: 32, except for variances of floats and complex numbers.
//   - To a root, or started: 145. Variances and complex numbers of f64: up to 286.
//   - If an element of f64 on some rank, or a product of two, is not 0 and not within about 2^-260 and 2^250, sums
//     and dot products to all ranks send 76 or 140 more.
//   Ranks: at most 2^21, with 2^63 elements in all. All ranks of the communicator call the same function, with the
//   same operation, element type and options that change the value. Backend and threads may differ.
//   Errors: if the calls of ranks differ, all ranks get an error. If the messages have the same length, the error is
//   fanin's, and otherwise MPI's. A rank whose part fails throws its error, and the other ranks throw
//   other_rank_failed. With a root, only the root gets an error if other ranks differ or fail.
//   report::absent and report::backend are about this rank. On a rank that does not get the value, the call
//   returns 0. Memory: up to 5 KiB of stack more than the verbs; the heap for started calls, for many fields, and
//   for a root. Threads: the rules of MPI.
//   @throws as the verbs; invalid_argument if options::method is not exact and something is rounded, or if
//   options::result is set; mpi_error, other_rank_failed (mpi/place.hpp)
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/lanes.hpp>
#include <fanin/mpi/exchange.hpp>
#include <fanin/mpi/inputs.hpp>
#include <fanin/mpi/pending.hpp>
#include <fanin/mpi/place.hpp>
#include <fanin/mpi/position.hpp>
#include <fanin/mpi/short_exchange.hpp>
#include <fanin/state.hpp>

namespace fanin::mpi {

namespace detail {

inline report reduce_any(operation what, inputs_of_rank in, const result_view& value, const place& where,
                         const options& chosen) {
  const input_views& inputs = in.views;
  if (row_of(what).form == result_form::indexed) {
    report done;
    if (!in.failure && (value.data == nullptr || value.type != inputs.type() || value.form != result_form::indexed)) {
      in.failure = std::make_exception_ptr(
          invalid_argument("the memory for the result is missing, or of another type than the result"));
    }
    with_result_type(what, inputs.type(), [&]<class R>() {
      if constexpr (result_traits<R>::form == result_form::indexed) {
        done = reduce_position(what, in, static_cast<R*>(value.data), where, chosen);
      }
    });
    return done;
  }
  const lane_format format = lanes_of(what, inputs.type());
  const std::size_t few = fanin::detail::short_lane_count(format);
  if (few > 0 && where.root == place::everyone) {
    return reduce_short(what, in, value, where.comm, chosen, format, few);
  }
  std::int64_t memory[most_lanes + status_lanes];
  const std::size_t count = where.root == place::everyone ? format.count : sent_lanes(format.count);
  const std::span<std::int64_t> lanes(memory, count + status_lanes);
  report done;
  exchange sent(lanes, format.count, format.merge, signature_of(what, inputs.type(), value.type, chosen.nan),
                [&](std::span<std::int64_t> own) {
                  in.check();
                  done = to_lanes(what, inputs, own, chosen);
                });
  sent.run(where);
  if (sent.finish(where)) from_lanes(what, inputs.type(), lanes.first(format.count), value);
  return done;
}

}  // namespace detail

/// The value of an operation that is known only at run time. The operation is argmin, argmax, or one that
/// lanes_of() takes.
inline report reduce(operation what, const input_views& inputs, const result_view& value, const place& where,
                     const options& chosen = {}) {
  return detail::reduce_any(what, {inputs}, value, where, chosen);
}

/// The value of each field, in a single reduction. All fields have the same type, and may have any number of
/// elements. There are as many results as fields. report::absent counts for all fields.   Memory: the lanes of all
/// fields, on the heap.
inline report reduce_each(operation what, std::span<const input_views> fields, const results_view& out,
                          const place& where, const options& chosen = {}) {
  if (fields.size() != out.count || fields.empty())
    throw invalid_argument("there are no fields, or not as many results as fields");
  const element_type type = fields[0].type();
  const lane_format format = lanes_of(what, type);
  std::vector<std::int64_t> lanes(fields.size() * format.count + detail::status_lanes);
  report done;
  const auto write = [&](std::span<std::int64_t> own) {
    if (out.data == nullptr || out.form != row_of(what).form || out.place != memory::host) {
      throw invalid_argument("the memory for the results is missing, of another type, or not in host memory");
    }
    std::uint64_t absent = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].type() != type) throw invalid_argument("the fields have elements of different types");
      done = to_lanes(what, fields[i], own.subspan(i * format.count, format.count), chosen);
      absent += done.absent;
    }
    done.absent = absent;
  };
  detail::exchange sent(lanes, fields.size() * format.count, format.merge,
                        detail::signature_of(what, type, out.type, chosen.nan), write);
  sent.run(where);
  if (!sent.finish(where)) return done;
  with_result_type(what, out.type, [&]<class R>() {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      from_lanes(what, type, std::span(lanes).subspan(i * format.count, format.count), static_cast<R*>(out.data)[i]);
    }
  });
  return done;
}

namespace detail {

template <operation What, class Result, class T>
using value_type = std::conditional_t<std::is_void_v<Result>, fanin::detail::value_of_verb<What, T>, Result>;

template <operation What, class Result, class X, class... Y>
auto typed_reduce(const place& where, const options& chosen, const X& x, const Y&... y) {
  using R = value_type<What, Result, element_of<X>>;
  return result<R>([&](R& value) { return reduce_any(What, inputs_of(x, y...), value, where, chosen); });
}
template <operation What, class Result, class X, class... Y>
auto typed_start(const place& where, const options& chosen, const X& x, const Y&... y) {
  return pending<value_type<What, Result, element_of<X>>>(What, inputs_of(x, y...), where, chosen);
}

/// Whether an operation has a verb over MPI that takes this number of inputs.
constexpr bool has_verb(operation what, int inputs) { return row_of(what).merges && row_of(what).inputs == inputs; }
/// Whether a verb can be started without waiting for it. argmin and argmax cannot be started: they take two
/// reductions, and the second reduction depends on the first.
constexpr bool has_start(operation what, int inputs) {
  return has_verb(what, inputs) && row_of(what).form != result_form::indexed;
}

}  // namespace detail

/// The verbs of fanin.hpp over all ranks, for operations whose partial results merge. sum<double>(x, comm) asks for
/// another type of the result, as in fanin.hpp. The index of argmin and argmax counts the elements of all ranks; the
/// elements of rank 0 come first. start_argmin and start_argmax do not exist.
#define FANIN_OVER_MPI(NAME)                                                                                       \
  template <class Result = void, class X, choice C = options>                                                      \
  requires(detail::has_verb(operation::NAME, 1)) auto NAME(const X& x, const place& where, const C& chosen = {}) { \
    return detail::typed_reduce<operation::NAME, Result>(where, fanin::detail::options_of(chosen), x);             \
  }                                                                                                                \
  template <class Result = void, class X, class Y, choice C = options>                                             \
  requires(detail::has_verb(operation::NAME, 2)) auto NAME(const X& x, const Y& y, const place& where,             \
                                                           const C& chosen = {}) {                                 \
    return detail::typed_reduce<operation::NAME, Result>(where, fanin::detail::options_of(chosen), x, y);          \
  }                                                                                                                \
  template <class Result = void, class X, choice C = options>                                                      \
  requires(detail::has_start(operation::NAME, 1)) auto start_##NAME(const X& x, const place& where,                \
                                                                    const C& chosen = {}) {                        \
    return detail::typed_start<operation::NAME, Result>(where, fanin::detail::options_of(chosen), x);              \
  }                                                                                                                \
  template <class Result = void, class X, class Y, choice C = options>                                             \
  requires(detail::has_start(operation::NAME, 2)) auto start_##NAME(const X& x, const Y& y, const place& where,    \
                                                                    const C& chosen = {}) {                        \
    return detail::typed_start<operation::NAME, Result>(where, fanin::detail::options_of(chosen), x, y);           \
  }
FANIN_OPERATIONS(FANIN_OVER_MPI)
#undef FANIN_OVER_MPI

/// Merges the accumulators i of all ranks, for each i, by one MPI_Allreduce. Every rank gets the merged state as
/// its accumulator i. All ranks have the same number of accumulators. They are exact_accumulator,
/// exact_square_accumulator, exact_dot_accumulator or exact_moments_accumulator. Memory: the lanes of all of them,
/// on the heap.
template <class Accumulator>
requires requires { Accumulator::lane_count; }
void all_reduce(std::span<Accumulator> states, MPI_Comm comm) {
  constexpr std::size_t count = Accumulator::lane_count;
  std::vector<std::int64_t> lanes(states.size() * count);
  for (std::size_t i = 0; i < states.size(); ++i) states[i].write_lanes(lanes.data() + i * count);
  detail::check(
      MPI_Allreduce(MPI_IN_PLACE, lanes.data(), detail::length_of(lanes.size()), MPI_INT64_T, MPI_SUM, comm),
      "MPI_Allreduce");
  for (std::size_t i = 0; i < states.size(); ++i) states[i] = Accumulator::read_lanes(lanes.data() + i * count);
}
/// Replaces the accumulator of every rank by the merged state of all ranks, without heap.
template <class Accumulator>
requires requires { Accumulator::lane_count; }
void all_reduce(Accumulator& state, MPI_Comm comm) {
  std::int64_t lanes[Accumulator::lane_count];
  state.write_lanes(lanes);
  detail::check(MPI_Allreduce(MPI_IN_PLACE, lanes, static_cast<int>(std::size(lanes)), MPI_INT64_T, MPI_SUM, comm),
                "MPI_Allreduce");
  state = Accumulator::read_lanes(lanes);
}

}  // namespace fanin::mpi
