// SPDX-License-Identifier: Apache-2.0
// Finishing on the device: from states to the value, for results that stay in device memory.
#pragma once

#include "backends/cuda/fold/finished.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::cuda {

struct presence_counts;
struct batch_elements;
struct batch_output;
struct batch_status;

/// States in device memory, `most_state_bytes` apart, which kernels of one request have written. `begins_with_total`:
/// the first one is a state of the request's accumulator, in which others are merged already.
struct state_run {
  std::byte* states;
  std::size_t count;
  bool begins_with_total;
};

/// Enqueues a kernel that merges the states, in order, into the first one, which then is a total. @throws
/// device_error
void enqueue_merge(const request& request, const state_run& run, cudaStream_t stream);

/// Enqueues a kernel that merges the states, in order, and writes the value as a device_result of the request's
/// result type. `present`: which elements took part, in device memory; null if all of them did. @throws device_error
void enqueue_finish(const request& request, const state_run& run, const presence_counts* present, void* result,
                    cudaStream_t stream);

/// Enqueues a kernel that writes the result of each row or long segment from its chunks' states, which a kernel of
/// the request `leader` has written to out.states (ends_states_of()). Without `only_long`, the results of segments
/// that are not long. If the request `adds`, adds the elements to the results instead, unless the status says that an
/// offset or a key is wrong.
/// @throws device_error
void enqueue_finish_each(const request& leader, const request& request, const batch_elements& all,
                         const batch_output& out, const execution& where);

/// The bytes of a state that merges others, of the request's accumulator.
std::size_t bytes_of_total(const request& request);

/// Enqueues kernels that merge the states of all chunks of the long segments, and write the lanes of the sum. It is a
/// sum over all.count elements. `totals`: memory for bytes_of_total() of each segment. @throws device_error
void enqueue_lanes_of_segments(const request& request, const batch_elements& all, const batch_output& out,
                               void* totals, std::int64_t* lanes, const execution& where);

/// Enqueues a kernel that notes the first of the segments whose offsets are wrong. @throws device_error
void enqueue_check_of_offsets(const batch_elements& all, batch_status* status, const execution& where);

}  // namespace fanin::cuda
