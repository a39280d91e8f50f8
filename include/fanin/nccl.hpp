// SPDX-License-Identifier: Apache-2.0
// Exact sums over the ranks of an NCCL communicator: one value for the elements of all ranks, or one value for each
// place of their vectors. The caller brings the communicator, and the stream of the context. This header needs NCCL's
// header. The library itself does not.
//
//   fanin::device_context context(device, stream);
//   fanin::nccl::enqueue_all_reduce(fanin::device_span(x, n), total, context, comm);  // all ranks' elements
//   fanin::nccl::all_reduce_each(gradient, n, context, comm);                         // each gradient[i]
//
// Every rank calls the same functions in the same order, as with NCCL's own functions. Each rank has a thread of its
// own, because a thread with several ranks would wait for itself. The communicator has to be a blocking one.
// Results have the same bits on every rank, for any number of ranks, any distribution of the elements and any
// algorithm of NCCL.
#pragma once

#include <nccl.h>

#include <fanin/cuda/device_scope.cuh>
#include <fanin/device.hpp>
#include <fanin/nccl/vector_exchange.hpp>
#include <fanin/nccl/vector_swap.hpp>
#include <fanin/state.hpp>

namespace fanin::nccl {

/// Ranks send each other one of four things, depending on the operation. These are the lanes of an exact state,
/// one integer in the order of the results, an element with its position, or a count.
constexpr bool is_sum(operation what) { return power_of(row_of(what)) > 0; }
constexpr bool is_ordered(operation what) {
  const operation_row& row = row_of(what);
  return (row.seeks == extremity::least || row.seeks == extremity::greatest) && row.form == result_form::number;
}
constexpr bool is_position(operation what) { return row_of(what).form == result_form::indexed; }
constexpr bool is_count(operation what) { return row_of(what).result == result_rule::count; }

/// Enqueues the sum of all ranks' elements, or another operation that has lanes (lane_count()), and returns. Three
/// steps are enqueued: the exact sum of x[0..n) as lanes, the all-reduce of the lanes as ncclInt64, and the rounding.
/// `result` is in device memory, or pinned, and gets the value on every rank. n may differ between ranks, and be 0.
/// Empty, NaN, -0 and infinities: as fanin::enqueue with method::exact for all elements together.
/// Accuracy: rounded once.   Reproducible: exact.
/// Memory: the lanes are in the context's scratch. May be captured into a CUDA graph once the same call was made
/// without capture.   Threads: one call at a time for each context.
/// Cost: one read of x, and an all-reduce of up to 1128 bytes.
/// @throws as fanin::enqueue_lanes; device_error with NCCL's description
template <operation What = operation::sum, element T, result_value R>
requires(is_sum(What)) void enqueue_all_reduce(device_span<T> x, device_result<R>* result, device_context& context,
                                               ncclComm_t comm) {
  const device_code::device_scope here(context.device());
  auto* const lanes = static_cast<std::int64_t*>(context.work().where(0).scratch);
  enqueue_lanes(What, x, lanes, context);
  check(ncclAllReduce(lanes, lanes, lane_count(What, type_of<T>), ncclInt64, ncclSum, comm,
                      context.work().where(0).stream),
        "ncclAllReduce");
  enqueue_value_of_lanes(What, type_of<T>, lanes, result, context, {.result = type_of<R>});
}

/// Enqueues the smallest or largest element of all ranks, the largest magnitude, or whether any or all elements are
/// not zero. An all-reduce carries one integer, whose order is the order of the values. Any NaN gives NaN; -0 is
/// smaller than +0. No elements give the value of fanin::enqueue. Reproducible: exact.
template <operation What, element T>
requires(is_ordered(What)) void enqueue_all_reduce(device_span<T> x, device_result<result_of<What, T>>* result,
                                                   device_context& context, ncclComm_t comm) {
  const device_code::device_scope here(context.device());
  enqueue<What>(x, result, context);
  constexpr element_type type = type_of<result_of<What, T>>;
  const auto where = context.work().where(0);
  auto* const key = static_cast<std::int64_t*>(where.scratch);
  context.work().enqueue_key(What, type, result, key);
  constexpr bool least = row_of(What).seeks == extremity::least;
  check(ncclAllReduce(key, key, 1, ncclInt64, least ? ncclMin : ncclMax, comm, where.stream), "ncclAllReduce");
  context.work().enqueue_value_of_key(type, key, result);
}

/// Enqueues the first smallest or largest element of all ranks and its position. The elements of rank 0 come first.
/// An all-gather carries three integers of each rank. No elements give the value of fanin::enqueue.
/// Reproducible: exact, for the same order.   Memory: 24 bytes of scratch for each rank.
template <operation What, element T>
requires(is_position(What)) void enqueue_all_reduce(device_span<T> x, device_result<indexed<T>>* result,
                                                    device_context& context, ncclComm_t comm) {
  const device_code::device_scope here(context.device());
  constexpr std::size_t integers = 3;
  const std::size_t ranks = ranks_of(comm);
  const auto where = context.work().where(ranks * integers * sizeof(std::int64_t));
  enqueue<What>(x, result, context);
  auto* const all = static_cast<std::int64_t*>(where.scratch);
  auto* const own = all + rank_in(comm) * integers;
  context.work().enqueue_candidate(What, type_of<T>, result, x.size(), own);
  check(ncclAllGather(own, all, integers, ncclInt64, comm, where.stream), "ncclAllGather");
  context.work().enqueue_first_candidate(What, type_of<T>, all, ranks, result);
}

/// Enqueues the number of elements of all ranks that are not zero. An all-reduce adds the numbers of the ranks.
template <operation What, element T>
requires(is_count(What)) void enqueue_all_reduce(device_span<T> x, device_result<std::uint64_t>* result,
                                                 device_context& context, ncclComm_t comm) {
  const device_code::device_scope here(context.device());
  enqueue<What>(x, result, context);
  check(ncclAllReduce(&result->value, &result->value, 1, ncclUint64, ncclSum, comm, context.work().where(0).stream),
        "ncclAllReduce");
}

/// Enqueues x[i] = the sum of every rank's x[i] for i < n, each rounded once to T, and returns. n is the same on
/// every rank. T is float, double, f16 or bf16.
/// NaN, -0 and infinities: as fanin::sum with method::exact.
/// Accuracy: rounded once.   Reproducible: exact; the bits depend neither on n nor on how a vector is split.
/// Memory: in place. Scratch from the context: up to 65 MiB, or up to 193 MiB for two ranks. May be captured like
/// enqueue_all_reduce(). Threads: one call at a time for each context.
/// Cost: a rank sends and receives 2 n (1 - 1 / ranks) elements, as in a ring. It adds one message while the next one
/// is on its way. The call is fastest if x is aligned to 16 bytes.
/// @throws invalid_argument if the device cannot reach x; out_of_memory, device_error
template <each_element T>
void all_reduce_each(T* x, std::size_t n, device_context& context, ncclComm_t comm) {
  const device_code::device_scope here(context.device());
  if (ranks_of(comm) == 2) return vector_swap<T>(x, n, context, comm).run();
  const std::size_t part = vector_exchange<T>::even_part(n, ranks_of(comm));
  vector_exchange<T>(x, x + rank_in(comm) * part, part, n, context, comm).run(true);
}

/// Enqueues out[i] = the sum of every rank's x[rank * n + i] for i < n, where `rank` is the calling rank. So x has n
/// elements for each rank. `out` may be x + rank * n. The other conditions are as for all_reduce_each(). The cost
/// is half as large.
template <each_element T>
void reduce_scatter_each(const T* x, T* out, std::size_t n, device_context& context, ncclComm_t comm) {
  const device_code::device_scope here(context.device());
  // Nothing is gathered, and so nothing is written to x.
  vector_exchange<T>(const_cast<T*>(x), out, n, n * ranks_of(comm), context, comm).run(false);
}

}  // namespace fanin::nccl
