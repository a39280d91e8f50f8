// Where kernels run, for those who include no CUDA header too.
#pragma once

#include <cstddef>

struct CUstream_st;  // cudaStream_t points to one

namespace fanin::device_code {

/// Where a kernel runs, and the memory it may use there. One launch at a time.
struct execution {
  int device = 0;
  int multiprocessors = 1;
  bool programmatic = false;  ///< a kernel may be sent to the device before the one in front of it has ended
  std::size_t copy_room = 0;  ///< shared memory of a block, if kernels were compiled to have it filled by bulk copies
  CUstream_st* stream = nullptr;
  unsigned* ticket = nullptr;   ///< in device memory; 0 between launches
  void* exact_total = nullptr;  ///< in device memory; room for any recipe's state, 0 between launches
  void* scratch = nullptr;      ///< in device memory
  std::size_t scratch_bytes = 0;
  void* host_state = nullptr;  ///< in pinned host memory; room for any recipe's state
};

}  // namespace fanin::device_code
