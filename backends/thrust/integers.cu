// SPDX-License-Identifier: Apache-2.0
// The kernels of `cub` and `thrust` for integers. Thrust runs CUB's kernels, so that one unit with both has them
// once.
#include "backends/thrust/launch.cuh"

namespace fanin {

template const cuda::kernel_launcher* cub_backend::find_kernel<std::int32_t>(operation, method);
template const cuda::kernel_launcher* cub_backend::find_kernel<std::int64_t>(operation, method);
template const cuda::kernel_launcher* thrust_backend::find_kernel<std::int32_t>(operation, method);
template const cuda::kernel_launcher* thrust_backend::find_kernel<std::int64_t>(operation, method);

}  // namespace fanin
