// The device's half of a reduction: launching the kernels that fold elements into one state.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include <fanin/backend.hpp>

#include "backends/cuda/runtime/host_fold.hpp"

namespace fanin::cuda {

/// Where a kernel runs, and the memory it may use there. One launch at a time.
struct execution {
  int device = 0;
  int multiprocessors = 1;
  bool programmatic = false;  ///< a kernel may be sent to the device before the one in front of it has ended
  std::size_t copy_room = 0;  ///< shared memory of a block, if kernels were compiled to have it filled by bulk copies
  cudaStream_t stream = nullptr;
  unsigned* ticket = nullptr;   ///< in device memory; 0 between launches
  void* exact_total = nullptr;  ///< in device memory; most_state_bytes, 0 between launches
  void* scratch = nullptr;      ///< in device memory
  std::size_t scratch_bytes = 0;
};

/// Elements in memory that a kernel can read, and for dot as many other factors.
struct operands {
  const void* x;
  const void* y = nullptr;
};

/// Stateless; objects live as long as the process. Lengths are over 0 throughout.
class device_fold {
 public:
  virtual ~device_fold() = default;

  /// Folds `count` elements, and writes the state to `out`, memory of the device or pinned host memory. Returns
  /// before that is done. @throws device_error
  virtual void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const = 0;
  /// The same of x, but writes the finished value, a device_result of that type, where one launch can do it all;
  /// whether it can.
  virtual bool launch_finished(const execution&, const void* /*x*/, std::uint64_t /*count*/, element_type /*result*/,
                               void* /*out*/) const {
    return false;
  }
  virtual chain longest_chain(const execution& where, std::uint64_t count) const = 0;
  /// Scratch that launch() needs. @throws device_error
  virtual std::size_t scratch_bytes(const execution&, std::uint64_t /*count*/) const { return 0; }
  /// Whether the current device has what the kernel needs.
  virtual support runs_here() const { return {}; }
  /// Whether it leaves the state that the host merges into, and not one of the shipped kernel's.
  virtual bool leaves_totals() const { return false; }
  /// Whether the order of additions is the same each time.
  virtual bool ordered() const { return true; }
};

}  // namespace fanin::cuda
