// SPDX-License-Identifier: Apache-2.0
// Other ways to call: in blocks, and from many threads at once.
#include <algorithm>
#include <thread>

#include "tests/conformance/checks.hpp"

namespace fanin::test {
namespace {

/// Every operation and method that T has and `b` offers.
template <class T, class F>
void for_each_reduction(const backend& b, F f) {
  for (const operation what : all_operations) {
    for (const method how : all_methods) {
      if (!has(b, what, type_of<T>, how)) continue;
      f(what, options{.method = how, .threads = 3});
    }
  }
}

/// Pushes x in blocks of 0 to `most` elements.
template <class T>
void push_in_blocks(block_feed& into, std::span<const T> x, std::size_t most, generator& random) {
  while (!x.empty()) {
    const std::size_t n = std::min<std::size_t>(x.size(), random() % (most + 1));
    into.push(x.data(), n);
    x = x.subspan(n);
  }
}

/// Blocks give the bits and the report of one call.
template <class T>
void expect_blocks(const backend& b, std::span<const T> x, operation what, const options& chosen, std::size_t most,
                   findings& found) {
  const reduction whole = call(b, what, x, chosen);
  if (whole.reproducibility == reproducibility::run_to_run || whole.reproducibility == reproducibility::none) return;
  generator random(x.size());
  const reduction parts =
      call_in_blocks(b, what, type_of<T>, chosen, [&](block_feed& into) { push_in_blocks(into, x, most, random); });
  found.expect(same(parts.value, whole.value) && parts.variant == whole.variant && parts.method == whole.method &&
                   parts.reproducibility == whole.reproducibility &&
                   parts.bound.of_magnitudes == whole.bound.of_magnitudes &&
                   parts.bound.of_result == whole.bound.of_result,
               [&] {
                 return told(what, x, chosen) + ": in blocks of up to " + std::to_string(most) + " " +
                        shown(parts.value) + ", as a whole " + shown(whole.value);
               });
}

}  // namespace

void check_blocks(const backend& b, findings& found) {
  for_each_type<float, double, std::int32_t, std::uint64_t, std::complex<float>>([&]<class T>(T) {
    // Over twice the pending input that a stream may keep.
    const auto values = mixed_values<T>((std::size_t{36} << 20) / sizeof(T) + 5, 31);
    const auto factors = unit_factors<T>(values.size() / 32, 32);
    for_each_reduction<T>(b, [&](operation what, const options& chosen) {
      const auto x = std::span<const T>(what == operation::product ? factors : values);
      expect_blocks(b, x.first(1000), what, chosen, 7, found);
      expect_blocks(b, x.first(40001), what, chosen, 20000, found);
      if (chosen.method != method::compensated) expect_blocks(b, x, what, chosen, x.size() / 3, found);
    });
    const options fast{.method = method::fast};
    for (const operation what : all_operations) {
      if (!has_value(what, 0) || !has(b, what, type_of<T>, fast.method.value())) continue;
      const auto nothing = call_in_blocks(b, what, type_of<T>, fast, [](block_feed& into) { into.push(nullptr, 0); });
      found.expect(same(nothing.value, call(b, what, std::span<const T>(), fast).value),
                   [&] { return told(what, std::span<const T>(), fast) + ": differs in blocks"; });
    }
  });
}

void check_concurrent_calls(const backend& b, findings& found) {
  constexpr std::size_t callers = 8;
  struct caller {
    std::vector<double> x;
    std::vector<scalar> expected;
    int wrong = 0;
  };
  std::vector<method> methods;
  std::ranges::copy_if(all_methods, std::back_inserter(methods),
                       [&](method how) { return has(b, operation::sum, element_type::f64, how); });
  std::vector<caller> all(callers);
  for (std::size_t i = 0; i < callers; ++i) {
    all[i].x = mixed_values<double>(i % 2 == 0 ? 400009 + i : 1000 + i, i);
    for (const method how : methods)
      all[i].expected.push_back(call(b, operation::sum, std::span<const double>(all[i].x), {.method = how}).value);
  }
  std::vector<std::thread> threads;
  for (caller& c : all) {
    threads.emplace_back([&] {
      for (unsigned round = 0; round < 60; ++round) {
        const std::size_t how = round % c.expected.size();
        const options chosen{.method = methods[how], .threads = 1 + round % 4};
        const scalar value = call(b, operation::sum, std::span<const double>(c.x), chosen).value;
        c.wrong += same(value, c.expected[how]) ? 0 : 1;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const caller& c : all) {
    found.expect(c.wrong == 0, [&] {
      return std::to_string(c.wrong) + " of 60 concurrent sums of " + std::to_string(c.x.size()) + " were wrong";
    });
  }
}

}  // namespace fanin::test
