// SPDX-License-Identifier: Apache-2.0
// The effect of the block shape on the speed of kernels over a matrix.
#pragma once

#include <cstddef>
#include <vector>

#include "base/cuda/handles.hpp"

namespace fanin::lab {

/// The size of the matrix of f32, which is stored row by row. Neither number is a multiple of every block size.
inline constexpr unsigned matrix_columns = 8224, matrix_rows = 8100;

/// The rate at which a kernel read and wrote memory; each byte of the matrices counts once.
struct rate {
  bool verified;  ///< the kernel's result was right; the rate is measured only then
  double gigabytes_per_second;
};

struct shape_rates {
  unsigned x, y;
  rate sum;    ///< c = a + b, with one element per thread
  rate total;  ///< total of a, by resident blocks that stride over it and add their partial sums with one atomic each
};

struct shape_results {
  rate vector_add;  ///< c = a + b over the matrix as one vector, by blocks of 256 threads
  std::vector<shape_rates> shapes;
};

/// Measures blocks of (32,32), (32,16), (16,32) and (16,16) threads, then all other powers of two with 64 to 1024
/// threads per block, on the current device. Memory: three matrices on the device. @throws out_of_memory,
/// device_error
shape_results measure_shapes(cudaStream_t stream);

}  // namespace fanin::lab
