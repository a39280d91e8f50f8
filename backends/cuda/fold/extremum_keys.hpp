// SPDX-License-Identifier: Apache-2.0
// Extrema in device memory as integers in the same order.
#pragma once

#include <cstdint>

#include <fanin/cuda/execution.hpp>
#include <fanin/request.hpp>

namespace fanin::cuda {

/// Enqueues a kernel that writes the key of the device_result of min or max at `result`. @throws device_error
void enqueue_key(operation what, element_type type, const void* result, std::int64_t* key,
                 const device_code::execution& where);

/// Enqueues a kernel that writes the number with that key to `result`. @throws device_error
void enqueue_value_of_key(element_type type, const std::int64_t* key, void* result,
                          const device_code::execution& where);

/// Enqueues a kernel that writes the candidate of `count` elements as three integers. Their device_result of
/// argmin or argmax is at `result`. @throws device_error
void enqueue_candidate(operation what, element_type type, const void* result, std::uint64_t count,
                       std::int64_t* candidate, const device_code::execution& where);

/// Enqueues a kernel that writes the device_result of the first extremal element of `number` candidates. @throws
/// device_error
void enqueue_first_candidate(operation what, element_type type, const std::int64_t* candidates, std::size_t number,
                             void* result, const device_code::execution& where);

}  // namespace fanin::cuda
