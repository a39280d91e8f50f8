// SPDX-License-Identifier: Apache-2.0
// Arrays, rows and writers for tests of the kernels of batches that run on the CPU, and the states that the order of
// additions in docs/batch.md gives.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "tests/support/call.hpp"
#include "tests/unit/kernels/exact_on_cpu.hpp"
#define __grid_constant__
// These headers have to come after the CUDA extensions.
#include <fanin/recipe.hpp>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_sum.cuh"
#include "backends/cuda/recipes.hpp"
#include "tests/unit/local_words.hpp"

namespace fanin::test {
namespace {

/// The numbers of a vector of 16 bytes.
template <class A>
constexpr std::size_t vector_size = cuda::vector<typename A::element>::size;

/// The state of `count` parts: add(state, i) adds part i. `width` neighbours share a slot, and slots merge as a tree.
template <class A, class Add>
typename A::state over_slots(std::size_t count, std::size_t width, Add add) {
  std::vector<typename A::state> s(cuda::chunk_slots, A::identity());
  for (std::size_t i = 0; i < count; ++i) add(s[i / width % s.size()], i);
  for (std::size_t half = s.size() / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) A::merge(s[k], s[k + half]);
  }
  return s[0];
}
/// The state of a chunk, in the order of docs/batch.md.
template <class A, class T = typename A::element>
typename A::state chunk_in_order(const T* x, std::size_t count, std::size_t position) {
  return over_slots<A>(count, vector_size<A>, [&](typename A::state& s, std::size_t i) {
    accumulator::add_at<A>(s, position + i, number_of<A>(x[i]));
  });
}
template <class A, class T = typename A::element>
typename A::state in_order(const T* x, std::size_t count, std::size_t least_chunk) {
  const std::size_t size = cuda::chunk_elements(count, least_chunk), chunks = cuda::chunk_count(count, least_chunk);
  if (chunks == 1) return chunk_in_order<A>(x, count, 0);
  return over_slots<A>(chunks, 1, [&](typename A::state& s, std::size_t k) {
    A::merge(s, chunk_in_order<A>(x + k * size, std::min(size, count - k * size), k * size));
  });
}

/// Whether the state is the state of the segment.
template <class A, class T = typename A::element>
bool is_state_of(const typename A::state& s, const T* x, std::size_t count, std::size_t least_chunk) {
  if constexpr (cuda::adds_vectors<A>) {
    using R = typename A::number;
    exact_accumulator<R> sum;
    constexpr double least = sizeof(R) == 8 ? 0x1p-1007 : 0x1p-104, end = 0x1p1008;  // docs/batch.md
    bool may_not_fit = false;
    for (std::size_t i = 0; i < count; ++i) {
      const R number = number_of<A>(x[i]);
      sum.add(number);
      const double magnitude = std::abs(static_cast<double>(number));
      may_not_fit |= magnitude >= end || (magnitude > 0 && magnitude < least);
    }
    const R expected = sum.template round<R>();
    if (!s.fits()) return may_not_fit || !std::isfinite(expected);
    return bits_of(A::template finish<R>(s, count, false)) == bits_of(expected);
  } else {
    return s == in_order<A>(x, count, least_chunk);
  }
}

/// A writer of kernels that keeps the states, and counts how often it is called for each.
template <class A>
struct keep_states {
  std::vector<typename A::state>* states;
  std::vector<int>* writes;
  void* partials;
  cuda::batch_status* status;
  void operator()(const cuda::batch_item& item, std::uint64_t, const typename A::state& s) const {
    (*states)[item.state] = s;
    ++(*writes)[item.state];
  }
};

/// An array of words, whose memory ends with its last word. The first word is `shift` elements behind a boundary of
/// 128 bytes.
template <class A>
struct shifted_array {
  using word = typename A::element;
  static constexpr std::align_val_t boundary{128};
  struct release {
    void operator()(word* words) const { ::operator delete(words, boundary); }
  };
  std::unique_ptr<word, release> memory;
  word* x;
  shifted_array(std::size_t count, std::size_t shift)
      : memory(static_cast<word*>(::operator new((count + shift) * sizeof(word), boundary))),
        x(memory.get() + shift) {
    std::fill_n(memory.get(), shift, word{});
    for (std::size_t i = 0; i < count; ++i) {
      const float small = i % 50 == 7 ? 0x1p-15f : 1;
      const float number = small * (static_cast<float>((i * 2654435761u >> 7) % 1000) / 7 - 60);
      x[i] = word_of<A>(static_cast<typename A::tested>(number));
    }
  }
};

/// Rows of `length` elements of an array that begins `shift` elements behind a boundary.
template <class A>
struct test_rows {
  shifted_array<A> array;
  cuda::batch_elements all{};
  std::vector<typename A::state> states;
  std::vector<int> writes;

  test_rows(std::size_t count, std::size_t shift, std::size_t rows, std::size_t length) : array(count, shift) {
    all.x = array.x;
    all.x_end = array.x + count;
    all.rule = A::rule_of_words();
    all.kind = layout::rows;
    all.results = rows;
    all.least_chunk = cuda::least_chunk_of(sizeof(typename A::state));
    all.length = length;
    all.chunk = cuda::chunk_elements(length, all.least_chunk);
    all.chunks = cuda::chunk_count(length, all.least_chunk);
    states.resize(rows * all.chunks);
    writes.resize(rows * all.chunks);
  }
  keep_states<A> write() { return {&states, &writes, nullptr, nullptr}; }
  /// The axes of 1 or 2 kept axes and of the elements of a row.
  void set_axes(const std::vector<array_axis>& axes) {
    all.kept = static_cast<unsigned>(axes.size()) - 1;
    all.reduced = 1;
    std::copy(axes.begin(), axes.end(), all.axes);
  }
  void check() const {
    const auto* const first = static_cast<const typename A::element*>(all.x);
    std::vector<typename A::element> row(all.length);
    for (std::size_t i = 0; i < all.results; ++i) {
      CAPTURE(i);
      cuda::axis_offsets at;
      at.add_all(all.axes, all.kept, i);
      for (std::size_t k = 0; k < all.length; ++k) {
        row[k] = first[at.x + static_cast<std::ptrdiff_t>(k) * all.axes[all.kept].stride[0]];
      }
      for (std::size_t chunk = 0; chunk < all.chunks; ++chunk) {
        REQUIRE(writes[i * all.chunks + chunk] == 1);
        const std::size_t begin = chunk * all.chunk, count = std::min<std::size_t>(all.chunk, all.length - begin);
        const typename A::state& found = states[i * all.chunks + chunk];
        if constexpr (cuda::adds_vectors<A>) {
          REQUIRE(is_state_of<A>(found, row.data() + begin, count, all.least_chunk));
        } else {
          REQUIRE(found == chunk_in_order<A>(row.data() + begin, count, begin));
        }
      }
    }
  }
};

/// `outer` times `rows` rows, each `gap` elements behind the end of the one before.
template <class A>
test_rows<A> rows_anywhere(std::size_t outer, std::size_t rows, std::size_t length, std::size_t gap,
                           std::size_t shift) {
  const std::size_t stride = length + gap, outer_stride = rows * stride + 3;
  test_rows<A> test(outer * outer_stride - 3 - gap, shift, outer * rows, length);
  std::vector<array_axis> axes{{rows, {static_cast<std::ptrdiff_t>(stride)}}, {length, {1}}};
  if (outer > 1) axes.insert(axes.begin(), array_axis{outer, {static_cast<std::ptrdiff_t>(outer_stride)}});
  test.set_axes(axes);
  return test;
}
template <class T, operation What = operation::sum>
using sum_of = local<T, What, cuda::device_accumulator_of<recipe<What, method::fast, T>>>;
template <class T, operation What = operation::sum>
using exact_of = local<T, What,
                       cuda::scaled_form_t<typename cuda::shared_form<
                           T, accumulator::folds_as_t<typename recipe<What, method::exact, T>::accumulator>>::type>>;

#define FANIN_WITH_WHOLE_ROWS                                                                               \
  sum_of<float, operation::sum_of_squares>, sum_of<double>, sum_of<bf16>, sum_of<float, operation::argmin>, \
      sum_of<f16, operation::argmax>, sum_of<f16, operation::max>, sum_of<float, operation::log_sum_exp>,   \
      sum_of<bf16, operation::log_sum_exp>

}  // namespace
}  // namespace fanin::test
