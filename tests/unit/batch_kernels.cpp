// SPDX-License-Identifier: Apache-2.0
// Tests the kernels of rows, columns and segments, run on the CPU by the threads of a block: the order of additions,
// at every alignment, for segments of any mixture of lengths, and rows of any strides.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/call.hpp"
#include "tests/unit/kernels/exact_on_cpu.hpp"
#define __grid_constant__
// These headers have to come after the CUDA extensions.
#include <fanin/recipe.hpp>

#include "backends/cuda/batch/exact_columns.cuh"
#include "backends/cuda/batch/exact_segments.cuh"
#include "backends/cuda/batch/whole_columns.cuh"
#include "backends/cuda/batch/whole_rows.cuh"
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

/// An array of words. The first word is `shift` elements behind a boundary of 128 bytes.
template <class A>
struct shifted_array {
  using word = typename A::element;
  std::vector<cuda::vector<word>> memory;
  word* x;
  shifted_array(std::size_t count, std::size_t shift) : memory((count + shift) / cuda::vector<word>::size + 16) {
    x = memory[(8 - reinterpret_cast<std::uintptr_t>(memory.data()) / 16 % 8) % 8].at + shift;
    for (std::size_t i = 0; i < count; ++i) {
      const float small = i % 50 == 7 ? 0x1p-15f : 1;
      const float number = small * (static_cast<float>((i * 2654435761u >> 7) % 1000) / 7 - 60);
      x[i] = word_of<A>(static_cast<typename A::tested>(number));
    }
  }
};

/// `change(x, length, i)` may write the elements of segment i.
template <class A, class Change>
void check_segments(const std::vector<std::size_t>& lengths, std::size_t shift, unsigned group_size, Change change) {
  std::vector<std::uint32_t> offsets{0};
  for (const std::size_t length : lengths) offsets.push_back(offsets.back() + static_cast<std::uint32_t>(length));
  const std::size_t count = offsets.back();
  const shifted_array<A> array(count, shift);
  for (std::size_t i = 0; i < lengths.size(); ++i) change(array.x + offsets[i], lengths[i], i);
  cuda::batch_status status{};
  cuda::long_segments longs{};
  std::vector<cuda::long_segments::entry> entries(lengths.size());
  std::vector<unsigned> entry_of_chunk(2 * lengths.size() + count);
  cuda::batch_elements all{};
  all.x = array.x;
  all.x_end = array.x + count;
  all.rule = A::rule_of_words();
  all.kind = layout::segments;
  all.results = lengths.size();
  all.least_chunk = cuda::least_chunk_of(sizeof(typename A::state));
  all.most_short = cuda::most_short_segment<typename A::element>;
  all.offsets = offsets.data();
  all.count = count;
  all.longs = &longs;
  all.entries = entries.data();
  all.entry_of_chunk = entry_of_chunk.data();
  std::vector<typename A::state> short_states(lengths.size()), long_states(entry_of_chunk.size()), partials(count);
  std::vector<int> short_writes(lengths.size()), long_writes(entry_of_chunk.size());
  const keep_states<A> keep_short{&short_states, &short_writes, nullptr, &status};
  const keep_states<A> keep_long{&long_states, &long_writes, partials.data(), &status};
  cuda::batch_elements only_long = all;
  only_long.only_long = true;
  if constexpr (cuda::adds_vectors<A>) {
    launch(1, cuda::tuning::exact_segment_threads, [&] { cuda::exact_segments_kernel<A>(all, 32, keep_short); });
    launch(1, 256, [&] { cuda::long_segments_kernel<A>(only_long, keep_long); });
  } else {
    launch(1, 256, [&] { cuda::segments_kernel<A>(all, group_size, 32, keep_short); });
    launch(1, 256, [&] { cuda::segments_kernel<A>(only_long, 0, 0, keep_long); });
  }
  for (std::size_t k = 0; k < cuda::long_count(all); ++k) {
    const cuda::long_segments::entry& entry = entries[k];
    const std::size_t chunks = cuda::chunk_count(entry.length, all.least_chunk);
    std::size_t writes = 0;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      writes += static_cast<std::size_t>(long_writes[entry.first_chunk + chunk]);
      if (long_writes[entry.first_chunk + chunk] == 0) continue;
      if (writes == 1) short_states[entry.segment] = A::identity();
      A::merge(short_states[entry.segment], long_states[entry.first_chunk + chunk]);
    }
    short_writes[entry.segment] += writes == (cuda::adds_vectors<A> ? chunks : 1) ? 1 : 2;
  }
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    CAPTURE(i);
    CAPTURE(lengths[i]);
    REQUIRE(short_writes[i] == 1);
    REQUIRE(is_state_of<A>(short_states[i], array.x + offsets[i], lengths[i], all.least_chunk));
  }
  CHECK(status.longest == *std::max_element(lengths.begin(), lengths.end()));
}

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
    std::vector<typename A::element> row(all.length);
    for (std::size_t i = 0; i < all.results; ++i) {
      CAPTURE(i);
      cuda::axis_offsets at;
      at.add_all(all.axes, all.kept, i);
      for (std::size_t k = 0; k < all.length; ++k) {
        row[k] = array.x[at.x + static_cast<std::ptrdiff_t>(k) * all.axes[all.kept].stride[0]];
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

/// Folds rows of whole vectors by the kernel for their length.
template <class A>
void check_whole_rows(test_rows<A> test) {
  const std::size_t vectors = test.all.length / vector_size<A>;
  unsigned group_size = 1;
  while (group_size < 32 && group_size < vectors) group_size *= 2;
  const auto write = test.write();
  if (vectors <= 32) {
    launch(1, 256, [&] { cuda::short_rows_kernel<A, 1>(test.all, group_size, write); });
  } else if (vectors <= 64) {
    launch(1, 256, [&] { cuda::short_rows_kernel<A, 2>(test.all, group_size, write); });
  } else if (vectors <= 128) {
    launch(1, 256, [&] { cuda::short_rows_kernel<A, 4>(test.all, group_size, write); });
  } else {
    launch(1, 256, [&] { cuda::long_rows_kernel<A>(test.all, write); });
  }
  test.check();
}

/// Rows along another axis than the last one, whose neighbours fill whole vectors.
template <class A>
void check_columns(std::size_t columns, std::size_t length) {
  test_rows<A> test(columns * length, 0, columns, length);
  test.set_axes({{columns, {1}}, {length, {static_cast<std::ptrdiff_t>(columns)}}});
  unsigned group_size = 1;
  while (group_size < 32 && group_size * vector_size<A> < length) group_size *= 2;
  const auto write = test.write();
  if constexpr (cuda::adds_vectors<A>) {
    launch(2, 64, [&] { cuda::exact_columns_kernel<A>(test.all, 64 / group_size, write); });
    test.check();
  } else {
    // Where the order of additions means nothing, each slot may have a thread.
    const unsigned least = std::max(1u, group_size / cuda::slots_of_columns<A>);
    for (unsigned slots = least; slots <= (A::order_free ? group_size : least); slots *= 2) {
      std::fill(test.writes.begin(), test.writes.end(), 0);
      launch(2, 64, [&] { cuda::whole_columns_kernel<A>(test.all, 64 / slots, write); });
      test.check();
    }
  }
}

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
template <class A>
void check_lines(std::size_t outer, std::size_t rows, std::size_t length, std::size_t gap, std::size_t shift) {
  test_rows<A> test = rows_anywhere<A>(outer, rows, length, gap, shift);
  const bool by_warp = length > cuda::most_short_segment<typename A::element>;
  for (const unsigned group_size : by_warp ? std::vector{0u} : std::vector{8u, 2u}) {
    std::fill(test.writes.begin(), test.writes.end(), 0);
    launch(1, 256, [&] { cuda::segments_kernel<A>(test.all, group_size, by_warp ? 0 : 32, test.write()); });
    test.check();
  }
}

template <class T, operation What = operation::sum>
using sum_of = local<T, What, cuda::device_accumulator_of<recipe<What, method::fast, T>>>;
template <class T, operation What = operation::sum>
using exact_of = local<T, What,
                       cuda::scaled_form_t<typename cuda::shared_form<
                           T, accumulator::folds_as_t<typename recipe<What, method::exact, T>::accumulator>>::type>>;

template <class T>
using log_sum_of = local<T, operation::log_sum_exp, cuda::device_accumulator_of<cuda::recipe_of_log_sum<T>>>;

#define FANIN_WITH_EXACT_KERNELS \
  exact_of<float>, exact_of<double>, exact_of<bf16>, exact_of<f16, operation::sum_of_magnitudes>
#define FANIN_WITH_WHOLE_ROWS                                                                               \
  sum_of<float, operation::sum_of_squares>, sum_of<double>, sum_of<bf16>, sum_of<float, operation::argmin>, \
      sum_of<f16, operation::argmax>, sum_of<f16, operation::max>, sum_of<float, operation::log_sum_exp>,   \
      sum_of<bf16, operation::log_sum_exp>
#define FANIN_WITH_FAST_KERNELS                                                                          \
  FANIN_WITH_WHOLE_ROWS, sum_of<std::int8_t, operation::sum>, sum_of<std::int64_t, operation::sum>,      \
      sum_of<std::int8_t, operation::argmax>, sum_of<float, operation::minmax>,                          \
      sum_of<std::int16_t, operation::count_nonzero>, sum_of<std::int8_t, operation::variance>,          \
      sum_of<std::int16_t, operation::product>, sum_of<bf16, operation::variance>,                       \
      sum_of<std::int32_t, operation::variance>, sum_of<std::int64_t, operation::norm2>,                 \
      sum_of<std::uint32_t, operation::sum_of_squares>, sum_of<std::int64_t, operation::sum_of_squares>, \
      sum_of<e5m2, operation::log_sum_exp>, log_sum_of<std::int8_t>, log_sum_of<std::int32_t>,           \
      log_sum_of<std::int64_t>

TEST_SUITE("unit/batch_kernels") {
  TEST_CASE_TEMPLATE("segments of every length", A, FANIN_WITH_FAST_KERNELS, FANIN_WITH_EXACT_KERNELS) {
    for (std::size_t shift = 0; shift < 2 * vector_size<A>; shift += 1 + shift / 2) {
      std::vector<std::size_t> lengths;
      for (std::size_t i = 0; i < 80; ++i) lengths.push_back(i * 37 % 41 == 0 ? i * 48 : i * 31 % (1 + 2 * i));
      lengths.insert(lengths.end(), {cuda::most_short_segment<typename A::element>, 4096, 4097, 14000, 3 + shift});
      CAPTURE(shift);
      for (const unsigned group_size : {8, 2}) {
        CAPTURE(group_size);
        check_segments<A>(lengths, shift, group_size, [](auto*, std::size_t, std::size_t) {});
        if (shift > 0) break;
      }
    }
  }

  TEST_CASE_TEMPLATE("exact sums of segments whose elements share no unit, and of extreme ones", A,
                     FANIN_WITH_EXACT_KERNELS) {
    using T = typename A::tested;
    for (const std::size_t longest : {3, 40, 900}) {
      std::vector<std::size_t> lengths;
      for (std::size_t i = 0; i < 200; ++i) lengths.push_back(i * 31 % (longest + 1));
      CAPTURE(longest);
      using limits = std::numeric_limits<T>;
      for (const T number : {limits::max(), limits::min(), limits::denorm_min()}) {
        const T negative = static_cast<T>(-static_cast<typename A::number>(number));
        check_segments<A>(lengths, 1, 8, [&](auto* x, std::size_t length, std::size_t) {
          for (std::size_t k = 0; k < length; ++k) x[k] = word_of<A>(k % 3 == 1 ? negative : number);
        });
      }
      // Neighbouring segments have numbers of the same or of other magnitudes, negative zeros, zeros, and NaNs.
      for (const int step : {0, 3, 70}) {
        CAPTURE(step);
        check_segments<A>(lengths, 1, 8, [&](auto* x, std::size_t length, std::size_t i) {
          for (std::size_t k = 0; k < length; ++k) {
            const double number = (k % 2 == 0 ? 1 : -0.625) * static_cast<double>(k % 61 + 1);
            T one = static_cast<T>(static_cast<float>(std::ldexp(number, static_cast<int>(i) % 4 * step - step)));
            if (i % 11 == 0) one = T(-0.f);
            if (i % 13 == 0) one = T(k % 3 == 1 ? 0.f : -0.f);
            if (i % 17 == 0) one = T(k % 2 == 0 ? 3.f : -3.f);
            if (step == 3 && i == 150 && k + 1 == length) one = std::numeric_limits<T>::quiet_NaN();
            x[k] = word_of<A>(one);
          }
        });
      }
    }
  }

  TEST_CASE_TEMPLATE("rows of whole vectors", A, FANIN_WITH_WHOLE_ROWS) {
    for (const std::size_t vectors : {1, 2, 3, 4, 8, 15, 31, 32, 33, 63, 64, 65, 128, 300}) {
      CAPTURE(vectors);
      check_whole_rows(rows_anywhere<A>(1, 70, vectors * vector_size<A>, 0, 0));
    }
    check_whole_rows(rows_anywhere<A>(1, 3, 20000, 0, 0));
  }

  TEST_CASE_TEMPLATE("rows of whole vectors that begin anywhere", A, FANIN_WITH_WHOLE_ROWS) {
    for (const std::size_t vectors : {5, 8, 15, 31, 32, 33, 63, 64, 65, 128}) {
      CAPTURE(vectors);
      const std::size_t length = vectors * vector_size<A>;
      for (const std::size_t gap : {std::size_t{0}, std::size_t{1}, 2 * vector_size<A>}) {
        CAPTURE(gap);
        const std::size_t shift = (vectors + gap) % (vector_size<A> + 1);
        check_whole_rows(rows_anywhere<A>(1, 70, length, gap, shift));
        check_whole_rows(rows_anywhere<A>(3, 7, length, gap, shift + 1));
      }
    }
  }

  TEST_CASE_TEMPLATE("rows of any length, at any alignment, of any strides", A, FANIN_WITH_FAST_KERNELS) {
    constexpr std::size_t size = vector_size<A>;
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, std::size_t{5}, size, 2 * size + 1, std::size_t{80}, 32 * size - 1,
          33 * size, 100 * size + 3, 128 * size, 129 * size, std::size_t{9001}}) {
      CAPTURE(length);
      for (const std::size_t gap : {std::size_t{0}, std::size_t{3}, size}) {
        CAPTURE(gap);
        const std::size_t shift = (length + gap) % (2 * size);
        check_lines<A>(1, length < 1000 ? 70 : 3, length, gap, shift);
        check_lines<A>(3, length < 1000 ? 11 : 2, length, gap, shift + 1);
      }
    }
  }

  TEST_CASE_TEMPLATE("columns", A, FANIN_WITH_FAST_KERNELS, FANIN_WITH_EXACT_KERNELS) {
    for (const std::size_t length : {1, 3, 4, 17, 32, 100, 256, 1000}) {
      CAPTURE(length);
      for (const std::size_t vectors : {1, 70}) check_columns<A>(vectors * vector_size<A>, length);
    }
    check_columns<A>(2 * vector_size<A>, 10000);
  }
}

}  // namespace
}  // namespace fanin::test
