// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/suite.hpp"

#include <doctest/doctest.h>

#include <fanin/fanin.hpp>

namespace fanin::test {
namespace {

/// Checks the public calls by name. The backend that was asked for has to be the backend that ran.
void check_public_calls(std::string_view name) {
  const std::vector<float> x(1000, 0.5f);
  const options chosen{.backend = name};
  const auto answer = sum(x, chosen);
  CHECK(answer.value == 500.0f);
  CHECK(answer.report.backend == name);
  CHECK(answer.report.fallback.empty());
  CHECK(plan(operation::sum, element_type::f32, chosen)(std::span<const float>(x)).report.backend == name);
  incremental blocks(operation::sum, element_type::f32, chosen);
  blocks.push(std::span<const float>(x));
  const auto in_blocks = blocks.finish();
  CHECK(in_blocks.report.backend == name);
  CHECK(fanin::get<float>(in_blocks.value) == 500.0f);

  const std::vector<double> none;
  CHECK(sum(none, chosen).value == 0.0);
  CHECK_THROWS_AS(min(none, chosen), invalid_argument);
  CHECK_THROWS_AS(max(none, chosen), invalid_argument);
  CHECK_THROWS_AS(mean(none, chosen), invalid_argument);
  CHECK_THROWS_AS(variance(none, chosen), invalid_argument);
  CHECK_THROWS_AS(reduce(operation::sum, array_view(nullptr, 1, element_type::f64), chosen), invalid_argument);
  const options plainly{.backend = name, .method = method::fast};
  CHECK_THROWS_AS(sum<double>(x, plainly), unsupported);
}

/// Returns true if the quick ring leaves the check of the backend to the full ring. For floats, the check
/// "reproducibility" finds the bits of `serial` in `openmp` and `tbb`, so that the bounds of `serial` hold. The loops
/// that read elements are those of `serial` too. `tbb` has all of the code of `openmp` but the start of its threads,
/// so that `openmp` also stands for the values of `tbb`.
bool is_of_full_ring(const check& c, const backend& b) {
  if (c.run == check_bounds || c.run == check_neighbours) return b.name() == "openmp" || b.name() == "tbb";
  return c.of_values && b.name() == "tbb" && usable(find_backend("openmp"));
}

}  // namespace

TEST_SUITE("conformance/offers") {
  TEST_CASE("every backend of this build offers what the tables say, usable or not") {
    for (const backend* b : backends()) {
      if (b->probe().why == reason::not_compiled) continue;
      CHECK(findings_of(check_offers, *b) == "");
      CHECK(findings_of(check_partial_batches, *b) == "");
    }
  }
}

void conformance(std::string_view backend_name) {
  const backend& b = find_backend(backend_name);
  if (!usable(b)) return;
  SUBCASE("public calls") { check_public_calls(backend_name); }
  for (const check& c : checks()) {
    if (is_of_full_ring(c, b)) continue;
    SUBCASE(c.name) { CHECK(findings_of(c.name, b) == ""); }
  }
}

void conformance_in_full(std::string_view backend_name) {
  const backend& b = find_backend(backend_name);
  if (!usable(b)) return;
  CHECK(findings_of(check_reproducibility_in_full, b) == "");
  CHECK(findings_of(check_one_hash_in_full, b) == "");
  for (const check& c : checks()) {
    if (is_of_full_ring(c, b)) CHECK(findings_of(c.run, b) == "");
  }
}

void conformance_over_4_gib(std::string_view backend_name) {
  const backend& b = find_backend(backend_name);
  if (!usable(b)) return;
  CHECK(findings_of(check_over_4_gib, b) == "");
}

}  // namespace fanin::test
