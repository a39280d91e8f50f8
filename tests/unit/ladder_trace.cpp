// SPDX-License-Identifier: Apache-2.0
// Tests of the traces of the ladder's stages: the total contains every element once, and no thread accesses in a step
// a number that another thread changes in it.
#include "cli/lesson/trace.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "cli/kit/errors.hpp"

namespace fanin::cli {
namespace {

/// The elements that a number is the sum of.
struct elements {
  std::vector<unsigned> all;
  void operator+=(const elements& more) { all.insert(all.end(), more.all.begin(), more.all.end()); }
};

/// Whether the step is free of races: only atomic additions to the total may share a target, and no thread reads a
/// number that another thread writes.
bool threads_keep_apart(const trace_step& step) {
  std::map<place, std::set<unsigned>> writers, readers;
  for (const addition& one : step.additions) {
    if (one.thread >= step.threads * step.blocks) return false;
    if (one.into.array != space::total) writers[one.into].insert(one.thread);
    readers[one.from].insert(one.thread);
  }
  for (const auto& [where, who] : writers) {
    if (who.size() > 1) return false;
    if (readers.contains(where) && readers[where] != who) return false;
  }
  return true;
}

bool right(const trace& all) {
  std::vector<elements> x(all.shape.count);
  for (unsigned i = 0; i < all.shape.count; ++i) x[i].all = {i};
  trace_memory<elements> memory(all, std::move(x));
  for (const trace_step& step : all.steps) {
    if (!threads_keep_apart(step)) return false;
    memory.run(step);
  }
  std::vector<unsigned> total = memory.at({space::total, 0}).all, wanted(all.shape.count);
  std::ranges::sort(total);
  std::iota(wanted.begin(), wanted.end(), 0);
  return total == wanted;
}

template <class F>
void for_each_traced(F f) {
  for (const traced_stage& stage : traced_stages()) {
    CAPTURE(stage.name);
    f(stage);
  }
}

const trace_step& step_called(const trace& all, std::string_view what) {
  const auto found = std::ranges::find(all.steps, what, &trace_step::what);
  REQUIRE(found != all.steps.end());
  return *found;
}

TEST_SUITE_BEGIN("unit/ladder_trace");

TEST_CASE("every stage adds every element once, for any size and block") {
  for_each_traced([](const traced_stage& stage) {
    CHECK(right(make_trace(stage, readable_shape(stage, 0, 0))));
    for (const unsigned count : {1, 2, 15, 16, 17, 31, 33, 100, 257, 1025}) {
      for (const unsigned block_size : {1, 4, 8, 12, 16, 32, 64, 96, 256, 1000, 1024}) {
        CAPTURE(count);
        CAPTURE(block_size);
        CHECK(right(make_trace(stage, readable_shape(stage, count, block_size))));
      }
    }
    for (const unsigned misaligned : {0, 1, 2, 3}) {
      CHECK(right(make_trace(stage, {131, 32, 32, 3, misaligned})));
      CHECK(right(make_trace(stage, {131, 32, 32, 3, misaligned, 2, 3})));  // copies of 8 elements, three buffers
    }
  });
}

TEST_CASE("a wrong trace is noticed") {
  for_each_traced([](const traced_stage& stage) {
    const trace all = make_trace(stage, readable_shape(stage, 0, 0));
    for (std::size_t at = 0; at < all.steps.size(); ++at) {
      CAPTURE(all.steps[at].what);
      trace lost = all, twice = all;
      lost.steps[at].additions.pop_back();
      CHECK_FALSE(right(lost));
      addition again = twice.steps[at].additions.back();
      again.fresh = false;
      twice.steps[at].additions.push_back(again);
      CHECK_FALSE(right(twice));
    }
  });
  trace race = make_trace(find_traced_stage("shared-modulo"), {16, 16, 4});
  REQUIRE(right(race));
  race.steps[1].additions[1].into.index = 1;  // Thread 0 reads this value.
  CHECK_FALSE(threads_keep_apart(race.steps[1]));
}

TEST_CASE("bank conflicts as their stages tell: 2, 4, ... threads where the stride grows, none where it halves") {
  const trace strided = make_trace(find_traced_stage("shared-strided"), {1024, 1024});
  for (unsigned stride = 1; stride <= 512; stride *= 2) {
    const unsigned readers = std::min(512u / stride, 32u);
    CAPTURE(stride);
    CHECK(bank_conflict(step_called(strided, "stride " + std::to_string(stride)), 32) ==
          std::min(2 * stride, readers));
  }
  for (const auto* name : {"shared-modulo", "shared-sequential", "unroll-last-warp"}) {
    for (const trace_step& step : make_trace(find_traced_stage(name), {1024, 1024}).steps) {
      CAPTURE(step.what);
      CHECK(bank_conflict(step, 32) <= 1);
    }
  }
}

TEST_CASE("no copy overwrites a buffer that is not added yet, and as many are under way as there are buffers") {
  const trace all = make_trace(find_traced_stage("bulk-copy"), {400, 32, 32, 2, 1, 4, 3});
  std::map<unsigned, int> waiting;  // Elements of a buffer that are copied and not added.
  unsigned most = 0;
  for (const trace_step& step : all.steps) {
    for (const addition& one : step.additions) {
      if (one.into.array == space::buffer) CHECK(waiting[one.into.index]++ == 0);
      if (one.from.array == space::buffer) CHECK(waiting[one.from.index]-- == 1);
    }
    unsigned under_way = 0;
    for (const auto& [where, number] : waiting) under_way += number > 0 ? 1 : 0;
    most = std::max(most, under_way);
  }
  CHECK(most == 2 * 3 * 16);  // two blocks, three buffers of 16 elements
}

TEST_CASE("the threads of a warp that is added at once all work") {
  const trace all = make_trace(find_traced_stage("cooperative-groups"), {32, 8, 4});
  CHECK(working_threads(step_called(all, "each warp at once")).size() == 16);
  CHECK(working_threads(step_called(all, "the first warp at once")).size() == 8);
}

TEST_CASE("what cannot be traced is refused") {
  const traced_stage& stage = find_traced_stage("shared-modulo");
  CHECK_THROWS_AS(readable_shape(stage, 4097, 0), usage_error);
  CHECK_THROWS_AS(find_traced_stage("shared-modul"), usage_error);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
