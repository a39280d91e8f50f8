// SPDX-License-Identifier: Apache-2.0
// Launching the exact sums of complex numbers. One kernel sums both parts of the result.
#pragma once

#include "backends/cuda/exact/exact_fold.cuh"
#include "backends/cuda/kernels.hpp"

namespace fanin::cuda {

/// Folds sums and means.
template <class T>
class parts_fold : public unrounded_fold {
 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    const exact_parts_writer<chunk_parts<T>> write{static_cast<chunk_parts<T>*>(out)};
    launch_exact<powers<std::complex<T>, 1>>(where, data.x, count, write);
  }
};

/// Folds norms, which are norms of twice as many real numbers.
template <class T>
class part_squares_fold : public unrounded_fold {
 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    find_kernel<T>(operation::sum_of_squares, method::exact)->launch(where, data, 2 * count, out);
  }
};

/// Folds dot products.
template <class T, bool Conjugated>
class complex_dot_fold : public unrounded_fold {
 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    using sums = chunk_part_products<T>;
    launch_products<complex_products, T>(where, data, count, exact_parts_writer<sums>{static_cast<sums*>(out)},
                                         Conjugated ? detail::float_format<T>::sign : 0);
  }
};

}  // namespace fanin::cuda
