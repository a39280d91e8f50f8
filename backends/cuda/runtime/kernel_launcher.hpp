// SPDX-License-Identifier: Apache-2.0
// The part of a reduction on the device: launches of the kernels that fold elements into one state.
#pragma once

#include <cstdint>

#include <fanin/backend.hpp>
#include <fanin/cuda/launch.cuh>
#include <fanin/loop.hpp>

#include "backends/cuda/runtime/state_functions.hpp"

namespace fanin::cuda {

using namespace device_code;
using detail::operands;
struct batch_elements;
struct batch_output;

/// How a fold reduces batches (batch/).
struct batch_fold {
  std::size_t state_bytes = 0;    ///< size of a chunk's state; 0: it reduces no batches
  std::uint64_t least_chunk = 1;  ///< longer results are cut into chunks
  /// The value of least_chunk with which a library forms one state of each result, in scratch_bytes() of scratch and
  /// by the method that is asked for.
  static constexpr std::uint64_t never_cut = ~std::uint64_t{0};
  /// The most elements of a chunk if the order of additions means nothing: long rows whose elements lie one after
  /// another may then be cut into fewer chunks.
  std::uint64_t most_chunk = 0;
  /// Whether states are finished, as the default result, where they are formed.
  bool finishes = false;
  /// Whether that is so also for results of the elements' type, where the default type is wider.
  bool finishes_as_elements = false;
  /// Whether there are kernels for elements that lie one after another.
  bool has_lines = false;
  /// 0, or the most elements of a segment that is not left to a second launch, which merges the states of chunks
  /// where results are finished: by kernels for elements that lie one after another.
  std::uint64_t most_short = 0;
  /// The size of a state in which a chunk is folded again if its state does not fit; 0 if all states fit.
  std::size_t exact_state_bytes = 0;
};

/// The inputs from their element `begin` on.
inline operands operands_at(const input_views& inputs, std::uint64_t begin) {
  const auto at = [&](const array_view& x) -> const void* {
    return x.data == nullptr ? nullptr : static_cast<const std::byte*>(x.data) + begin * byte_size(x.type);
  };
  return {at(inputs[0]), at(inputs[1]), begin};
}

/// @throws invalid_argument unless kernels on the device can read the inputs
inline void check_inputs_reach(const input_views& inputs, int device) {
  for (int i = 0; i < inputs.size(); ++i) {
    check_reach(inputs[i].data, inputs[i].bytes(), device, "the input");
    if (reinterpret_cast<std::uintptr_t>(inputs[i].data) % byte_size(inputs.type()) != 0) {
      throw invalid_argument("elements in device memory have to be aligned to their size");
    }
  }
  if (!inputs.mask() || inputs.count() == 0) return;
  const mask_view& mask = inputs.mask();
  const std::uint64_t each = mask.form == mask_form::bits ? 8 : 1, begin = mask.first / each;
  const std::uint64_t end = (mask.first + inputs.count() + each - 1) / each;
  check_reach(static_cast<const std::byte*>(mask.data) + begin, end - begin, device, "the mask");
}

/// Launches the kernels of one reduction. Objects are stateless and live as long as the process. Counts are above 0.
class kernel_launcher {
 public:
  explicit kernel_launcher(const state_functions& host) noexcept : host_(host) {}
  virtual ~kernel_launcher() = default;

  /// The part of the reduction on the host.
  const state_functions& host() const noexcept { return host_; }

  /// Enqueues the fold of `count` elements, which writes the state to `out`, device memory or pinned host memory.
  /// @throws device_error
  virtual void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const = 0;
  /// Enqueues a fold that writes the finished value, a device_result of type `result`, to `out`. Returns false, and
  /// does nothing, if one launch cannot do that.
  virtual bool launch_finished(const execution&, const operands& /*data*/, std::uint64_t /*count*/,
                               element_type /*result*/, void* /*out*/) const {
    return false;
  }
  virtual rounding_chain longest_chain(const execution& where, std::uint64_t count) const = 0;
  /// The scratch that launch() needs for `count` elements. @throws device_error
  virtual std::size_t scratch_bytes(const execution&, std::uint64_t /*count*/) const { return 0; }
  virtual batch_fold batches() const { return {}; }
  /// Enqueues the fold of each result. `lines`: its elements lie one after another, and all take part.
  virtual void launch_each(const execution&, const batch_elements&, const batch_output&, bool /*lines*/) const {}
  /// Enqueues another fold of the items that launch_each() has marked. There may be none.
  virtual void launch_refold(const execution&, const batch_elements&, const batch_output&) const {}
  /// The longest chain of additions of a result of `length` elements in a batch.
  virtual rounding_chain chain_of_result(std::uint64_t /*length*/) const { return {}; }
  /// Whether the kernel can run on the current device.
  virtual support runs_here() const { return {}; }
  /// Whether the order of additions is the same each time.
  virtual bool ordered() const { return true; }

 private:
  state_functions host_;
};

}  // namespace fanin::cuda
