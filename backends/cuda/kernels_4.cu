// SPDX-License-Identifier: Apache-2.0
// Elements of numbers of 32 bits.
#include "backends/cuda/kernels.cuh"

namespace fanin::cuda {

template const kernel_launcher* find_kernel<std::int32_t>(operation, method);
template const kernel_launcher* find_kernel<std::uint32_t>(operation, method);
template const kernel_launcher* find_kernel<float>(operation, method);
template const kernel_launcher* find_kernel<std::complex<float>>(operation, method);

}  // namespace fanin::cuda
