// SPDX-License-Identifier: Apache-2.0
// Launching the exact sums of complex numbers: one kernel for each part of the result.
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
    const peeled_array<std::complex<T>> x(static_cast<const std::complex<T>*>(data.x), count);
    auto* const sums = static_cast<chunk_parts<T>*>(out);
    const auto launch_part = [&]<tuning::shape Shape>() {
      launch_exact_kernel<Shape>(where, x, parts<T>{false}, exact_state_writer<T, 1>{&sums->re});
      launch_exact_kernel<Shape>(where, x, parts<T>{true}, exact_state_writer<T, 1>{&sums->im});
    };
    if (x.vectors < tuning::exact_many_vectors) {
      launch_part.template operator()<tuning::exact_few>();
    } else {
      launch_part.template operator()<tuning::exact_loaded>();
    }
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
    const peeled_array<T> x(static_cast<const T*>(data.x), 2 * count);
    const auto second = second_array<T>::of(data.x, data.y);
    auto* const sums = static_cast<chunk_part_products<T>*>(out);
    const auto launch_part = [&](const pair_order& order, chunk_products<T>& part) {
      constexpr tuning::shape shape = tuning::exact_pairs(sizeof(T));
      const exact_state_writer<T, 2> write{&part};
      if (second.is_aligned()) {
        launch_exact_kernel<shape>(where, x, products<T, true, true>{second, order}, write);
      } else {
        launch_exact_kernel<shape>(where, x, products<T, false, true>{second, order}, write);
      }
    };
    launch_part({false, !Conjugated}, sums->re);
    launch_part({true, Conjugated}, sums->im);
  }
};

}  // namespace fanin::cuda
