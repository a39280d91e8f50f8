// SPDX-License-Identifier: Apache-2.0
// Launching the exact sums of complex numbers. One kernel sums both parts of the result.
#pragma once

#include "backends/cuda/exact/exact_fold.cuh"
#include "backends/cuda/kernels.hpp"

namespace fanin::cuda {

/// Folds sums and means.
template <class Recipe>
class parts_fold : public unrounded_fold {
  using T = part_of<typename Recipe::element>;
  static constexpr sum_value value = row_of(Recipe::what).value;

 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    run(where, data, count, {static_cast<chunk_parts<T>*>(out), {}, value, count});
  }
  bool launch_finished(const execution& where, const operands& data, std::uint64_t count, element_type result,
                       void* out) const override {
    run(where, data, count, {nullptr, {out, format_of(result)}, value, count});
    return true;
  }

 private:
  static void run(const execution& where, const operands& data, std::uint64_t count,
                  const complex_writer<T, 1>& write) {
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
    run(where, data, count, {static_cast<chunk_part_products<T>*>(out), {}, sum_value::total, count});
  }
  bool launch_finished(const execution& where, const operands& data, std::uint64_t count, element_type result,
                       void* out) const override {
    run(where, data, count, {nullptr, {out, format_of(result), false}, sum_value::total, count});
    return true;
  }

 private:
  static void run(const execution& where, const operands& data, std::uint64_t count,
                  const complex_writer<T, 2>& write) {
    launch_products<complex_products, T>(where, data, count, write, Conjugated ? detail::float_format<T>::sign : 0);
  }
};

}  // namespace fanin::cuda
