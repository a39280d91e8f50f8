// SPDX-License-Identifier: Apache-2.0
// The kernels of exact sums, norms, variances and dot products, of real and complex numbers, for static_gate.py.
#include "backends/cuda/exact/exact_finish.cuh"
#include "backends/cuda/exact/exact_kernel.cuh"

namespace fanin::cuda {

template <class Terms, tuning::shape Shape, class Write>
constexpr auto kernel = exact_kernel<Terms, Shape.loads, Shape.slots, Write>;
template <class T, tuning::shape Shape>
constexpr auto sum_kernel = kernel<powers<T, 1>, Shape, exact_sum_writer<T, 1>>;
template <class T>
constexpr auto square_kernel = kernel<powers<T, 2>, tuning::exact_many, exact_sum_writer<T, 2>>;
template <class T>
constexpr auto moment_kernel = kernel<moments<T>, tuning::exact_many, moments_writer<T>>;
template <class T>
constexpr auto dot_kernel = kernel<products<T, true>, tuning::exact_pairs(sizeof(T)), exact_sum_writer<T, 2>>;
template <class T, tuning::shape Shape>
constexpr auto parts_kernel = kernel<powers<std::complex<T>, 1>, Shape, complex_writer<T, 1>>;
template <class T>
constexpr auto complex_dot_kernel =
    kernel<complex_products<T, true>, tuning::exact_pairs(sizeof(T), true), complex_writer<T, 2>>;

/// A use of each kernel, so that it is compiled.
const void* const kernels[] = {reinterpret_cast<const void*>(sum_kernel<float, tuning::exact_few>),
                               reinterpret_cast<const void*>(sum_kernel<float, tuning::exact_many>),
                               reinterpret_cast<const void*>(sum_kernel<double, tuning::exact_few>),
                               reinterpret_cast<const void*>(sum_kernel<double, tuning::exact_many>),
                               reinterpret_cast<const void*>(square_kernel<float>),
                               reinterpret_cast<const void*>(square_kernel<double>),
                               reinterpret_cast<const void*>(moment_kernel<float>),
                               reinterpret_cast<const void*>(moment_kernel<double>),
                               reinterpret_cast<const void*>(dot_kernel<float>),
                               reinterpret_cast<const void*>(dot_kernel<double>),
                               reinterpret_cast<const void*>(parts_kernel<float, tuning::exact_few>),
                               reinterpret_cast<const void*>(parts_kernel<float, tuning::exact_many>),
                               reinterpret_cast<const void*>(parts_kernel<double, tuning::exact_few>),
                               reinterpret_cast<const void*>(parts_kernel<double, tuning::exact_many>),
                               reinterpret_cast<const void*>(complex_dot_kernel<float>),
                               reinterpret_cast<const void*>(complex_dot_kernel<double>)};

}  // namespace fanin::cuda
