// SPDX-License-Identifier: Apache-2.0
// Ranks that do not agree, or fail: every rank throws, and none waits.
#include <doctest/doctest.h>

#include <vector>

#include <fanin/mpi.hpp>

namespace {

using fanin::mpi::detail::rank_in;
using fanin::mpi::detail::size_of;

const std::vector<double> x{1, 2, 3};

}  // namespace

TEST_SUITE_BEGIN("mpi/ranks_differ");

TEST_CASE("a rank that fails throws its own error, and the others that another one failed") {
  const bool fails = rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  const fanin::options chosen{.backend = fails ? "abacus" : "serial"};
  const auto check_failure = [&](auto call) {
    if (fails) CHECK_THROWS_WITH_AS(call(), doctest::Contains("abacus"), fanin::invalid_argument);
    if (!fails) CHECK_THROWS_AS(call(), fanin::mpi::other_rank_failed);
  };
  check_failure([&] { return fanin::mpi::sum(x, MPI_COMM_WORLD, chosen).value; });
  check_failure([&] { return fanin::mpi::max(x, MPI_COMM_WORLD, chosen).value; });
  check_failure([&] { return fanin::mpi::argmin(x, MPI_COMM_WORLD, chosen).value; });
  check_failure([&] { return fanin::mpi::start_mean(x, MPI_COMM_WORLD, chosen).wait().value; });
  CHECK(fanin::mpi::sum(x, MPI_COMM_WORLD).value == 6 * size_of(MPI_COMM_WORLD));
}

TEST_CASE("ranks that ask for different things all get an error") {
  if (size_of(MPI_COMM_WORLD) == 1) return;
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
  if (size_of(MPI_COMM_WORLD) == 1) return;
  const std::vector<float> narrow{1, 2, 3};
  const std::vector<double> unusual{0x1p-900, 0x1p900};
  const bool differs = rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  const auto check_refused = [&](auto one, auto other) {
    CHECK_THROWS_WITH_AS(differs ? static_cast<double>(other()) : static_cast<double>(one()),
                         doctest::Contains("different operations"), fanin::invalid_argument);
  };
  const auto sum_of = [](const auto& of) { return [&] { return fanin::mpi::sum(of, MPI_COMM_WORLD).value; }; };
  check_refused(sum_of(x), sum_of(narrow));
  check_refused(sum_of(unusual), sum_of(narrow));
  check_refused(sum_of(narrow), sum_of(unusual));
  check_refused(sum_of(x), [&] { return fanin::mpi::sum(std::vector<int>{1}, MPI_COMM_WORLD).value; });
  check_refused(sum_of(x), [&] { return fanin::mpi::dot(x, x, MPI_COMM_WORLD).value; });
  check_refused(sum_of(x), [&] { return fanin::mpi::max(x, MPI_COMM_WORLD).value; });
  check_refused(sum_of(x), [&] { return fanin::mpi::any(x, MPI_COMM_WORLD).value; });
  CHECK(fanin::mpi::sum(x, MPI_COMM_WORLD).value == 6 * size_of(MPI_COMM_WORLD));
}

TEST_CASE("errors that all ranks find alike") {
  const std::vector<std::uint64_t> large{~std::uint64_t{0}, 1};
  CHECK_THROWS_AS(fanin::mpi::sum(large, MPI_COMM_WORLD), fanin::overflow);
  CHECK_THROWS_AS(fanin::mpi::min(std::vector<float>(), MPI_COMM_WORLD), fanin::invalid_argument);
  CHECK_THROWS_AS(fanin::mpi::argmin(std::vector<float>(), MPI_COMM_WORLD), fanin::invalid_argument);
  CHECK_THROWS_AS(fanin::mpi::sum(x, MPI_COMM_WORLD, {.how = fanin::method::fast}), fanin::invalid_argument);
  CHECK_THROWS_AS(fanin::mpi::sum(x, {MPI_COMM_WORLD, size_of(MPI_COMM_WORLD)}), fanin::mpi::mpi_error);
}

TEST_SUITE_END();
