// SPDX-License-Identifier: Apache-2.0
// A list of arrays that are reduced as one array. The arrays are in host memory, or in the memory of several devices.
// Each device reduces its own arrays, and only states are copied.
//
//   const fanin::input_views parts[] = {fanin::device_span(x0, n0), fanin::device_span(x1, n1)};
//   fanin::reduce(fanin::operation::sum, fanin::sharded(parts), {.method = fanin::method::exact});
#pragma once

#include <span>

#include <fanin/device.hpp>

namespace fanin {

/// The parts of an array, in order: all in host memory, or each in the memory of one device. A part is an array_view
/// or a device_span; operations of two inputs have two. A part may have a mask in its memory (input_views::where),
/// and may be empty. One device may have several parts. Does not own the parts.
class sharded {
 public:
  explicit sharded(std::span<const input_views> parts) noexcept : parts_(parts) {}
  std::span<const input_views> parts() const noexcept { return parts_; }

 private:
  std::span<const input_views> parts_;
};

/// Reduces the parts as one array like fanin::reduce. An index counts from the start of the whole array. Parts in
/// host memory are reduced as the blocks of fanin::incremental. Parts on devices are reduced by a GPU backend: all
/// devices work at once, each on the parts in its memory, after the work on its legacy default stream. Their states
/// are merged on the host, in the order of the parts. Reproducible: on the host as one array. On devices `exact`
/// results have the bits of one device and of the CPU. With other methods the bits depend on how the array is cut
/// into parts, and are run_to_run if each part is. Memory: for parts on the host as for fanin::incremental. For parts
/// on devices 4 KiB on the host for each part; elements are copied only for masks and options::nan, as on one device.
/// Threads: safe to call concurrently. A call starts a thread for each device but the first.
/// @throws as fanin::reduce; invalid_argument if there are no parts, if some are in host memory and some are not, or
/// if parts differ in type or number of inputs; unsupported if options::devices is set
FANIN_API report reduce(operation what, const sharded& x, const result_view& value, options chosen = {});
/// Reduces with the value in the result, which holds the alternative of the result type.
FANIN_API result<scalar> reduce(operation what, const sharded& x, const options& chosen = {});

}  // namespace fanin
