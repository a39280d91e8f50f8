// SPDX-License-Identifier: Apache-2.0
#include "bench/peers.hpp"

#include <execution>
#include <numeric>

#include <Eigen/Core>

namespace fanin::bench {

template <class T>
T eigen_sum(const T* x, std::size_t count) {
  return Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(x, static_cast<Eigen::Index>(count)).sum();
}

template <class T>
T std_reduce_unseq(const T* x, std::size_t count) {
  return std::reduce(std::execution::unseq, x, x + count, T{0});
}

template <class T>
T std_reduce_par_unseq(const T* x, std::size_t count) {
  return std::reduce(std::execution::par_unseq, x, x + count, T{0});
}

template float eigen_sum(const float*, std::size_t);
template double eigen_sum(const double*, std::size_t);
template float std_reduce_unseq(const float*, std::size_t);
template double std_reduce_unseq(const double*, std::size_t);
template float std_reduce_par_unseq(const float*, std::size_t);
template double std_reduce_par_unseq(const double*, std::size_t);

}  // namespace fanin::bench
