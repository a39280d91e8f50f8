// SPDX-License-Identifier: Apache-2.0
// Elements of numbers of 8 bits.
#include "backends/cuda/kernels.cuh"

namespace fanin::cuda {

template const kernel_launcher* find_kernel<std::int8_t>(operation, method);
template const kernel_launcher* find_kernel<std::uint8_t>(operation, method);
template const kernel_launcher* find_kernel<e5m2>(operation, method);
template const kernel_launcher* find_kernel<e4m3>(operation, method);

}  // namespace fanin::cuda
