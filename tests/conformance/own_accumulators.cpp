// SPDX-License-Identifier: Apache-2.0
// Accumulators of the caller's own, which run by the general loop: the same bits for any thread count, in blocks and
// wherever the input lies; without reading what lies around it. Backends on devices refuse them.
#include <cstring>

#include <fanin/fold.hpp>

#include "tests/conformance/checks.hpp"
#include "tests/support/guarded_memory.hpp"
#include "tests/support/own_accumulators.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t own_lengths[] = {0, 1, 2, 3, 65, 1000, 4097, 16389, 700001};

template <class A>
selection selected(const backend& b, const input_views& inputs, unsigned threads) {
  const backend* const only[] = {&b};
  return select(only, b.name(), detail::arithmetic_of_own<A>, inputs, {.threads = threads});
}

/// x, and x again where A has two inputs.
template <class A>
input_views inputs_of_own(std::span<const typename A::element> x) {
  const array_view view = detail::untyped(x);
  return accumulator::inputs_of<A>() == 2 ? input_views(view, view) : input_views(view);
}

/// The fold on one thread by the loop that fanin/loop.hpp describes, without a backend.
template <class A>
fold_result<A> expected_fold(std::span<const typename A::element> x) {
  const detail::arithmetic& own = detail::arithmetic_of_own<A>;
  alignas(detail::state_alignment) std::byte state[20 * 1024];
  own.reset(state);
  own.accumulate({x.data(), x.data()}, x.size(), state);
  fold_result<A> value{};
  own.finish(state, x.size(), element_type::f64, &value);
  return value;
}

template <class A>
void expect_fold(const backend& b, std::span<const typename A::element> x, const char* name, findings& found) {
  using R = fold_result<A>;
  const R expected = expected_fold<A>(x);
  const auto expect = [&](const R& value, const char* how) {
    found.expect(std::memcmp(&value, &expected, sizeof(R)) == 0, [&] {
      return std::string(name) + " of " + std::to_string(x.size()) + " elements: another value " + how;
    });
  };
  for (const unsigned threads : {1u, 2u, 7u, 64u}) {
    const selection s = selected<A>(b, inputs_of_own<A>(x), threads);
    R value{};
    const outcome answer = b.reduce(s.what, &value);
    expect(value, "in one call");
    const auto promised = A::order_free ? reproducibility::exact : reproducibility::fixed_order;
    found.expect(answer.reproducibility == promised, [&] { return std::string(name) + ": another promise"; });
    for (const std::size_t block : {std::size_t{1009}, std::size_t{65536}}) {
      const auto stream = b.open(s.what);
      for (std::size_t begin = 0; begin < x.size(); begin += block) {
        stream->push(inputs_of_own<A>(x.subspan(begin, std::min(block, x.size() - begin))));
      }
      R streamed{};
      stream->finish(&streamed);
      expect(streamed, "in blocks");
    }
  }
}

/// The fold of elements between pages that trap.
template <class A>
void expect_own(const backend& b, std::span<const typename A::element> x, const char* name, findings& found) {
  using copy = guarded_copy<typename A::element>;
  for (const auto side : {copy::touching::first_page, copy::touching::last_page}) {
    expect_fold<A>(b, copy(x, side).elements(), name, found);
  }
}

}  // namespace

void check_own_accumulators(const backend& b, findings& found) {
  if (b.home() == memory::device) {
    request query;
    query.own = &detail::arithmetic_of_own<ordered_sum>;
    const support answer = b.supports(query);
    found.expect(answer.why == reason::unsupported && answer.detail.find("fold.cuh") != std::string::npos,
                 [] { return std::string("an accumulator of the caller's own is not refused"); });
    return;
  }
  for (const std::size_t length : own_lengths) {
    const auto x = mixed_values<float>(length, 41);
    std::vector<point> points(length);
    for (std::size_t i = 0; i < length; ++i) points[i] = {x[i], x[length - 1 - i], 1};
    expect_own<ordered_sum>(b, x, "a sum", found);
    expect_own<place_of_largest>(b, x, "the place of the largest", found);
    expect_own<place_of_largest_product>(b, x, "the place of the largest product", found);
    expect_own<histogram>(b, x, "a histogram", found);
    expect_own<plain_dot>(b, x, "a dot product", found);
    expect_own<bounding_box>(b, points, "a box", found);
  }
}

}  // namespace fanin::test
