// SPDX-License-Identifier: Apache-2.0
// The place where kernels run. This header needs no header of CUDA.
#pragma once

#include <cstddef>

struct CUstream_st;  // cudaStream_t points to one

namespace fanin::device_code {

/// The device and the stream on which a kernel runs, and the memory that the kernel may use. Launches with the
/// same memory run one after another.
struct execution {
  int device = 0;
  int multiprocessors = 1;
  bool programmatic = false;      ///< kernels may be launched before the preceding kernel has ended
  std::size_t copy_room = 0;      ///< the most shared memory of a block if kernels use bulk copies, else 0
  double bytes_per_cycle = 0;     ///< how much device memory delivers to one multiprocessor in a cycle
  bool has_fast_doubles = false;  ///< a double addition has at least a quarter of a float addition's rate
  CUstream_st* stream = nullptr;
  unsigned* ticket = nullptr;  ///< in device memory; 0 between launches
  void* grid_total = nullptr;  ///< in device memory; room for any recipe's state, 0 between launches
  void* scratch = nullptr;     ///< in device memory
  std::size_t scratch_bytes = 0;
  void* host_state = nullptr;  ///< in pinned host memory; room for any recipe's state
};

}  // namespace fanin::device_code
