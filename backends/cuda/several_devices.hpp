// SPDX-License-Identifier: Apache-2.0
// One reduction on several devices of this process: each folds its parts, and the states are merged on the host.
#pragma once

#include <span>
#include <vector>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cuda {

/// A part of the inputs, and the device that folds it.
struct device_part {
  int device;
  input_views inputs;
};

/// The request's host data, cut as options::devices says.
std::vector<device_part> divided_among_devices(const request& request);

/// Reduces the parts, which come one after another, in place of the request's inputs. All devices fold at once, each
/// by a thread of its own and the first one by the calling thread, on that thread's contexts. A device folds its
/// parts in turn. @throws as gpu_backend::reduce, of the first device in the order of the parts that fails
outcome reduce_on_devices(const request& request, std::span<const device_part> parts, void* result);

}  // namespace fanin::cuda
