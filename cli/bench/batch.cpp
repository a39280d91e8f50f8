// SPDX-License-Identifier: Apache-2.0
// The cases of fanin bench that have many results.
#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <fanin/fanin.hpp>

#include "cli/batch/elements.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/measure.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// Pairs of lengths that are the mean together, so that the last offset is the number of elements.
std::vector<std::int64_t> random_offsets(std::size_t segments, std::size_t length) {
  std::mt19937_64 random(3);
  std::vector<std::int64_t> offsets{0};
  for (std::size_t k = 0; k < segments; k += 2) {
    const std::size_t more = k + 1 < segments ? random() % length : 0;
    for (const std::size_t of_pair : {length + more, length - more}) {
      if (offsets.size() <= segments) offsets.push_back(offsets.back() + static_cast<std::int64_t>(of_pair));
    }
  }
  return offsets;
}

/// Uniform keys. The first keys name every group.
std::vector<std::int64_t> random_keys(std::size_t count, std::size_t groups) {
  std::mt19937_64 random(4);
  std::vector<std::int64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::int64_t>(i < groups ? i : random() % groups);
  return keys;
}

/// The result with an index among its own elements in place of one in the input.
scalar with_own_index(scalar value, const std::vector<std::size_t>& places) {
  fanin::visit(
      [&]<class R>(R& one) {
        if constexpr (result_traits<R>::form == result_form::indexed) {
          const auto at = std::ranges::lower_bound(places, one.index);
          one.index = at != places.end() && *at == one.index ? static_cast<std::uint64_t>(at - places.begin())
                                                             : places.size();
        }
      },
      value);
  return value;
}

}  // namespace

std::string_view to_string(bench_layout one) {
  constexpr std::string_view names[] = {"array", "axis0", "axis1", "segments", "groups"};
  return names[static_cast<std::size_t>(one)];
}

layout kind_of(bench_layout one) {
  constexpr layout kinds[] = {layout::array, layout::rows, layout::rows, layout::segments, layout::groups};
  return kinds[static_cast<std::size_t>(one)];
}

bench_index::bench_index(const bench_case& like) {
  if (like.layout == bench_layout::segments) wide_ = random_offsets(like.results(), like.length);
  if (like.layout == bench_layout::groups) wide_ = random_keys(like.count, like.results());
  if (like.count > std::size_t{std::numeric_limits<std::int32_t>::max()}) return;
  narrow_.assign(wide_.begin(), wide_.end());
  wide_ = {};
}

array_view bench_index::at(memory place) {
  const array_view here = wide_.empty() ? array_view(std::span<const std::int32_t>(narrow_))
                                        : array_view(std::span<const std::int64_t>(wide_));
  if (place == memory::host) return here;
  if (!device_) device_ = require_gpu().make_device_copy(here);
  return device_->first();
}

batch bench_input::batch_of(const array_view& x) {
  const input_views inputs = inputs_of(what_, x);
  const std::size_t results = count_ / length_;
  switch (layout_) {
    case bench_layout::axis0:
      return rows(inputs, std::array{length_, results}, std::array{0});
    case bench_layout::segments:
      return segments(inputs, index_.at(x.place));
    case bench_layout::groups:
      return groups(inputs, index_.at(x.place), results);
    default:
      return rows(inputs, std::array{results, length_}, std::array{1});
  }
}

void check_each(bench_row& row, const batch& many, const value_list& values, const report& how) {
  batch_elements by_result(many);
  row.verified = oracle::promise::kept;
  for (std::size_t k = 0; k < by_result.size(); ++k) {
    const array_view elements = by_result.of(k);
    if (by_result.places().size() < least_count(row.which.what)) continue;
    const oracle::truth expected(row.which.what, elements, 1);
    const scalar value = many.kind == layout::groups ? with_own_index(values[k], by_result.places()) : values[k];
    const oracle::promise kept = expected.judge(value, how);
    if (const auto error = expected.error_ulps(value)) {
      row.error_ulps = std::max(row.error_ulps.value_or(0), *error);
    }
    if (kept != oracle::promise::kept) row.verified = kept;
    if (kept != oracle::promise::broken) continue;
    row.problem = fmt::format("result {} is {}, which breaks its promise", k, value_text(values[k]));
    return;
  }
}

bench_row measure_batch(const bench_case& which, bench_input& input, unsigned threads,
                        const measure::stopping_rule& limit) {
  const options chosen{.backend = which.backend->name(),
                       .variant = which.variant.name,
                       .method = which.variant.method,
                       .threads = threads};
  value_list values(which.what, default_result(which.what, which.type), which.results());
  report how;
  const auto call = [&](const array_view& x) { how = reduce(which.what, input.batch_of(x), values.view(), chosen); };
  return measure_checked(which, input, threads, limit, call, [&](bench_row& row) {
    check_each(row, input.batch_of(input.first(memory::host)), values, how);
  });
}

}  // namespace fanin::cli
