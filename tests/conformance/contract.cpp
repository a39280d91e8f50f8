// SPDX-License-Identifier: Apache-2.0
// A backend describes itself correctly, and refuses wrong requests.
#include <algorithm>
#include <set>

#include <fanin/error.hpp>

#include "tests/conformance/checks.hpp"

namespace fanin::test {

void check_variants(const backend& b, findings& found) {
  found.expect(b.probe().usable(), [] { return std::string("not usable"); });
  found.expect(&b.probe() == &b.probe(), [] { return std::string("probe() is not cached"); });
  std::set<std::string_view> names;
  for (const variant_info& v : b.variants()) {
    names.insert(v.name);
    found.expect(!v.name.empty() && !v.story.empty(), [] { return std::string("a variant without name or story"); });
  }
  found.expect(names.size() == b.variants().size(), [] { return std::string("two variants of one name"); });

  const std::vector<double> ones(100, 1.0);
  const auto x = std::span<const double>(ones);
  for (const method how : all_methods) {
    if (!has(b, operation::sum, element_type::f64, how)) continue;
    found.expect(std::ranges::find(b.variants(), how, &variant_info::method) != b.variants().end(),
                 [&] { return "no variant for " + std::string(to_string(how)); });
    const auto first = std::ranges::find(b.variants(), how, &variant_info::method);
    const reduction answer = call(b, operation::sum, x, {.method = how});
    found.expect(answer.variant == first->name && answer.method == how,
                 [&] { return "the first variant for " + std::string(to_string(how)) + " is not the one that ran"; });
  }
  const auto expect_served = [&]<class T>(operation what, const std::vector<T>& values, const auto& expected) {
    for_each_variant(b, what, std::span<const T>(values), 1, [&](const options& chosen) {
      names.erase(chosen.variant);
      const reduction answer = call(b, what, std::span<const T>(values), chosen);
      found.expect(
          answer.variant == chosen.variant && answer.method == chosen.method && same(answer.value, scalar(expected)),
          [&] {
            return told(what, std::span<const T>(values), chosen) + ": " + std::string(answer.variant) + " ran";
          });
    });
  };
  expect_served(operation::sum, ones, 100.0);
  expect_served(operation::sum, std::vector<std::int32_t>{3, 1, 2}, std::int64_t{6});
  found.expect(names.empty(),
               [&] { return "no sum of f64 and none of i32 by variant " + std::string(*names.begin()); });
}

void check_offers(const backend& b, findings& found) {
  for (const element_type type : all_element_types) {
    for (const operation what : all_operations) {
      for (const method how : all_methods) {
        const array_view input(nullptr, 100, type);
        request asked{what, inputs_for(what, input), how, default_result(what, type), "", 1};
        const bool expected = has(b, what, type, how);
        const support answer = b.supports(asked);
        found.expect(answer.usable() == expected && answer.detail.empty() == expected &&
                         (expected || answer.why == reason::unsupported),
                     [&] { return told(what, input, {.method = how}) + ": supported or not, against the tables"; });
        for (const element_type result : all_element_types) {
          asked.result = result;
          const bool offered = expected && is_result(what, type, how, result);
          found.expect(b.supports(asked).usable() == offered, [&] {
            return told(what, input, {.method = how, .result = result}) + ": result type, against the tables";
          });
        }
      }
    }
  }
}

/// Whether what `b` says of batches in its memory depends on a mask and on NaN that are left out only as the tables
/// say.
void check_partial_batches(const backend& b, findings& found) {
  const std::uint8_t mask = 1;
  const input_views all = array_view(nullptr, 1, element_type::f32, b.home());
  const auto expect = [&](const input_views& inputs, layout kind, nan_policy nan, bool expected) {
    request asked{operation::sum, inputs, method::fast, element_type::f32, "", 1, nan, kind};
    const support answer = b.supports(asked);
    found.expect(answer.usable() == expected && (expected || answer.why == reason::unsupported), [&] {
      return std::string(to_string(kind)) + " of which elements may be absent, or not: " + answer.detail;
    });
  };
  for (const layout kind : {layout::array, layout::rows, layout::segments, layout::groups}) {
    const bool takes_all = b.name() != "thrust" || kind == layout::array;
    const bool takes_parts = takes_all && (b.name() != "cub" || kind == layout::array);
    expect(all, kind, nan_policy::propagate, takes_all);
    expect(all, kind, nan_policy::skip, takes_parts);
    expect(all.where({&mask, 0, mask_form::bytes}), kind, nan_policy::propagate, takes_parts);
  }
}

void check_errors(const backend& b, findings& found) {
  const std::vector<double> some(10, 1.0);
  const auto x = std::span<const double>(some);
  const auto asks = [&](operation what, const options& chosen) {
    return [&, what, chosen] { call(b, what, x, chosen); };
  };
  const auto expect_refused = [&](bool refused, const char* what) {
    found.expect(refused, [&] { return std::string("not refused as it should be: ") + what; });
  };
  expect_refused(throws<invalid_argument>(asks(operation::sum, {.variant = "no-such"})), "an unknown variant");
  expect_refused(throws<unsupported>(asks(operation::product, {.method = method::exact})), "an exact product");
  expect_refused(throws<unsupported>(asks(operation::log_sum_exp, {.method = method::exact})),
                 "an exact log_sum_exp");
  expect_refused(throws<unsupported>(asks(operation::sum, {.result = element_type::f32})), "f32 from f64");
  const options misfit{.variant = b.variants().front().name, .method = method::exact};
  expect_refused(throws<unsupported>(asks(operation::sum, misfit)), "an exact sum by a fast variant");

  // A CPU backend refuses device memory as the wrong one; one that reads it does not.
  const request elsewhere{operation::sum,
                          array_view(x.data(), x.size(), element_type::f64, memory::device),
                          method::fast,
                          element_type::f64,
                          "",
                          1};
  const support answer = b.supports(elsewhere);
  found.expect(answer.usable() || (answer.why == reason::wrong_memory && !answer.detail.empty()),
               [] { return std::string("device memory refused for another reason than its place"); });
}

}  // namespace fanin::test
