// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels of exact sums of rows and columns that are whole vectors, run on the CPU: each result is that of
// its own elements, whatever lanes its states go through.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "tests/unit/kernels/exact_on_cpu.hpp"

#define __grid_constant__

// These headers have to come after exact_on_cpu.hpp.
#include "backends/cuda/batch/exact_columns.cuh"
#include "backends/cuda/batch/exact_rows.cuh"
#include "backends/cuda/batch/scaled_sum.cuh"

#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

/// The accumulators under test, in an unnamed namespace as on_cpu.hpp wants it.
template <class T>
struct exact : cuda::scaled_sum<T> {};

/// Headers have functions that these kernels do not call.
[[maybe_unused]] const auto others = &cuda::find_item;

template <class A>
struct state_collector {
  std::vector<typename A::state>* states;
  std::vector<int>* writes;
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

TEST_SUITE("unit/scaled_kernels") {
  TEST_CASE_TEMPLATE("short rows", A, exact<float>, exact<double>) {
    using T = typename A::element;
    constexpr std::uint64_t size = 16 / sizeof(T), threads = cuda::tuning::row_threads;
    for (const unsigned lanes : {1u, 2u, 4u, 8u, 16u, 32u}) {
      const std::uint64_t length = size * (lanes > 2 ? lanes - 1 : lanes), rows = 8 * threads / lanes + 5;
      const auto x = small_integers<T>(rows * length);
      CAPTURE(lanes);
      check_states<A>(x, elements_of(x.data(), rows, length, length), static_cast<std::ptrdiff_t>(length), 1,
                      [&](const auto& all, const auto& write) {
                        launch(2, threads, [&] { cuda::short_exact_rows_kernel<A>(all, lanes, write); });
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
