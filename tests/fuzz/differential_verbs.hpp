// SPDX-License-Identifier: Apache-2.0
// Verbs, streams, states and descriptions of the elements, by every CPU backend, variant and instruction set.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/state.hpp>

#include "tests/fuzz/differential_environments.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/targets.hpp"

namespace fanin::fuzz {

/// Calls use(options) for each CPU backend, variant and result type that serves the request.
template <class Use>
void for_each_way(operation what, const input_views& inputs, layout kind, unsigned threads, Use use) {
  for (const backend* b : test::cpu_backends()) {
    for (const variant_info& v : b->variants()) {
      for (const element_type result : all_element_types) {
        if (!is_offered(what, inputs.type(), v.method) || !is_result(what, inputs.type(), v.method, result)) continue;
        request wanted;
        wanted.what = what, wanted.inputs = inputs, wanted.kind = kind, wanted.threads = threads;
        wanted.method = v.method, wanted.variant = v.name, wanted.result = result;
        if (!b->prepare(wanted).usable()) continue;
        use(options{
            .backend = b->name(), .variant = v.name, .method = v.method, .result = result, .threads = threads});
      }
    }
  }
}

/// The values that are to have the same bits, by variant and result type, and the values already judged.
using known_values = std::map<std::pair<std::string_view, element_type>, std::vector<scalar>>;

template <class T>
void judge(const fuzzed<T>& all, const answer& got, element_type result, known_values& known) {
  ++cases_compared;
  if (got.has_overflowed) return require(overflows(all.what, all.x()), "only what does not fit overflows", got.error);
  require(got.error.empty(), "a supported request has a value", got.error);
  auto& values = known[{got.done.variant, result}];
  const auto is_known = [&](const scalar& one) { return test::same(one, got.value()); };
  if (std::ranges::any_of(values, is_known)) return;
  const bool reproducible =
      got.done.reproducibility == reproducibility::exact || got.done.reproducibility == reproducibility::fixed_order;
  if (reproducible && !values.empty()) {
    require(false, "the bits are those of the other backends, instruction sets, threads and blocks",
            told(got) + " instead of " + told({{values.front()}, got.done}));
  }
  if (!is_right(all.what, all.x(), got.done.method, got.done.bound, got.value()))
    require(false, "the value is what MPFR promises or gives", told(got));
  values.push_back(got.value());
}

/// The stream's answer to two blocks; nothing where the variant has no streams.
inline std::optional<answer> in_blocks(const options& chosen, operation what, const input_views& all, std::size_t cut,
                                       const environment& caller) {
  bool has_stream = true;
  const answer got = answered(caller, [&]() -> answer {
    std::optional<incremental> stream;
    try {
      stream.emplace(what, all.type(), chosen);
    } catch (const unsupported&) {
      has_stream = false;
      return {};
    }
    stream->push(all.part(0, cut));
    stream->push(all.part(cut, all.count() - cut));
    const auto [value, done] = stream->finish();
    return {{value}, done};
  });
  return has_stream ? std::optional(got) : std::nullopt;
}

/// Parts that were saved, loaded and merged in the other order have the same state as one addition after the other.
template <std::floating_point T>
void expect_merged_states(const fuzzed<T>& all, std::size_t cut, const environment& caller) {
  const auto x = std::span<const T>(all.memory).first(all.count());
  const answer got = answered(caller, [&]() -> answer {
    exact_accumulator<T> backwards, first, second;
    for (std::size_t i = x.size(); i-- > 0;) backwards.add(x[i]);
    first.add(x.first(cut));
    const report done = accumulate(second, x.subspan(cut));
    auto merged = exact_accumulator<T>::load(second.save());
    merged.merge(exact_accumulator<T>::load(first.save()));
    require(merged.save() == backwards.save(), "merged states are the state of all elements");
    return {{merged.round()}, done};
  });
  require(got.error.empty() && test::same(got.value(), right_float<T>(operation::sum, all.x())),
          "a state is rounded as MPFR rounds", told(got));
}

/// Checks that the numbers of a description are the numbers of MPFR.
template <class T>
void expect_description(const fuzzed<T>& all, const environment& caller) {
  bool sum_overflows = false;
  const answer got = answered(caller, [&]() -> answer {
    const auto [value, done] = describe(std::span<const T>(all.memory).first(all.count()));
    sum_overflows = value.sum_overflows;
    return {{value.min, value.max, value.sum, value.mean, value.standard_deviation}, done};
  });
  constexpr operation numbers[] = {operation::min, operation::max, operation::sum, operation::mean,
                                   operation::standard_deviation};
  require(got.error.empty(), "a description has numbers", got.error);
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    if (numbers[i] == operation::sum && sum_overflows) {
      require(overflows(operation::sum, all.x()), "only what does not fit overflows", told(got));
      continue;
    }
    require(is_right(numbers[i], all.x(), method::exact, got.done.bound, got.values[i]), "a description is MPFR's",
            std::string(to_string(numbers[i])) + ": " + told(got));
  }
}

template <class T>
void compare_verbs(const fuzzed<T>& all, std::size_t cut, unsigned threads, const environment& caller) {
  const operation what = all.what;
  if (all.count() < least_count(what)) return;
  known_values known;
  for_each_way(what, all.views(), layout::array, threads, [&](const options& chosen) {
    for (const auto target : hwy::SupportedAndGeneratedTargets()) {
      const test::only_target here(target);
      const answer whole = answered(caller, [&]() -> answer {
        const auto [value, done] = reduce(what, all.views(), chosen);
        return {{value}, done};
      });
      judge(all, whole, *chosen.result, known);
      if (const auto got = in_blocks(chosen, what, all.views(), cut, caller)) judge(all, *got, *chosen.result, known);
    }
  });
  if constexpr (std::is_floating_point_v<T>) {
    if (what == operation::sum && all.count() < 10'000) expect_merged_states(all, cut, caller);
  }
  if constexpr (!complex_number<T>) {
    if (what == operation::standard_deviation && all.count() < 10'000) expect_description(all, caller);
  }
}

}  // namespace fanin::fuzz
