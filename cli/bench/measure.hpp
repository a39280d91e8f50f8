// SPDX-License-Identifier: Apache-2.0
// The part that the measurements of one result and of many results share.
#pragma once

#include <utility>

#include <fanin/error.hpp>

#include "cli/bench/bench.hpp"

namespace fanin::cli {

/// Calls `call` once, and lets check(row) say whether the result is right. If it is right, times further calls.
template <class Call, class Check>
bench_row measure_checked(const bench_case& which, bench_input& input, unsigned threads,
                          const measure::stopping_rule& limit, const Call& call, const Check& check) {
  bench_row row{
      .which = which, .threads = which.backend->name() == "serial" ? 1 : threads, .place = which.backend->home()};
  row.warm = input.warm(row.place);
  const auto give_up = [&](const error& failure) {
    row.verified = oracle::promise::none;
    row.problem = failure.what();
  };
  try {
    call(input.first(row.place));
    check(row);
    if (row.verified == oracle::promise::broken) return row;
    measure::timed_beside_reads timed = input.time(call, *which.backend, row.threads, limit);
    row.timing = std::move(timed.call);
    row.ceiling_seconds = timed.ceiling_seconds;
  } catch (const out_of_memory& failure) {
    give_up(failure);
  } catch (const device_error& failure) {
    give_up(failure);
    row.device_failed = true;
  }
  return row;
}

}  // namespace fanin::cli
