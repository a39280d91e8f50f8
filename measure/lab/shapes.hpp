// What the shape of a block does to kernels over a matrix.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cuda/runtime/handles.hpp"

namespace fanin::lab {

/// Of a matrix of f32, row by row; neither is a multiple of every shape.
inline constexpr unsigned matrix_columns = 8224, matrix_rows = 8100;

/// How fast a kernel moved its bytes, each of them counted once.
struct rate {
  bool verified;  ///< every element, or the total; the rest is measured only then
  double gigabytes_per_second;
};

struct shape_rates {
  unsigned x, y;
  rate sum;    ///< c = a + b, one element to a thread
  rate total;  ///< of a: as many blocks as fit at once stride over it, and each adds its part to the total
};

struct shape_study {
  rate vector_add;  ///< the same a + b as one row, by blocks of 256 threads
  std::vector<shape_rates> shapes;
};

/// (32,32), (32,16), (16,32) and (16,16), then all other powers of two that make 64 to 1024 threads. On the current
/// device. Memory: three matrices there. @throws out_of_memory, device_error
shape_study measure_shapes(cudaStream_t stream);

}  // namespace fanin::lab
