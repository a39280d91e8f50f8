// SPDX-License-Identifier: Apache-2.0
// Launching the exact sums of elements, of their squares, and of products.
#pragma once

#include <atomic>

#include "backends/cuda/exact/exact_finish.cuh"
#include "backends/cuda/exact/exact_kernel.cuh"
#include "backends/cuda/exact/narrow_kernel.cuh"
#include "backends/cuda/fold/ending.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::cuda {

/// The dynamic shared memory of a block. The rings are there if bulk copies fill them.
template <class Terms, tuning::shape Shape>
constexpr std::size_t shared_bytes_of(bool rings) {
  constexpr std::size_t ring = sizeof(tile_ring<typename Terms::element, Shape.loads, Shape.slots>);
  return dynamic_block_bytes<Terms> + (rings ? ring * Shape.threads / 32 : 0);
}

/// Allows a kernel `bytes` of dynamic shared memory on the current device, as the runtime demands once for more than
/// 48 KiB. `allowed_devices` has a bit for each device where that was done; from the 65th device on it is done for
/// each launch. @throws device_error
template <class Kernel>
void allow_shared_bytes(Kernel kernel, std::size_t bytes, int device, std::atomic<std::uint64_t>& allowed_devices) {
  const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;
  if ((allowed_devices.load() & bit) != 0) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
  allowed_devices.fetch_or(bit);
}

template <tuning::shape Shape, class T, class Terms, class Write>
void launch_exact_kernel(const execution& where, const peeled_array<T>& x, const Terms& terms, const Write& write) {
  const unsigned blocks = tuning::blocks(x.vectors, where.multiprocessors, Shape);
  const auto kernel = exact_kernel<Terms, Shape.loads, Shape.slots, Write>;
  const std::size_t shared_bytes = shared_bytes_of<Terms, Shape>(Shape.slots > 0 && where.copy_room > 0);
  if constexpr (Shape.slots > 0 || dynamic_block_bytes < Terms >> 0) {
    static std::atomic<std::uint64_t> allowed_devices;
    if (shared_bytes > 0) allow_shared_bytes(kernel, shared_bytes, where.device, allowed_devices);
  }
  launch_overlapped(where, blocks, Shape.threads, shared_bytes, kernel, x, terms,
                    tuning::whole_tiles(x.vectors, blocks, Shape), static_cast<sums_of<Terms>*>(where.grid_total),
                    where.ticket, write);
}

/// Whether the kernel for many vectors runs on the device: with bulk copies it needs more shared memory than some
/// devices have.
template <class Terms, tuning::shape Many>
bool exact_many_fits(const execution& where) {
  constexpr std::size_t static_bytes =
      dynamic_block_bytes < Terms >> 0 ? 0 : sizeof(block_sums_of<Terms, tuning::exact_many.threads / 32>);
  constexpr std::size_t other_shared_bytes = static_bytes + sizeof(sums_of<Terms>) + 1024;
  return where.copy_room == 0 || shared_bytes_of<Terms, Many>(true) + other_shared_bytes <= where.copy_room;
}

template <class Terms, class Write>
void launch_exact(const execution& where, const void* elements, std::uint64_t count, const Write& write) {
  using T = typename Terms::element;
  const peeled_array<T> x(static_cast<const T*>(elements), count);
  if (x.vectors < tuning::exact_many_vectors) return launch_exact_kernel<tuning::exact_few>(where, x, Terms(), write);
  // Sums of complex numbers have bulk copies on every device that makes them, so that they have a kernel less.
  if constexpr (Terms::plain && !complex_number<T>) {
    if (where.bytes_per_cycle <= tuning::loads_keep_up_with) {
      return launch_exact_kernel<tuning::exact_loaded>(where, x, Terms(), write);
    }
  }
  if constexpr (Terms::power == 2 && std::is_same_v<T, float>) {
    if (where.has_fast_doubles && exact_many_fits<by_doubles<Terms>, tuning::exact_many>(where)) {
      return launch_exact_kernel<tuning::exact_many>(where, x, by_doubles<Terms>(), write);
    }
  }
  if (exact_many_fits<Terms, tuning::exact_many>(where)) {
    launch_exact_kernel<tuning::exact_many>(where, x, Terms(), write);
  } else {
    launch_exact_kernel<tuning::exact_few>(where, x, Terms(), write);
  }
}

/// Launches the sum of terms of numbers T of 8 or 16 bits, which are read as words by the rule of an operation.
template <class T, narrow_terms What, class Write>
void launch_narrow(const execution& where, const operands& data, std::uint64_t count, operation what,
                   const Write& write) {
  using Word = word_for<T>;
  constexpr tuning::shape shape = tuning::narrow_shape(sizeof(Word), inputs_of(What));
  const narrow_arrays<Word> x(data.x, data.y, count, rule_of(what, type_of<T>));
  launch_overlapped(where, tuning::blocks(x.vectors, where.multiprocessors, shape), shape.threads, 0,
                    narrow_kernel<Word, What, shape.threads, Write>, x,
                    static_cast<narrow_sums<What>*>(where.grid_total), where.ticket, write);
}

/// The base of exact folds, which have no chain of rounded additions.
class unrounded_fold : public kernel_launcher {
 public:
  using kernel_launcher::kernel_launcher;
  rounding_chain longest_chain(const execution&, std::uint64_t) const final { return {}; }
};

/// Folds sums of terms, means, sums of squares and norms of elements that A adds as numbers N.
template <class Recipe, class A, class Term = accumulator::plain_term>
class exact_fold : public unrounded_fold {
  using T = typename Recipe::element;
  using N = typename A::element;
  static constexpr int Power = row_of(Recipe::what).adds == summand::squares ? 2 : 1;
  static constexpr sum_value value = row_of(Recipe::what).value;

 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    run(where, data, count, {static_cast<chunk_sums<N, Power>*>(out), {}, value, count});
  }
  bool launch_finished(const execution& where, const operands& data, std::uint64_t count, element_type result,
                       void* out) const override {
    constexpr bool gives_value = power_of(row_of(Recipe::what)) > 0;
    if (gives_value) run(where, data, count, {nullptr, {out, format_of(result)}, value, count});
    return gives_value;
  }

 private:
  static void run(const execution& where, const operands& data, std::uint64_t count,
                  const exact_sum_writer<N, Power>& write) {
    if constexpr (narrow_float<T>) {
      constexpr narrow_terms terms = Power == 1 ? narrow_terms::numbers : narrow_terms::squares;
      launch_narrow<T, terms>(where, data, count, Recipe::what, write);
    } else {
      launch_exact<powers<T, Power, Term>>(where, data.x, count, write);
    }
  }
};

/// Folds variances and standard deviations.
template <class Recipe, class A>
class moments_fold : public unrounded_fold {
  using T = typename Recipe::element;
  using N = typename A::element;

 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    run(where, data, count, {static_cast<chunk_moments<N>*>(out), {}, count, A::measure});
  }
  bool launch_finished(const execution& where, const operands& data, std::uint64_t count, element_type result,
                       void* out) const override {
    run(where, data, count, {nullptr, {out, format_of(result)}, count, A::measure});
    return true;
  }

 private:
  static void run(const execution& where, const operands& data, std::uint64_t count, const moments_writer<N>& write) {
    if constexpr (narrow_float<T>) {
      launch_narrow<T, narrow_terms::moments>(where, data, count, Recipe::what, write);
    } else {
      launch_exact<moments<T>>(where, data.x, count, write);
    }
  }
};

/// Launches the sum of Products<T, Aligned> for both arrays, where `more` are the further members of Products.
template <template <class, bool> class Products, class T, class Write, class... More>
void launch_products(const execution& where, const operands& data, std::uint64_t count, const Write& write,
                     More... more) {
  using E = typename Products<T, true>::element;
  const peeled_array<E> x(static_cast<const E*>(data.x), count);
  const auto second = second_array<E>::of(data.x, data.y);
  constexpr tuning::shape shape = tuning::exact_pairs(sizeof(T), complex_number<E>);
  if (vector<E>::size == 1 || second.is_aligned()) {
    launch_exact_kernel<shape>(where, x, Products<T, true>{{second}, more...}, write);
  } else if constexpr (vector<E>::size > 1) {
    launch_exact_kernel<shape>(where, x, Products<T, false>{{second}, more...}, write);
  }
}

/// Folds dot products.
template <class T>
class dot_fold : public unrounded_fold {
  using N = computed_as<T>;

 public:
  using unrounded_fold::unrounded_fold;
  void launch(const execution& where, const operands& data, std::uint64_t count, void* out) const override {
    run(where, data, count, {static_cast<chunk_products<N>*>(out), {}, sum_value::total, count});
  }
  bool launch_finished(const execution& where, const operands& data, std::uint64_t count, element_type result,
                       void* out) const override {
    run(where, data, count, {nullptr, {out, format_of(result)}, sum_value::total, count});
    return true;
  }

 private:
  static void run(const execution& where, const operands& data, std::uint64_t count,
                  const exact_sum_writer<N, 2>& write) {
    if constexpr (narrow_float<T>) {
      launch_narrow<T, narrow_terms::products>(where, data, count, operation::dot, write);
    } else {
      launch_products<products, T>(where, data, count, write);
    }
  }
};

}  // namespace fanin::cuda
