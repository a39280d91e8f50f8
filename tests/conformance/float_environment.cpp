// SPDX-License-Identifier: Apache-2.0
// Callers may round in any direction and flush subnormals: the bits are the same, and their environment stays.
#include <optional>

#include <fanin/fanin.hpp>

#include "tests/conformance/checks.hpp"
#include "tests/support/float_environment.hpp"

namespace fanin::test {
namespace {

/// Checks that evaluate() gives the same bound in every environment, and the same value if the value is
/// reproducible. `words` names the call in findings.
template <class Evaluate, class Words>
void expect_independent(Evaluate evaluate, Words words, findings& found) {
  const result<scalar> expected = evaluate();
  for (const caller_environment& one : caller_environments) {
    std::optional<result<scalar>> answer;
    bool unchanged = false;
    {
      const changed_environment here(one.rounding, one.how);
      answer = evaluate();
      unchanged = here.unchanged();
    }
    found.expect(unchanged, [&] { return words() + ": changed the caller's environment"; });
    const bool repeats = expected.report.reproducibility != reproducibility::none;
    found.expect(!repeats || same(answer->value, expected.value), [&] {
      return words() + ": " + shown(answer->value) + " instead of " + shown(expected.value) + ", " + one.name;
    });
    const error_bound &bound = answer->report.bound, &right = expected.report.bound;
    found.expect(bound.of_result == right.of_result && bound.of_magnitudes == right.of_magnitudes &&
                     bound.absolute == right.absolute && bound.in_range_only == right.in_range_only,
                 [&] { return words() + ": another bound, " + one.name; });
  }
}

template <class T>
void expect_calls(const backend& b, std::span<const T> x, findings& found) {
  for (const operation what : all_operations) {
    for_each_variant(b, what, x, 3, [&](options chosen) {
      chosen.backend = b.name();
      expect_independent([&] { return reduce(what, inputs_for(what, x), chosen); },
                         [&] { return told(what, x, chosen); }, found);
    });
  }
}

template <class T>
void expect_blocks(const backend& b, std::span<const T> x, findings& found) {
  for (const method how : all_methods) {
    if (!has(b, operation::mean, type_of<T>, how)) continue;
    const options chosen{.backend = b.name(), .method = how, .threads = 3};
    const auto in_blocks = [&] {
      incremental blocks(operation::mean, type_of<T>, chosen);
      blocks.push(x);
      return blocks.finish();
    };
    expect_independent(
        in_blocks, [&] { return told(operation::mean, x, chosen) + ", in blocks"; }, found);
  }
}

}  // namespace

void check_float_environment(const backend& b, findings& found) {
  for_each_rounded([&]<class T>(T) {
    auto values = mixed_values<T>(700001, 41);
    for (std::size_t i = 0; i < values.size(); i += 3)
      values[i] = static_cast<T>(values[i] * std::numeric_limits<part_of<T>>::min());
    values.resize((std::size_t{36} << 20) / sizeof(T));  // streams keep up to 16 MiB
    for (std::size_t i = 700001; i < values.size(); ++i) values[i] = values[i - 700001];
    const std::vector<T> subnormals(4099, static_cast<T>(std::numeric_limits<part_of<T>>::min() / 2));
    const auto x = std::span<const T>(values);
    expect_calls(b, x.first(700001), found);
    expect_calls(b, x.first(1000), found);
    expect_calls(b, std::span<const T>(subnormals), found);
    for (std::size_t last = 0; last < 2; ++last) expect_blocks(b, x.first(x.size() - last), found);
  });
}

}  // namespace fanin::test
