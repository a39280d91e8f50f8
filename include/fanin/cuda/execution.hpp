// The arguments of a kernel launch. This header includes no CUDA header.
#pragma once

#include <cstddef>

struct CUstream_st;  // cudaStream_t points to one

namespace fanin::device_code {

/// The device and stream of a kernel, and the memory that it may use. Kernels that share an execution run one after
/// another, because they share the memory.
struct execution {
  int device = 0;
  int multiprocessors = 1;
  bool programmatic = false;  ///< whether a kernel may start before the preceding kernel of the stream has ended
  std::size_t copy_room = 0;  ///< bytes of shared memory per block for bulk copies; 0 if kernels have no bulk copies
  CUstream_st* stream = nullptr;
  unsigned* ticket = nullptr;   ///< counter of finished blocks in device memory; 0 between launches
  void* exact_total = nullptr;  ///< in device memory; room for any recipe's state, 0 between launches
  void* scratch = nullptr;      ///< in device memory
  std::size_t scratch_bytes = 0;
  void* host_state = nullptr;  ///< in pinned host memory; room for any recipe's state
};

}  // namespace fanin::device_code
