// SPDX-License-Identifier: Apache-2.0
// Reductions over ranks, through a communicator that is a loop: each of 1 to 7 ranks writes the lanes of its part,
// short ones as fanin::mpi sends them and all of them, and the lanes are added up in a random order.
#pragma once

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <fanin/lanes.hpp>
#include <fanin/short_lanes.hpp>

#include "backends/as_scalar.hpp"
#include "tests/fuzz/differential_environments.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/hard_inputs.hpp"

namespace fanin::fuzz {

using lane_vector = std::vector<std::int64_t>;

/// The parts of 1 to 7 ranks. Some parts may have no elements.
inline std::vector<input_views> parts_of_ranks(const input_views& all, std::mt19937_64& random) {
  std::vector<std::size_t> cuts{0, all.count()};
  for (auto more = random() % 7; more > 0; --more) cuts.push_back(random() % (all.count() + 1));
  std::ranges::sort(cuts);
  std::vector<input_views> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) parts.push_back(all.part(cuts[i], cuts[i + 1] - cuts[i]));
  return parts;
}

/// The lanes of all ranks as the transport merges them, two at a time in a random order.
inline lane_vector merged(lane_merge how, std::vector<lane_vector> ranks, std::mt19937_64& random) {
  while (ranks.size() > 1) {
    std::swap(ranks.back(), ranks[random() % ranks.size()]);
    const lane_vector from = std::move(ranks.back());
    ranks.pop_back();
    lane_vector& into = ranks[random() % ranks.size()];
    for (std::size_t i = 0; i < into.size(); ++i)
      into[i] = how == lane_merge::sum ? into[i] + from[i] : std::max(into[i], from[i]);
  }
  return ranks.front();
}

/// The value of all ranks by lanes, short ones if `is_short`, and the report of the first rank.
inline answer over_ranks(operation what, element_type result, bool is_short, const input_views& all,
                         const options& chosen, std::mt19937_64 random) {
  const lane_format format = lanes_of(what, all.type());
  std::vector<lane_vector> few_of_ranks, all_of_ranks;
  std::vector<report> reports;
  bool all_are_short = is_short;
  for (const input_views& part : parts_of_ranks(all, random)) {
    lane_vector few(detail::short_lane_count(format)), full(format.count);
    if (!is_short) {
      reports.push_back(to_lanes(what, part, full, chosen));
    } else if (detail::to_short_lanes(what, part, few, full, chosen, reports.emplace_back())) {
      detail::expand_lanes(format, few, full);
    } else {
      all_are_short = false;
    }
    few_of_ranks.push_back(std::move(few));
    all_of_ranks.push_back(std::move(full));
  }
  answer reached;
  reached.lanes = merged(format.merge, all_are_short ? few_of_ranks : all_of_ranks, random);
  auto [value, done] = as_scalar(what, result, [&](const result_view& to) {
    all_are_short ? detail::from_short_lanes(what, all.type(), reached.lanes, to)
                  : from_lanes(what, all.type(), reached.lanes, to);
    return reports.front();
  });
  reached.values = {value};
  reached.done = done;
  return reached;
}

/// Whatever the ranks, the value has the bits of one process and of MPFR.
template <class T>
void compare_ranks(const fuzzed<T>& all, unsigned threads, const environment& caller) {
  const operation what = all.what;
  const auto backends = test::cpu_backends();
  const options chosen{.backend = backends[all.seed % backends.size()]->name(), .threads = threads};
  if (!test::has_lanes(what, type_of<T>)) return;
  const bool has_short = detail::short_lane_count(lanes_of(what, type_of<T>)) > 0;
  for (const element_type result : all_element_types) {
    if (!is_result(what, type_of<T>, method::exact, result)) continue;
    options exactly = chosen;
    exactly.method = method::exact;
    exactly.result = result;
    const answer one = answered(caller, [&]() -> answer {
      const auto [value, done] = reduce(what, all.views(), exactly);
      return {{value}, done};
    });
    for (int is_short = 0; is_short <= (has_short ? 1 : 0); ++is_short) {
      ++cases_compared;
      const answer many = answered(
          caller, [&] { return over_ranks(what, result, is_short == 1, all.views(), chosen, all.random()); });
      const bool agree =
          one.error.empty() ? many.error.empty() && test::same(many.value(), one.value()) : one.error == many.error;
      if (!agree) {
        require(false,
                is_short == 1 ? "short lanes give the value of one process" : "lanes give the value of one process",
                told(many) + " instead of " + told(one));
      }
    }
    if (one.has_overflowed) require(overflows(what, all.x()), "only what does not fit overflows");
    if (one.error.empty()) {
      require(is_right(what, all.x(), method::exact, one.done.bound, one.value()), "the value of ranks is MPFR's",
              told(one));
    }
  }
}

}  // namespace fanin::fuzz
