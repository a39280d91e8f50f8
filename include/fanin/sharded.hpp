// SPDX-License-Identifier: Apache-2.0
// Data that lies in the memory of several devices: each device folds what it has, and only states travel.
//
//   const fanin::input_views parts[] = {fanin::device_span(x0, n0), fanin::device_span(x1, n1)};
//   fanin::reduce(fanin::operation::sum, fanin::sharded(parts), {.method = fanin::method::exact});
#pragma once

#include <span>

#include <fanin/device.hpp>

namespace fanin {

/// Parts of an array, one after another, each in the memory of one device. A part is a device_span, or two of them
/// for operations of two inputs, and may have a mask in the memory of its device (input_views::where). Several parts
/// may be on one device, and parts may be empty. Does not own the parts.
class sharded {
 public:
  explicit sharded(std::span<const input_views> parts) noexcept : parts_(parts) {}
  std::span<const input_views> parts() const noexcept { return parts_; }

 private:
  std::span<const input_views> parts_;
};

/// Reduces the parts as one array like fanin::reduce, by a GPU backend. All devices fold at once, each the parts that
/// lie in its memory, after the work on its legacy default stream; their states are merged on the host, in the order
/// of the parts. Positions are those in the whole array. Reproducible: the bits of `exact` results are those of one
/// device and of the CPU; those of other methods depend on how the array is cut into parts, and are the same from run
/// to run where those of each part are. Memory: no element is copied, except for masks and options::nan as on one
/// device; 4 KiB on the host for each part. Threads: safe to call concurrently; a call starts a thread for each
/// device but the first.
/// @throws as fanin::reduce; invalid_argument if there are no parts, if a part lies in host memory, or if parts
/// differ in type or number of inputs; unsupported if options::devices is set: the parts lie where they lie
FANIN_API report reduce(operation what, const sharded& x, const result_view& value, options chosen = {});
/// Reduces with the value in the result, which holds the alternative of the result type.
FANIN_API result<scalar> reduce(operation what, const sharded& x, const options& chosen = {});

}  // namespace fanin
