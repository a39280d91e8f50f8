// SPDX-License-Identifier: Apache-2.0
// Sums at the edges of the words that travel first: every rank has the same elements, and every call gives the bits
// of one process.
#include <doctest/doctest.h>

#include <bit>
#include <complex>
#include <string>
#include <vector>

#include <fanin/mpi.hpp>

#include "tests/support/float_environment.hpp"

namespace {

using fanin::input_views;
using fanin::operation;

const fanin::mpi::place everyone(MPI_COMM_WORLD), root(MPI_COMM_WORLD, 0);

/// Every call over MPI that gives the value of all ranks' elements.
std::vector<double> values_over_mpi(operation what, const input_views& own) {
  std::vector<double> values(5);
  fanin::mpi::reduce(what, own, values[0], everyone);
  fanin::mpi::reduce(what, own, values[1], root);
  fanin::mpi::reduce_each(what, std::vector{own, own.part(0, 1)}, std::span(values).subspan(2, 2), everyone);
  values[4] = fanin::mpi::pending<double>(what, {own}, everyone, {}).wait().value;
  return values;
}

double value_of(operation what, const std::vector<double>& x) {
  double value = 0;
  const input_views inputs = fanin::detail::repeated(what, std::span<const double>(x));
  fanin::reduce(what, inputs, value, {.backend = "serial", .method = fanin::method::exact});
  return value;
}

}  // namespace

TEST_SUITE_BEGIN("mpi/edges");

TEST_CASE("parts that the first message holds, and sums and squares that it barely holds or does not") {
  const auto ranks = static_cast<std::size_t>(fanin::mpi::detail::rank_count(MPI_COMM_WORLD));
  const bool is_root = fanin::mpi::detail::rank_in(MPI_COMM_WORLD) == 0;
  // If ranks take turns on few cores, each reduction takes milliseconds.
  const std::size_t apart = ranks > 8 ? 5 : 1;
  std::size_t turn = 0;
  for (const double x : {0x1p300, 0x1p301, -0x1.8p301, 0x1p302, 0x1.8p157, 0x1p158, -0x1p-338, 0x1p-1074}) {
    for (const operation what :
         {operation::sum, operation::sum_of_magnitudes, operation::sum_of_squares, operation::dot}) {
      if (turn++ % apart != 0) continue;
      const std::vector<double> own{x, x / 2}, firsts(ranks, x);
      std::vector<double> all;
      for (std::size_t i = 0; i < ranks; ++i) all.insert(all.end(), own.begin(), own.end());
      const double total = value_of(what, all), of_firsts = value_of(what, firsts);
      const std::vector<double> expected{total, is_root ? total : 0, total, of_firsts, total};
      const auto values = values_over_mpi(what, fanin::detail::repeated(what, std::span<const double>(own)));
      INFO(fanin::to_string(what), " of ", x);
      for (std::size_t i = 0; i < values.size(); ++i) {
        CAPTURE(i);
        CHECK(std::bit_cast<std::uint64_t>(values[i]) == std::bit_cast<std::uint64_t>(expected[i]));
      }
    }
  }
}

TEST_CASE("values do not depend on the caller's floating-point environment") {
  const std::int64_t integers[] = {1, 0, 0};
  const float subnormal[] = {-0x1.e07934p-127f};
  const std::complex<float> small[] = {0x1p-80f}, minus[] = {-0x1p-80f};
  for (const fanin::test::caller_environment& one : fanin::test::caller_environments) {
    double mean = 0;
    float largest = 0;
    std::complex<float> dot;
    {
      const fanin::test::changed_environment here(one.rounding, one.how);
      mean = fanin::mpi::mean(integers, everyone).value;
      largest = fanin::mpi::max_magnitude(subnormal, everyone).value;
      dot = fanin::mpi::dot(small, minus, everyone).value;
    }
    CAPTURE(std::string(one.name));
    CHECK(mean == 0x1.5555555555555p-2);
    CHECK(largest == 0x1.e07934p-127f);
    CHECK(std::bit_cast<std::uint64_t>(dot) == 0);
  }
}

TEST_SUITE_END();
