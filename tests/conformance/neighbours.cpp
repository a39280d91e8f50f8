// SPDX-License-Identifier: Apache-2.0
// The memory around the input is neither read nor written. The input is not written.
#include "tests/conformance/checks.hpp"
#include "tests/support/guarded_memory.hpp"

namespace fanin::test {
namespace {

template <class T>
constexpr std::size_t guarded_lengths[] = {
    1, 2, 3, 5, 7, 15, 16, 17, 31, 63, 64, 65, 100, 1000, 4097, 16389, long_length<T>};

/// Reduces the elements among neighbours that would show in the result, and between pages that trap.
template <class T>
void expect_untouched(const backend& b, operation what, const std::vector<T>& x, const options& chosen,
                      findings& found) {
  const auto elements = std::span<const T>(x);
  const reduction first = call(b, what, elements, chosen);
  const auto agrees = [&](const scalar& value) {
    return first.reproducibility == reproducibility::none || same(value, first.value);
  };
  using copy = guarded_copy<T>;
  for (const auto side : {copy::touching::first_page, copy::touching::last_page}) {
    const copy guarded(elements, side);
    const scalar value = call(b, what, guarded.elements(), chosen).value;
    found.expect(agrees(value), [&] { return told(what, elements, chosen) + ": depends on the place"; });
  }
  constexpr std::size_t margin = 64;
  using limits = std::numeric_limits<part_of<T>>;
  const std::vector<T> bed(x.size() + 2 * margin, limits::has_quiet_NaN ? limits::quiet_NaN() : limits::max());
  for (std::size_t start = margin; start<margin + 4; start += x.size()> 100000 ? 3 : 1) {
    std::vector<T> around = bed;
    std::copy(x.begin(), x.end(), around.begin() + static_cast<std::ptrdiff_t>(start));
    const std::vector<T> before = around;
    const auto inside = std::span<const T>(around).subspan(start, x.size());
    const scalar value = call(b, what, inside, chosen).value;
    found.expect(agrees(value), [&] { return told(what, inside, chosen) + ": depends on its neighbours"; });
    found.expect(std::memcmp(before.data(), around.data(), around.size() * sizeof(T)) == 0,
                 [&] { return told(what, inside, chosen) + ": memory was written"; });
  }
}

}  // namespace

void check_neighbours(const backend& b, findings& found) {
  for_each_element([&]<class T>(T) {
    for (const std::size_t length : guarded_lengths<T>) {
      const auto values = mixed_values<T>(length, 21);
      const auto factors = unit_factors<T>(length, 22);
      for (const operation what : all_operations) {
        if (!has_value(what, length)) continue;
        const auto& x = what == operation::product ? factors : values;
        for_each_variant(b, what, std::span<const T>(x), 3,
                         [&](const options& chosen) { expect_untouched(b, what, x, chosen, found); });
      }
    }
  });
}

}  // namespace fanin::test
