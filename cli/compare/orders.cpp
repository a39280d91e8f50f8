// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/orders.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <vector>

namespace fanin::cli {

namespace {

template <class R>
R add_in_order(std::span<const R> x) {
  R sum = 0;
  for (const R element : x) sum += element;
  return sum;
}

/// Eight sums side by side in a block of up to 128 elements; longer arrays are halved. [numpy, pairwise summation]
template <class R>
R add_pairwise(std::span<const R> x) {
  constexpr std::size_t side_by_side = 8, block = 128;
  if (x.size() < side_by_side) return add_in_order(x);
  if (x.size() > block) {
    const std::size_t half = x.size() / 2 / side_by_side * side_by_side;
    return add_pairwise(x.first(half)) + add_pairwise(x.subspan(half));
  }
  R partial[side_by_side];
  std::copy_n(x.begin(), side_by_side, partial);
  std::size_t i = side_by_side;
  for (; i + side_by_side <= x.size(); i += side_by_side) {
    for (std::size_t j = 0; j < side_by_side; ++j) partial[j] += x[i + j];
  }
  R sum = ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
          ((partial[4] + partial[5]) + (partial[6] + partial[7]));
  for (; i < x.size(); ++i) sum += x[i];
  return sum;
}

template <class R>
R add(adding_order order, std::vector<R> x, bool apart, std::uint64_t call) {
  if (order == adding_order::any_order) {
    std::mt19937_64 random(call);
    std::shuffle(x.begin(), x.end(), random);
  }
  const std::span<const R> elements(x);
  return order == adding_order::numpy && !apart ? add_pairwise(elements) : add_in_order(elements);
}

}  // namespace

std::string_view to_string(adding_order order) {
  constexpr std::string_view names[] = {"in-order", "numpy", "any-order"};
  return names[static_cast<std::size_t>(order)];
}

scalar sum_in_order(adding_order order, const array_view& elements, bool apart, std::uint64_t call) {
  return with_element(elements.type, [&]<class T>() -> scalar {
    if constexpr (floating<T>) {
      const auto* const x = static_cast<const T*>(elements.data);
      return add(order, std::vector<computed_as<T>>(x, x + elements.count), apart, call);
    }
    return {};
  });
}

}  // namespace fanin::cli
