// SPDX-License-Identifier: Apache-2.0
// The kernels of exact sums, for static_gate.py.
#include "backends/cuda/exact/exact_finish.cuh"
#include "backends/cuda/exact/exact_kernel.cuh"

namespace fanin::cuda {

template <class T, tuning::shape Shape>
constexpr auto kernel = exact_kernel<powers<T, 1>, Shape.loads, Shape.slots, exact_sum_writer<T, 1>>;

/// A use of each kernel, so that it is compiled.
const void* const kernels[] = {reinterpret_cast<const void*>(kernel<float, tuning::exact_few>),
                               reinterpret_cast<const void*>(kernel<float, tuning::exact_many>),
                               reinterpret_cast<const void*>(kernel<double, tuning::exact_few>),
                               reinterpret_cast<const void*>(kernel<double, tuning::exact_many>)};

}  // namespace fanin::cuda
