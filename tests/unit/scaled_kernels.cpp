// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels of exact sums in few words, run on the CPU. Each result has to be the result of its own
// elements, whichever threads its states go through.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tests/unit/kernels/exact_on_cpu.hpp"

#define __grid_constant__

// These headers have to come after exact_on_cpu.hpp.
#include "backends/cuda/batch/exact_columns.cuh"
#include "backends/cuda/batch/exact_rows.cuh"
#include "backends/cuda/batch/scaled_sum.cuh"
#include "backends/cuda/batch/term_columns.cuh"
#include "backends/cuda/batch/term_lines.cuh"

#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

/// The accumulators under test, in an unnamed namespace as on_cpu.hpp wants it.
template <class T>
struct exact : cuda::scaled_sum<T> {};

/// Headers have functions that these kernels do not call.
[[maybe_unused]] const auto others = &cuda::find_item;

template <class Word>
struct products : cuda::scaled_products<Word> {};
template <class Word>
struct moments : cuda::scaled_moments<Word> {};

template <class T>
struct numbers : cuda::by_word<cuda::word_for<T>, cuda::scaled_sum<T>> {};

template <class A>
struct state_collector {
  std::vector<typename A::state>* states;
  std::vector<int>* writes;
  cuda::batch_status* status = nullptr;
  void operator()(const cuda::batch_item& item, std::uint64_t, const typename A::state& s) const {
    (*states)[item.state] = s;
    ++(*writes)[item.state];
  }
};

cuda::batch_elements elements_of(const void* x, std::uint64_t results, std::uint64_t length, std::uint64_t chunk) {
  cuda::batch_elements all{};
  all.kind = fanin::layout::rows;
  all.x = x;
  all.results = results;
  all.length = length;
  all.chunk = chunk;
  all.chunks = (length + chunk - 1) / chunk;
  all.kept = all.reduced = 1;
  all.axes[0].count = results;
  all.axes[1].count = length;
  return all;
}

/// Checks the states that launch(all, write) forms of rows, whose element i of row r is at r * of_row + i * along.
template <class A, class T, class Launch>
void check_states(const std::vector<T>& x, cuda::batch_elements all, std::ptrdiff_t of_row, std::ptrdiff_t along,
                  const Launch& launch) {
  all.axes[0].stride[0] = of_row;
  all.axes[1].stride[0] = along;
  std::vector<typename A::state> states(all.results * all.chunks);
  std::vector<int> writes(states.size());
  launch(all, state_collector<A>{&states, &writes});
  for (std::uint64_t i = 0; i < states.size(); ++i) {
    CAPTURE(i);
    CHECK(writes[i] == 1);
    const std::uint64_t row = i / all.chunks, begin = i % all.chunks * all.chunk;
    const std::uint64_t end = std::min(begin + all.chunk, all.length);
    exact_accumulator<T> expected;
    for (std::uint64_t k = begin; k < end; ++k) {
      expected.add(x[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(row) * of_row +
                                              static_cast<std::ptrdiff_t>(k) * along)]);
    }
    CHECK(states[i].fits());
    CHECK(detail::to_bits(A::template finish<T>(states[i], end - begin, false)) ==
          detail::to_bits(expected.template round<T>()));
  }
}

template <class T>
std::vector<T> small_integers(std::size_t count) {
  generator random(31);
  std::vector<T> x(count);
  for (T& one : x) one = static_cast<T>(random() % 4096) - 2048;
  return x;
}

/// The word of a number in the format T: a small integer, or rarely one times a power of two from 2^-most to 2^most.
template <class T>
cuda::word_for<T> some_word(generator& random, int most) {
  float x = static_cast<float>(random() % 31) - 15;
  if (sizeof(T) > 1 && random() % 64 == 0) x = std::ldexp(x, static_cast<int>(random() % (2 * most + 1)) - most);
  const T number(x);
  cuda::word_for<T> word;
  std::memcpy(&word, &number, sizeof word);
  return word;
}

/// Arrays whose elements outside of lines are NaN. The array y begins `apart` elements further from a vector's
/// boundary than x does. Both arrays end with their last line.
template <class T>
struct line_arrays {
  using word = cuda::word_for<T>;
  static constexpr std::size_t size = 16 / sizeof(T);
  std::vector<cuda::vector<word>> of_x, of_y;
  word *x, *y;
  line_arrays(std::size_t count, std::size_t shift, std::size_t apart, int most)
      : of_x(count / size + 3),
        of_y(count / size + 3),
        x(of_x[0].at + shift),
        y(of_y[0].at + (shift + apart) % size) {
    generator random(77);
    for (auto* all : {&of_x, &of_y}) {
      for (auto& v : *all) std::ranges::fill(v.at, static_cast<word>(~word{0}));
    }
    for (std::size_t i = 0; i < count; ++i) x[i] = some_word<T>(random, most), y[i] = some_word<T>(random, most);
  }
};

/// Checks the state of `count` pairs, which pair_of(k) gives.
template <class A, class F>
void check_state(const typename A::state& s, std::size_t count, const F& pair_of) {
  exact_accumulator<double> sum;
  exact_dot_accumulator<double> products;
  for (std::size_t k = 0; k < count; ++k) {
    const auto [x, y] = pair_of(k);
    sum.add(x);
    products.add(x, y);
  }
  const auto value = []<class Exact>(const auto& words, const Exact&) {
    Exact all;
    cuda::add_words(words, all);
    return all.template round<double>();
  };
  if constexpr (requires { s.squares; }) {
    REQUIRE(value(s.squares, products) == products.template round<double>());
    REQUIRE(value(s.sum, sum) == sum.template round<double>());
    const double rounded = sum.template round<double>();
    REQUIRE(s.sum.is_negative_zero() == (count == 0 || (rounded == 0 && std::signbit(rounded))));
  } else if constexpr (std::is_same_v<typename A::state, cuda::product_sum>) {
    REQUIRE(value(s, products) == products.template round<double>());
  } else {
    REQUIRE(value(s, sum) == sum.template round<double>());
  }
}

/// Checks the states of the lines that begin at begin[i] and have length[i] elements.
template <class T, class A>
void check_line_states(const line_arrays<T>& arrays, const std::vector<typename A::state>& states,
                       const std::vector<int>& writes, const std::vector<std::size_t>& begin,
                       const std::vector<std::size_t>& length, const cuda::element_rule& rule) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    CAPTURE(i);
    CAPTURE(length[i]);
    REQUIRE(writes[i] == 1);
    REQUIRE(states[i].fits());
    check_state<A>(states[i], length[i], [&](std::size_t k) {
      const double x = A::read(arrays.x[begin[i] + k], rule), y = A::read(arrays.y[begin[i] + k], rule);
      return std::pair(x, rule.what == operation::dot ? y : x);
    });
  }
}

/// Rows and segments of `length` elements and fewer, folded by groups of `group_size` threads. Rows are cut into
/// chunks.
template <class T, class A>
void check_lines(std::size_t length, unsigned group_size, std::size_t shift, std::size_t apart, operation what,
                 std::size_t rows = 67, std::size_t chunk = 300) {
  const unsigned lines = std::min(group_size, 3u);
  const std::size_t of_row = length + 3, last = (rows - 1) * of_row + length;
  const line_arrays<T> arrays(last, shift, apart, cuda::folds_terms<A> ? 30 : 20);
  cuda::batch_elements all = elements_of(arrays.x, rows, length, std::min(length, chunk));
  all.rule = cuda::rule_of(what, type_of<T>);
  all.y = what == operation::dot ? arrays.y : arrays.x;
  all.x_end = arrays.x + last;
  all.y_end = static_cast<const cuda::word_for<T>*>(all.y) + last;
  all.axes[0].stride = {static_cast<std::ptrdiff_t>(of_row), static_cast<std::ptrdiff_t>(of_row)};
  std::vector<typename A::state> states(rows * all.chunks);
  std::vector<int> writes(states.size());
  std::vector<std::size_t> begin, lengths;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::size_t of_chunk = i % all.chunks * all.chunk;
    begin.push_back(i / all.chunks * of_row + of_chunk);
    lengths.push_back(std::min(all.chunk, length - of_chunk));
  }
  launch(2, cuda::tuning::term_threads, [&] {
    cuda::term_lines_kernel<A>(all, group_size, lines, state_collector<A>{&states, &writes});
  });
  check_line_states<T, A>(arrays, states, writes, begin, lengths, all.rule);

  // The same rows lie on two axes.
  cuda::batch_elements on_two = all;
  const std::size_t inner = rows / 2 + 1;
  on_two.kept = 2;
  on_two.axes[2] = all.axes[1];
  on_two.axes[1] = all.axes[0];
  on_two.axes[1].count = inner;
  for (std::ptrdiff_t& stride : on_two.axes[0].stride) stride *= static_cast<std::ptrdiff_t>(inner);
  states.assign(states.size(), A::identity());
  writes.assign(writes.size(), 0);
  launch(2, cuda::tuning::term_threads, [&] {
    cuda::term_lines_kernel<A>(on_two, group_size, lines, state_collector<A>{&states, &writes});
  });
  check_line_states<T, A>(arrays, states, writes, begin, lengths, all.rule);

  // The same elements form segments. Some segments are empty, and one is left to another launch.
  std::vector<std::uint32_t> offsets{0};
  begin.clear(), lengths.clear();
  for (std::size_t i = 0; offsets.back() < last; ++i) {
    const std::size_t wanted = i == 2 ? 2 * length + 50 : i % 7 == 3 ? 0 : 1 + i * 31 % (length + 40);
    begin.push_back(offsets.back());
    lengths.push_back(std::min(wanted, last - offsets.back()));
    offsets.push_back(static_cast<std::uint32_t>(offsets.back() + lengths.back()));
  }
  offsets.push_back(offsets.back());
  begin.push_back(last), lengths.push_back(0);
  cuda::batch_status status{};
  cuda::long_segments longs{};
  cuda::long_segments::entry entries[4];
  all.kind = layout::segments;
  all.results = lengths.size();
  all.offsets = offsets.data();
  all.count = last;
  all.most_short = length + 40;
  all.least_chunk = 2 * length + 50;
  all.longs = &longs;
  all.entries = entries;
  states.assign(lengths.size(), A::identity());
  writes.assign(lengths.size(), 0);
  const state_collector<A> write{&states, &writes, &status};
  launch(1, cuda::tuning::term_threads, [&] { cuda::term_lines_kernel<A>(all, group_size, lines, write); });
  CHECK(writes[2] == 0);
  CHECK(status.longest == lengths[2]);
  REQUIRE(longs.counts == (std::uint64_t{1} << cuda::long_segments::chunk_bits | 1));
  std::vector<typename A::state> of_long(1);
  std::vector<int> long_writes(1);
  all.only_long = true;
  launch(1, cuda::tuning::term_threads, [&] {
    cuda::term_lines_kernel<A>(all, group_size, lines, state_collector<A>{&of_long, &long_writes, &status});
  });
  states[2] = of_long[0];
  writes[2] = long_writes[0];
  check_line_states<T, A>(arrays, states, writes, begin, lengths, all.rule);
}

TEST_SUITE("unit/scaled_kernels") {
  TEST_CASE_TEMPLATE("terms of rows, chunks and segments at any alignment", T, float, double, bf16, e4m3) {
    using word = cuda::word_for<T>;
    const auto check = [](std::size_t length, unsigned group_size, std::size_t shift) {
      CAPTURE(length);
      CAPTURE(group_size);
      CAPTURE(shift);
      check_lines<T, products<word>>(length, group_size, shift, 0, operation::sum_of_squares);
      check_lines<T, products<word>>(length, group_size, shift, shift, operation::dot);
      check_lines<T, moments<word>>(length, group_size, shift, 0, operation::variance);
      check_lines<T, numbers<T>>(length, group_size, shift, 0, operation::sum);
      check_lines<T, numbers<T>>(length, group_size, shift, 0, operation::sum_of_magnitudes);
    };
    check(1, 1, 0);
    check(5, 2, 1);
    check(64, 8, 0);
    check(64, 1, 1);
    check(700, 32, 1);
  }

  TEST_CASE_TEMPLATE("terms of the longest chunks", T, float, bf16) {
    using word = cuda::word_for<T>;
    for (const std::size_t length : {16384, 16385}) {
      check_lines<T, products<word>>(length, 32, 0, 0, operation::sum_of_squares, 3, 16384);
      check_lines<T, moments<word>>(length, 32, 0, 0, operation::variance, 3, 16384);
    }
  }

  TEST_CASE_TEMPLATE("dot products of rows without elements read nothing", T, float, double, bf16) {
    using A = products<cuda::word_for<T>>;
    cuda::batch_elements all = elements_of(nullptr, 5, 0, 256);
    all.chunks = 1;
    all.rule = cuda::rule_of(operation::dot, type_of<T>);
    all.x_end = all.y = all.y_end = nullptr;
    std::vector<typename A::state> states(5, A::state_of({}, 0, false));
    std::vector<int> writes(states.size());
    launch(1, cuda::tuning::term_threads, [&] {
      cuda::term_lines_kernel<A>(all, 1, 1, state_collector<A>{&states, &writes});
    });
    for (std::size_t i = 0; i < states.size(); ++i) {
      CHECK(writes[i] == 1);
      CHECK(states[i].fits());
      CHECK(states[i].is_zero());
    }
  }

  TEST_CASE_TEMPLATE("terms of columns and their chunks", T, float, double, bf16) {
    using word = cuda::word_for<T>;
    constexpr std::uint64_t columns = 40;
    generator random(78);
    const auto check = [&]<class A>(const std::vector<cuda::vector<word>>& x, std::uint64_t length, unsigned slots) {
      auto all = elements_of(x[0].at, columns, length, 128);
      all.rule = cuda::rule_of(operation::variance, type_of<T>);
      all.axes[0].stride[0] = 1;
      all.axes[1].stride[0] = columns;
      std::vector<typename A::state> states(columns * all.chunks);
      std::vector<int> writes(states.size());
      const unsigned width = std::max(4u, 32 / slots);
      launch(3, width * slots, [&] {
        cuda::term_columns_kernel<A>(all, width, state_collector<A>{&states, &writes});
      });
      for (std::size_t i = 0; i < states.size(); ++i) {
        CAPTURE(i);
        REQUIRE(writes[i] == 1);
        REQUIRE(states[i].fits());
        const std::size_t begin = i % all.chunks * 128;
        check_state<A>(states[i], std::min<std::size_t>(128, length - begin), [&](std::size_t k) {
          const double one = A::read(x[0].at[(begin + k) * columns + i / all.chunks], all.rule);
          return std::pair(one, one);
        });
      }
    };
    for (const std::uint64_t length : {1, 3, 5, 6, 130, 300}) {
      std::vector<cuda::vector<word>> x(length * columns * sizeof(T) / 16);
      for (auto& v : x) {
        for (word& one : v.at) one = length == 5 ? cuda::upper_bit<word> : some_word<T>(random, 30);  // only -0
      }
      for (const unsigned slots : {1u, 4u, 32u}) {
        CAPTURE(length);
        CAPTURE(slots);
        check.template operator()<products<word>>(x, length, slots);
        check.template operator()<moments<word>>(x, length, slots);
      }
    }
  }

  TEST_CASE_TEMPLATE("short rows", A, exact<float>, exact<double>) {
    using T = typename A::element;
    constexpr std::uint64_t size = 16 / sizeof(T), threads = cuda::tuning::row_threads;
    for (const unsigned group_size : {1u, 2u, 4u, 8u, 16u, 32u}) {
      const std::uint64_t length = size * (group_size > 2 ? group_size - 1 : group_size),
                          rows = 8 * threads / group_size + 5;
      const auto x = small_integers<T>(rows * length);
      CAPTURE(group_size);
      check_states<A>(x, elements_of(x.data(), rows, length, length), static_cast<std::ptrdiff_t>(length), 1,
                      [&](const auto& all, const auto& write) {
                        launch(2, threads, [&] { cuda::short_exact_rows_kernel<A>(all, group_size, write); });
                      });
    }
  }

  TEST_CASE_TEMPLATE("long rows and their chunks", A, exact<float>, exact<double>) {
    using T = typename A::element;
    constexpr unsigned threads = cuda::tuning::row_threads;
    const std::uint64_t length = 4096 + 1232, rows = 5;
    const auto x = small_integers<T>(rows * length);
    const auto check = [&](const auto& kernel) {
      for (const std::ptrdiff_t of_row : {static_cast<std::ptrdiff_t>(length), std::ptrdiff_t{0}}) {
        check_states<A>(x, elements_of(x.data(), rows, length, 4096), of_row, 1,
                        [&](const auto& all, const auto& write) { launch(1, threads, [&] { kernel(all, write); }); });
      }
    };
    check([](const auto& all, const auto& write) { cuda::exact_rows_kernel<A, false>(all, write); });
    check([](const auto& all, const auto& write) { cuda::exact_rows_kernel<A, true>(all, write); });
  }

  TEST_CASE_TEMPLATE("columns", A, exact<float>, exact<double>) {
    using T = typename A::element;
    for (const std::uint64_t length : {1, 3, 6, 130, 300}) {
      for (const unsigned slots : {1u, 4u, 32u}) {
        const std::uint64_t columns = 40;
        const unsigned width = std::max(4u, 32 / slots);
        const auto x = small_integers<T>(columns * length);
        CAPTURE(length);
        CAPTURE(slots);
        check_states<A>(x, elements_of(x.data(), columns, length, 128), 1, columns,
                        [&](const auto& all, const auto& write) {
                          launch(3, width * slots, [&] { cuda::exact_columns_kernel<A>(all, width, write); });
                        });
      }
    }
  }
}

}  // namespace
}  // namespace fanin::test
