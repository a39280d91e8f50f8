// SPDX-License-Identifier: Apache-2.0
// Accumulators of the caller's own, merged over all ranks.
#include <doctest/doctest.h>

#include <vector>

#include <fanin/mpi.hpp>

#include "tests/mpi/shares.hpp"

namespace {

using namespace fanin::test;

/// The states of all elements and of this rank's, to which add(state, i) adds element i.
template <class State, class Add>
std::pair<State, State> states_of(std::size_t count, distribution how, Add add) {
  std::pair<State, State> of;
  const share own = share_of(count, how, count);
  for (std::size_t i = 0; i < count; ++i) {
    add(of.first, i);
    if (i >= own.first && i < own.last) add(of.second, i);
  }
  return of;
}

}  // namespace

TEST_SUITE_BEGIN("mpi/states");

TEST_CASE_TEMPLATE("merged sums save the bytes of one process", State, fanin::exact_accumulator<float>,
                   fanin::exact_accumulator<double>, fanin::exact_square_accumulator<float>,
                   fanin::exact_square_accumulator<double>) {
  std::size_t turn = 0;
  for (const auto& x : hard_inputs<typename State::value_type>(50, 1)) {
    const distribution how = distributions[turn++ % std::size(distributions)];
    auto [all, own] = states_of<State>(x.size(), how, [&](State& s, std::size_t i) { s.add(x[i]); });
    fanin::mpi::all_reduce(own, MPI_COMM_WORLD);
    CHECK(own.save() == all.save());
  }
}

TEST_CASE_TEMPLATE("merged dot products and moments round as those of one process", T, float, double) {
  using dot = fanin::exact_dot_accumulator<T>;
  using moments = fanin::exact_moments_accumulator<T>;
  for (const auto& x : hard_inputs<T>(50, 2)) {
    auto [all, own] =
        states_of<dot>(50, distribution::random, [&](dot& s, std::size_t i) { s.add(x[i], x[49 - i]); });
    fanin::mpi::all_reduce(own, MPI_COMM_WORLD);
    CHECK(fanin::detail::to_bits(own.round()) == fanin::detail::to_bits(all.round()));
    auto [every, some] = states_of<moments>(50, distribution::even, [&](moments& s, std::size_t i) { s.add(x[i]); });
    fanin::mpi::all_reduce(some, MPI_COMM_WORLD);
    CHECK(fanin::detail::to_bits(some.variance(50)) == fanin::detail::to_bits(every.variance(50)));
  }
}

TEST_CASE("many states in one reduction, and a sum that goes on") {
  std::vector<fanin::exact_accumulator<double>> sums(9);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].add(static_cast<double>(i));
    sums[i].add(0x1p-60);
  }
  fanin::mpi::all_reduce(std::span(sums), MPI_COMM_WORLD);
  const int ranks = fanin::mpi::detail::rank_count(MPI_COMM_WORLD);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    CHECK(sums[i].count() == 2 * static_cast<std::uint64_t>(ranks));
    sums[i].add(-static_cast<double>(ranks) * static_cast<double>(i));
    CHECK(sums[i].round() == ranks * 0x1p-60);
  }
}

TEST_SUITE_END();
