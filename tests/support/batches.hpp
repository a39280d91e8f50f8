// SPDX-License-Identifier: Apache-2.0
// Batches, and what each of their results is to be: the reduction of its elements alone.
#pragma once

#include <numeric>
#include <vector>

#include <fanin/batch.hpp>

#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {

/// Elements whose reductions can be compared bit by bit. Products of them neither overflow nor underflow.
template <class T>
std::vector<T> values_for(operation what, std::size_t count, std::uint64_t seed) {
  return what == operation::product ? unit_factors<T>(count, seed) : mixed_values<T>(count, seed);
}

/// The results of a batch, and the backend's report.
struct batch_reduction : outcome {
  std::vector<scalar> values;
};

/// The reductions of the batch by `b`, with selection's usual checks of the request.
inline batch_reduction call_each(const backend& b, operation what, const batch& many, const options& chosen = {}) {
  const backend* const only[] = {&b};
  const request prepared = select(only, b.name(), what, many.inputs, chosen, {}, many.kind).what;
  return with_result_type(what, prepared.result, [&]<class R>() {
    std::vector<R> values(many.result_count);
    const outcome answer = b.reduce_each(prepared, many, values);
    return batch_reduction{answer, std::vector<scalar>(values.begin(), values.end())};
  });
}

/// The places of the elements of each row, in C order. Places are counted in elements from the array's first
/// element. A row is along the axes that `is_reduced` names.
inline std::vector<std::vector<std::ptrdiff_t>> places_of_rows(const std::vector<std::size_t>& shape,
                                                               const std::vector<std::ptrdiff_t>& strides,
                                                               const std::vector<bool>& is_reduced) {
  std::size_t rows = 1, total = 1;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (!is_reduced[a]) rows *= shape[a];
    total *= shape[a];
  }
  std::vector<std::vector<std::ptrdiff_t>> places(rows);
  for (std::size_t i = 0; i < total; ++i) {
    std::size_t rest = i, row = 0, rows_inside = 1;
    std::ptrdiff_t place = 0;
    for (std::size_t a = shape.size(); a-- > 0;) {
      const std::size_t index = rest % shape[a];
      rest /= shape[a];
      place += static_cast<std::ptrdiff_t>(index) * strides[a];
      if (is_reduced[a]) continue;
      row += index * rows_inside;
      rows_inside *= shape[a];
    }
    places[row].push_back(place);
  }
  return places;
}

inline std::vector<std::ptrdiff_t> strides_in_order(const std::vector<std::size_t>& shape) {
  std::vector<std::ptrdiff_t> strides(shape.size());
  std::ptrdiff_t next = 1;
  for (std::size_t a = shape.size(); a-- > 0;) {
    strides[a] = next;
    next *= static_cast<std::ptrdiff_t>(shape[a]);
  }
  return strides;
}

}  // namespace fanin::test
