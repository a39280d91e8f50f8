// SPDX-License-Identifier: Apache-2.0
// Elements of numbers of 64 bits.
#include "backends/cuda/kernels.cuh"

namespace fanin::cuda {

template const kernel_launcher* find_kernel<std::int64_t>(operation, method);
template const kernel_launcher* find_kernel<std::uint64_t>(operation, method);
template const kernel_launcher* find_kernel<double>(operation, method);
template const kernel_launcher* find_kernel<std::complex<double>>(operation, method);

}  // namespace fanin::cuda
