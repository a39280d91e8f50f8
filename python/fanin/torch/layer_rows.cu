// SPDX-License-Identifier: Apache-2.0
// The elementwise parts of norms of layers, in one kernel. Each addition and product of floats is rounded, as by the
// operators of PyTorch one after another, so that the results have the bits of these operators.
#include <cstdint>

#include <fanin/cuda/device_scope.cuh>

#include "python/fanin/torch/row_vectors.cuh"

/// A call: what python/fanin/torch/_layer_rows.py hands over. All rows have `length` elements, one after another.
struct fanin_layer_rows {
  const void *x, *grad;                 ///< rows of `type`; without `grad` the call is the norm itself
  const void *weight, *bias;            ///< a row of `weight_type` and of `bias_type`, or null
  const float *mean, *scale;            ///< a number for each row; `mean` may be null
  const float *of_weighted, *of_terms;  ///< a number for each row: means of `weighted` (or null) and `terms`
  void* out;                            ///< rows of `type`; null if the call forms terms
  float *products, *terms, *weighted;   ///< rows, or null
  std::uint64_t rows, length;
  std::int32_t type, weight_type, bias_type;
};

namespace {

constexpr unsigned threads = 256;

/// A thread has a vector of a row.
__global__ void __launch_bounds__(threads) layer_rows_kernel(const __grid_constant__ fanin_layer_rows all) {
  const auto of_row = static_cast<unsigned>(all.length / size);
  const unsigned vector = blockIdx.x * threads + threadIdx.x, row = vector / of_row, column = vector - row * of_row;
  if (row >= all.rows) return;
  numbers x = load(all.x, all.type, vector), weight;
  if (all.weight != nullptr) weight = load(all.weight, all.weight_type, column);
  if (all.mean != nullptr) for_each([&](unsigned i) { x.at[i] -= all.mean[row]; });
  const float scale = all.scale[row];
  for_each([&](unsigned i) { x.at[i] *= scale; });
  if (all.grad == nullptr) {
    if (all.weight != nullptr) for_each([&](unsigned i) { x.at[i] *= weight.at[i]; });
    if (all.bias != nullptr) {
      const numbers bias = load(all.bias, all.bias_type, column);
      for_each([&](unsigned i) { x.at[i] += bias.at[i]; });
    }
    return store(all.out, all.type, vector, x);
  }
  const numbers grad = load(all.grad, all.type, vector);
  numbers weighted = grad;
  if (all.weight != nullptr) for_each([&](unsigned i) { weighted.at[i] *= weight.at[i]; });
  if (all.out == nullptr) {
    numbers products, terms;
    for_each([&](unsigned i) { products.at[i] = grad.at[i] * x.at[i], terms.at[i] = weighted.at[i] * x.at[i]; });
    if (all.products != nullptr) store(all.products, vector, products);
    if (all.terms != nullptr) store(all.terms, vector, terms);
    if (all.weighted != nullptr) store(all.weighted, vector, weighted);
    return;
  }
  if (all.of_weighted != nullptr) for_each([&](unsigned i) { weighted.at[i] -= all.of_weighted[row]; });
  const float of_terms = all.of_terms[row];
  for_each([&](unsigned i) { x.at[i] = (weighted.at[i] - x.at[i] * of_terms) * scale; });
  store(all.out, all.type, vector, x);
}

}  // namespace

/// Enqueues the call on a stream of a device. `length` is a multiple of 8, rows are aligned to 16 bytes, and there
/// are fewer than 2^34 elements.
extern "C" FANIN_API fanin_status fanin_enqueue_layer_rows(const fanin_layer_rows* all, std::int32_t device,
                                                           void* stream) {
  return fanin::c::guarded([&] {
    const fanin::device_code::device_scope scope(device);
    const std::uint64_t vectors = all->rows * (all->length / size);
    layer_rows_kernel<<<static_cast<unsigned>((vectors + threads - 1) / threads), threads, 0,
                        static_cast<cudaStream_t>(stream)>>>(*all);
    fanin::device_code::check(cudaGetLastError(), "launching a norm of rows");
  });
}
