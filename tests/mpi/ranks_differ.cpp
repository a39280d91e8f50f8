// SPDX-License-Identifier: Apache-2.0
// Ranks that do not agree, or fail: every rank throws, and none waits.
#include <doctest/doctest.h>

#include <vector>

#include <fanin/mpi.hpp>

namespace {

using fanin::mpi::detail::rank_count;
using fanin::mpi::detail::rank_in;

const std::vector<double> x{1, 2, 3};

/// Every other number, as a part of a matrix of another library may be.
struct with_gaps {
  const double* data() const { return x.data(); }
  std::size_t size() const { return 2; }
  std::size_t innerSize() const { return 2; }
  std::size_t innerStride() const { return 2; }
  std::size_t outerStride() const { return 4; }
};

}  // namespace

TEST_SUITE_BEGIN("mpi/ranks_differ");

TEST_CASE("a rank that fails throws its own error, and the others that another one failed") {
  const bool fails = rank_in(MPI_COMM_WORLD) == rank_count(MPI_COMM_WORLD) - 1;
  const fanin::options chosen{.backend = fails ? "abacus" : "serial"};
  const auto check_failure = [&](auto call) {
    if (fails) CHECK_THROWS_WITH_AS(call(), doctest::Contains("abacus"), fanin::invalid_argument);
    if (!fails) CHECK_THROWS_AS(call(), fanin::mpi::other_rank_failed);
  };
  check_failure([&] { return fanin::mpi::sum(x, MPI_COMM_WORLD, chosen).value; });
  check_failure([&] { return fanin::mpi::max(x, MPI_COMM_WORLD, chosen).value; });
  check_failure([&] { return fanin::mpi::argmin(x, MPI_COMM_WORLD, chosen).value; });
  check_failure([&] { return fanin::mpi::start_mean(x, MPI_COMM_WORLD, chosen).wait().value; });
  CHECK(fanin::mpi::sum(x, MPI_COMM_WORLD).value == 6 * rank_count(MPI_COMM_WORLD));
}

TEST_CASE("a rank whose arguments are refused takes part, so that the others do not wait") {
  const bool fails = rank_in(MPI_COMM_WORLD) == 0;
  const auto check_failure = [&](auto call) {
    if (fails) CHECK_THROWS_AS(call(), fanin::invalid_argument);
    if (!fails) CHECK_THROWS_AS(call(), fanin::mpi::other_rank_failed);
  };
  check_failure([&] {
    return fails ? fanin::mpi::sum(with_gaps(), MPI_COMM_WORLD).value : fanin::mpi::sum(x, MPI_COMM_WORLD).value;
  });
  fanin::indexed<double> found{};
  check_failure([&] {
    return fanin::mpi::reduce(fanin::operation::argmin, std::span<const double>(x),
                              fails
                                  ? fanin::result_view(nullptr, fanin::element_type::f64, fanin::result_form::indexed)
                                  : fanin::result_view(found),
                              MPI_COMM_WORLD);
  });
  const fanin::input_views field{std::span<const double>(x)};
  std::vector<fanin::extremes<double>> both(1);
  std::vector<double> one(1);
  check_failure([&] {
    return fanin::mpi::reduce_each(fanin::operation::minmax, std::span(&field, 1),
                                   fails ? fanin::results_view(one) : fanin::results_view(both), MPI_COMM_WORLD);
  });
  CHECK(fanin::mpi::sum(x, MPI_COMM_WORLD).value == 6 * rank_count(MPI_COMM_WORLD));
}

TEST_CASE("ranks that ask for different things all get an error") {
  if (rank_count(MPI_COMM_WORLD) == 1) return;
  const bool differs = rank_in(MPI_COMM_WORLD) == 1;
  const auto skip = differs ? fanin::nan_policy::skip : fanin::nan_policy::propagate;
  CHECK_THROWS_WITH_AS(fanin::mpi::sum(x, MPI_COMM_WORLD, {.nan = skip}), doctest::Contains("different operations"),
                       fanin::invalid_argument);
  CHECK_THROWS_AS(differs ? fanin::mpi::mean(x, MPI_COMM_WORLD) : fanin::mpi::sum(x, MPI_COMM_WORLD),
                  fanin::invalid_argument);
  CHECK_THROWS_AS(differs ? fanin::mpi::min(x, MPI_COMM_WORLD) : fanin::mpi::max(x, MPI_COMM_WORLD),
                  fanin::invalid_argument);
}

TEST_CASE("different operations and types have messages of one length, so that MPI finds nothing wrong with them") {
  if (rank_count(MPI_COMM_WORLD) == 1) return;
  const std::vector<float> narrow{1, 2, 3};
  const std::vector<double> wide{0x1p-900, 0x1p900};
  const bool differs = rank_in(MPI_COMM_WORLD) == rank_count(MPI_COMM_WORLD) - 1;
  const auto check_refused = [&](auto one, auto other) {
    CHECK_THROWS_WITH_AS(differs ? static_cast<double>(other()) : static_cast<double>(one()),
                         doctest::Contains("different operations"), fanin::invalid_argument);
  };
  const auto sum_of = [](const auto& of) { return [&] { return fanin::mpi::sum(of, MPI_COMM_WORLD).value; }; };
  check_refused(sum_of(x), sum_of(narrow));
  check_refused(sum_of(wide), sum_of(narrow));
  check_refused(sum_of(narrow), sum_of(wide));
  check_refused(sum_of(x), [&] { return fanin::mpi::sum(std::vector<int>{1}, MPI_COMM_WORLD).value; });
  check_refused(sum_of(x), [&] { return fanin::mpi::dot(x, x, MPI_COMM_WORLD).value; });
  check_refused(sum_of(x), [&] { return fanin::mpi::max(x, MPI_COMM_WORLD).value; });
  check_refused(sum_of(x), [&] { return fanin::mpi::any(x, MPI_COMM_WORLD).value; });
  CHECK(fanin::mpi::sum(x, MPI_COMM_WORLD).value == 6 * rank_count(MPI_COMM_WORLD));
}

TEST_CASE("the common length of messages is that of the longest sum of real numbers") {
  for (const fanin::operation what :
       {fanin::operation::sum_of_squares, fanin::operation::dot, fanin::operation::sum}) {
    CHECK(fanin::lanes_of(what, fanin::element_type::f64).count <= fanin::mpi::detail::common_lanes);
  }
}

TEST_CASE("of ranks that start different reductions, all get an error, and with a root the root") {
  if (rank_count(MPI_COMM_WORLD) == 1) return;
  const std::vector<float> narrow{1, 2, 3};
  const std::vector<int> whole{1};
  const bool differs = rank_in(MPI_COMM_WORLD) == rank_count(MPI_COMM_WORLD) - 1,
             is_root = rank_in(MPI_COMM_WORLD) == 0;
  const fanin::mpi::place everyone{MPI_COMM_WORLD}, root{MPI_COMM_WORLD, 0};
  const auto check_refused = [&](bool hears, auto one, auto other) {
    const auto call = [&] { return differs ? static_cast<double>(other()) : static_cast<double>(one()); };
    if (!hears) CHECK(call() == 0);
    if (hears) CHECK_THROWS_WITH_AS(call(), doctest::Contains("different operations"), fanin::invalid_argument);
  };
  for (const auto& [where, hears] : {std::pair(everyone, true), std::pair(root, is_root)}) {
    const auto sum_of = [&, to = where](const auto& of) {
      return [&of, to] { return fanin::mpi::start_sum(of, to).wait().value; };
    };
    check_refused(hears, sum_of(x), sum_of(narrow));
    check_refused(hears, sum_of(narrow), sum_of(x));
    check_refused(hears, sum_of(x), sum_of(whole));
    check_refused(hears, sum_of(x), [&, to = where] { return fanin::mpi::start_dot(x, x, to).wait().value; });
    check_refused(hears, sum_of(x), [&, to = where] { return fanin::mpi::start_max(x, to).wait().value; });
    check_refused(hears, sum_of(whole),
                  [&, to = where] { return fanin::mpi::start_variance(narrow, to).wait().value; });
  }
  check_refused(
      is_root, [&] { return fanin::mpi::sum(x, root).value; },
      [&] { return fanin::mpi::sum_of_squares(x, root).value; });
  check_refused(
      is_root, [&] { return fanin::mpi::sum(whole, root).value; },
      [&] { return fanin::mpi::min(narrow, root).value; });
  CHECK(fanin::mpi::start_sum(x, everyone).wait().value == 6 * rank_count(MPI_COMM_WORLD));
}

TEST_CASE("errors that all ranks find alike") {
  const std::vector<std::uint64_t> large{~std::uint64_t{0}, 1};
  CHECK_THROWS_AS(fanin::mpi::sum(large, MPI_COMM_WORLD), fanin::overflow);
  CHECK_THROWS_AS(fanin::mpi::min(std::vector<float>(), MPI_COMM_WORLD), fanin::invalid_argument);
  CHECK_THROWS_AS(fanin::mpi::argmin(std::vector<float>(), MPI_COMM_WORLD), fanin::invalid_argument);
  CHECK_THROWS_AS(fanin::mpi::sum(x, MPI_COMM_WORLD, fanin::fast), fanin::invalid_argument);
  CHECK_THROWS_AS(fanin::mpi::sum(x, {MPI_COMM_WORLD, rank_count(MPI_COMM_WORLD)}), fanin::mpi::mpi_error);
}

TEST_SUITE_END();
