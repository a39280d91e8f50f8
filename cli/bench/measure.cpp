// SPDX-License-Identifier: Apache-2.0
// Checks and times one case of fanin bench.
#include <utility>

#include <fmt/format.h>

#include <fanin/fanin.hpp>

#include "cli/bench/bench.hpp"
#include "cli/bench/measure.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// Inputs shorter than small_input_bytes are measured warm, because a program has usually just written them.
measure::rotation places_for(const array_view& x) {
  return x.bytes() < small_input_bytes ? measure::rotation::warm(x) : measure::rotation::past_caches(x);
}

array_view half(const array_view& x, std::size_t which) {
  array_view part = x;
  part.count = x.count / 2;
  part.data = static_cast<const std::byte*>(x.data) + which * part.bytes();
  return part;
}

}  // namespace

input_views inputs_of(operation what, const array_view& x) {
  return row_of(what).inputs == 2 ? input_views(half(x, 0), half(x, 1)) : input_views(x);
}

bench_input::bench_input(operation what, element_type type, std::size_t count, unsigned threads)
    : what_(what),
      type_(type),
      count_(count),
      values_(what, type, static_cast<std::size_t>(row_of(what).inputs) * count),
      expected_(std::in_place, what, values_.view(), threads),
      host_(places_for(values_.view())) {}

bench_input::bench_input(const bench_case& like, unsigned threads)
    : what_(like.what),
      type_(like.type),
      count_(like.count),
      layout_(like.layout),
      length_(like.length),
      values_(like.what, like.type, static_cast<std::size_t>(row_of(like.what).inputs) * like.count),
      host_(places_for(values_.view())),
      index_(like) {
  if (!like.is_batch()) expected_.emplace(like.what, values_.view(), threads);
}

bool bench_input::fits(const bench_case& which) const {
  return which.what == what_ && which.type == type_ && which.count == count_ && which.layout == layout_ &&
         which.length == length_;
}

array_view bench_input::first(memory place) { return place == memory::host ? host_.at(0) : on_device().first(); }

measure::timed_beside_reads bench_input::time(const std::function<void(const array_view&)>& call, const backend& by,
                                              unsigned threads, const measure::stopping_rule& limit) {
  if (by.home() == memory::device) return on_device().time(call, limit);
  return measure::time_beside_reads([&](std::size_t i) { call(host_.at(i)); }, by, host_, threads, limit);
}

measure::device_copy& bench_input::on_device() {
  if (!device_) device_ = require_gpu().make_device_copy(values_.view());
  return *device_;
}

reduction reduction_of(const bench_case& which, unsigned threads) {
  const options chosen{.backend = which.backend->name(),
                       .variant = which.variant.name,
                       .method = which.variant.method,
                       .threads = threads};
  return [chosen, what = which.what](const array_view& x) { return reduce(what, inputs_of(what, x), chosen); };
}

bench_row measure_case(const bench_case& which, const reduction& call, bench_input& input, unsigned threads,
                       const measure::stopping_rule& limit) {
  result<scalar> reached;
  const auto reduce_once = [&](const array_view& x) { reached = call(x); };
  return measure_checked(which, input, threads, limit, reduce_once, [&](bench_row& row) {
    row.verified = input.expected().judge(reached.value, reached.report);
    row.error_ulps = input.expected().error_ulps(reached.value);
    if (row.verified != oracle::promise::broken) return;
    row.problem = fmt::format("gave {}, which breaks its promise", value_text(reached.value));
  });
}

}  // namespace fanin::cli
