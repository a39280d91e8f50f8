// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/narrow_runs.hpp"

#include <algorithm>
#include <cstddef>

#include "backends/cpu/exact.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/word_runs.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin::cpu {
namespace {

/// Runs of more elements are left. The floats of all runs that are reduced at once stay in the L1 cache.
constexpr std::size_t block = 4096;

/// Converts runs to floats, neighbours in memory by one call.
void widen_all(const operands* runs, const std::size_t* counts, std::size_t number, element_type type, float* out) {
  const std::size_t bytes = byte_size(type);
  for (std::size_t i = 0; i < number;) {
    const auto* const begin = static_cast<const std::byte*>(runs[i].x);
    std::size_t count = counts[i++];
    while (i < number && runs[i].x == begin + count * bytes) count += counts[i++];
    widen(begin, count, type, out);
    out += count;
  }
}

/// Converts results, which are elements or have elements, from floats to the narrow type T.
template <class T>
void narrow_results(result_form form, const void* floats, std::size_t count, void* out) {
  if (form == result_form::indexed) {
    const auto* const from = static_cast<const indexed<float>*>(floats);
    std::transform(from, from + count, static_cast<indexed<T>*>(out), [](const auto& x) {
      return indexed<T>{T(x.value), x.index};
    });
    return;
  }
  const std::size_t numbers = form == result_form::extremes ? 2 * count : count;
  const auto* const from = static_cast<const float*>(floats);
  std::transform(from, from + numbers, static_cast<T*>(out), [](float x) { return T(x); });
}

/// Whether results are rounded from exact sums of elements of 16 bits.
bool rounds_sums_of_16_bits(const request& request) {
  const element_type type = request.inputs.type();
  const summand adds = row_of(request.what).adds;
  return request.method == method::exact && (type == element_type::f16 || type == element_type::bf16) &&
         adds != summand::none && adds != summand::exponentials;
}

/// Reduces runs whose elements need not become floats of 32 bits in memory. Bit i of the returned number says that
/// run i is left.
std::uint64_t reduce_words(const request& request, std::span<const operands> runs, const std::size_t* counts,
                           void* out) {
  const element_type type = request.inputs.type();
  std::uint64_t left = ~std::uint64_t{0} >> (64 - runs.size());
  if (rounds_sums_of_16_bits(request)) {
    return round_each_narrow(request.what, type, runs.data(), counts, runs.size(), request.result, out);
  }
  if (!row_of(request.what).unrounded) return left;
  with_element(type, [&]<class T>() {
    if constexpr (narrow_float<T>) {
      left = compare_words(request.what, key_form_of<T>(), runs.data(), counts, runs.size(), out);
    }
  });
  return left;
}

}  // namespace

const arithmetic* arithmetic_of_floats(const request& request) {
  const auto* const own = static_cast<const arithmetic*>(request.prepared);
  const element_type type = request.inputs.type();
  if (request.own != nullptr || !is_widened(type) || request.inputs.size() > 1) return own;
  if (own != &find_functions(request.what, type, request.method)->arithmetic) return own;
  return &find_functions(request.what, element_type::f32, request.method)->arithmetic;
}

std::uint64_t reduce_each_widened(const arithmetic& floats, const request& request, std::span<const operands> runs,
                                  const std::size_t* counts, void* out, std::size_t result_bytes) {
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - runs.size());
  if (const std::uint64_t rest = reduce_words(request, runs, counts, out); rest != all) return rest;
  const bool is_element = is_widened(request.result) && row_of(request.what).unrounded;
  const element_type result = is_element ? element_type::f32 : request.result;
  alignas(64) float x[block];
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < runs.size();) {
    operands wide[arithmetic::most_runs];
    const std::size_t first = i;
    std::size_t filled = 0;
    for (; i < runs.size() && counts[i] <= block - filled; ++i) {
      wide[i - first] = {x + filled};
      filled += counts[i];
    }
    if (i == first) {
      left |= std::uint64_t{1} << i++;
      continue;
    }
    // reduce_each() does not write the results of runs that it leaves.
    alignas(indexed<float>) std::byte results[sizeof(indexed<float>) * arithmetic::most_runs] = {};
    std::byte* const to = static_cast<std::byte*>(out) + first * result_bytes;
    widen_all(&runs[first], counts + first, i - first, request.inputs.type(), x);
    left |= floats.reduce_each(request.what, wide, counts + first, i - first, result, is_element ? results : to)
            << first;
    if (!is_element) continue;
    with_element(request.result, [&]<class T>() {
      if constexpr (narrow_float<T>) narrow_results<T>(row_of(request.what).form, results, i - first, to);
    });
  }
  return left;
}

}  // namespace fanin::cpu
