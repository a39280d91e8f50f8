// SPDX-License-Identifier: Apache-2.0
// Callers may round in any direction and flush subnormals: the bits are the same, and their environment stays.
#include <cfenv>

#include "tests/conformance/checks.hpp"
#include "tests/support/float_environment.hpp"

namespace fanin::test {
namespace {

/// The reduction `evaluate()` has the same value in every environment. `words` tells what it is.
template <class Evaluate, class Words>
void expect_independent(Evaluate evaluate, Words words, findings& found) {
  struct environment {
    int rounding;
    subnormals how;
  };
  const reduction expected = evaluate();
  for (const environment& one : {environment{FE_TONEAREST, subnormals::flushed},
                                 {FE_TONEAREST, subnormals::read_as_zero},
                                 {FE_TONEAREST, subnormals::computed_as_zero},
                                 {FE_TOWARDZERO, subnormals::kept},
                                 {FE_UPWARD, subnormals::flushed},
                                 {FE_DOWNWARD, subnormals::kept}}) {
    scalar value;
    bool unchanged = false;
    {
      const unusual_environment here(one.rounding, one.how);
      value = evaluate().value;
      unchanged = here.unchanged();
    }
    found.expect(unchanged, [&] { return words() + ": changed the caller's environment"; });
    const bool repeats = expected.reproducibility != reproducibility::none;
    found.expect(!repeats || same(value, expected.value), [&] {
      return words() + ": " + shown(value) + " instead of " + shown(expected.value) + " in the caller's environment";
    });
  }
}

template <class T>
void expect_calls(const backend& b, std::span<const T> x, findings& found) {
  for (const operation what : all_operations) {
    for_each_variant(b, what, x, 3, [&](const options& chosen) {
      expect_independent([&] { return call(b, what, x, chosen); }, [&] { return told(what, x, chosen); }, found);
    });
  }
}

template <class T>
void expect_blocks(const backend& b, std::span<const T> x, findings& found) {
  for (const method how : all_methods) {
    if (!has(b, operation::mean, type_of<T>, how)) continue;
    const options chosen{.how = how, .threads = 3};
    const auto push = [&](block_feed& into) { into.push(x.data(), x.size()); };
    expect_independent([&] { return call_in_blocks(b, operation::mean, type_of<T>, chosen, push); },
                       [&] { return told(operation::mean, x, chosen) + ", in blocks"; }, found);
  }
}

}  // namespace

void check_float_environment(const backend& b, findings& found) {
  for_each_rounded([&]<class T>(T) {
    auto values = mixed_values<T>((std::size_t{36} << 20) / sizeof(T), 41);  // streams keep up to 16 MiB
    for (std::size_t i = 0; i < values.size(); i += 3)
      values[i] = static_cast<T>(values[i] * std::numeric_limits<part_of<T>>::min());
    const std::vector<T> subnormals(4099, static_cast<T>(std::numeric_limits<part_of<T>>::min() / 2));
    const auto x = std::span<const T>(values);
    expect_calls(b, x.first(700001), found);
    expect_calls(b, x.first(1000), found);
    expect_calls(b, std::span<const T>(subnormals), found);
    for (std::size_t last = 0; last < 2; ++last) expect_blocks(b, x.first(x.size() - last), found);
  });
}

}  // namespace fanin::test
