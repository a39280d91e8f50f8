// SPDX-License-Identifier: Apache-2.0
// Tests the kernels of segments, columns and rows of any length, run on the CPU by the threads of a block: the order
// of additions, at every alignment, for segments of any mixture of lengths, and rows of any strides.
#include "tests/unit/batch_on_cpu.hpp"
// These headers have to come after the CUDA extensions.
#include "backends/cuda/batch/exact_columns.cuh"
#include "backends/cuda/batch/exact_segments.cuh"
#include "backends/cuda/batch/whole_columns.cuh"

namespace fanin::test {
namespace {

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

template <class T>
using log_sum_of = local<T, operation::log_sum_exp, cuda::device_accumulator_of<cuda::recipe_of_log_sum<T>>>;

#define FANIN_WITH_EXACT_KERNELS \
  exact_of<float>, exact_of<double>, exact_of<bf16>, exact_of<f16, operation::sum_of_magnitudes>
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
