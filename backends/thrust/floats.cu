// SPDX-License-Identifier: Apache-2.0
// The kernels of `cub` and `thrust` for floats. Thrust runs CUB's kernels, so that one unit with both has them once.
#include "backends/thrust/launch.cuh"

namespace fanin {

template const cuda::kernel_launcher* cub_backend::find_kernel<float>(operation, method);
template const cuda::kernel_launcher* cub_backend::find_kernel<double>(operation, method);
template const cuda::kernel_launcher* cub_backend::find_kernel<bf16>(operation, method);
template const cuda::kernel_launcher* thrust_backend::find_kernel<float>(operation, method);
template const cuda::kernel_launcher* thrust_backend::find_kernel<double>(operation, method);

}  // namespace fanin
