// SPDX-License-Identifier: Apache-2.0
// Sums of other libraries, compiled with -O3 -march=native.
#pragma once

#include <cstddef>

namespace fanin::bench {

template <class T>
T eigen_sum(const T* x, std::size_t count);  ///< Eigen::Map<ArrayX>::sum()
template <class T>
T std_reduce_unseq(const T* x, std::size_t count);  ///< std::reduce(std::execution::unseq, ...)
template <class T>
T std_reduce_par_unseq(const T* x, std::size_t count);  ///< std::reduce(std::execution::par_unseq, ...)

}  // namespace fanin::bench
