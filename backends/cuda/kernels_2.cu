// SPDX-License-Identifier: Apache-2.0
// Elements of numbers of 16 bits.
#include "backends/cuda/kernels.cuh"

namespace fanin::cuda {

template const kernel_launcher* find_kernel<std::int16_t>(operation, method);
template const kernel_launcher* find_kernel<std::uint16_t>(operation, method);
template const kernel_launcher* find_kernel<f16>(operation, method);
template const kernel_launcher* find_kernel<bf16>(operation, method);

}  // namespace fanin::cuda
