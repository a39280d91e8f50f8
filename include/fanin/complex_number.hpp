// SPDX-License-Identifier: Apache-2.0
// Complex elements: std::complex of floats and doubles, which lie in memory as numpy, BLAS and CUDA store them.
#pragma once

#include <complex>
#include <concepts>

namespace fanin {

template <class T>
concept complex_number = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

namespace detail {

template <class T>
struct part_of {
  using type = T;
};
template <complex_number T>
struct part_of<T> {
  using type = typename T::value_type;
};

}  // namespace detail

/// The type of the real and the imaginary part of a complex type. For any other type, the type itself.
template <class T>
using part_of = typename detail::part_of<T>::type;

}  // namespace fanin
