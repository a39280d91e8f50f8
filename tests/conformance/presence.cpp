// SPDX-License-Identifier: Apache-2.0
// Elements that do not take part. The result is the result of the other elements alone, and positions count all
// elements of the input.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "tests/conformance/checks.hpp"
#include "tests/support/masked.hpp"

namespace fanin::test {
namespace {

reduction call_masked(const backend& b, operation what, const input_views& inputs, const options& chosen) {
  const backend* const only[] = {&b};
  return reduced(b, select(only, b.name(), what, inputs, chosen).what);
}

reduction stream_masked(const backend& b, operation what, const input_views& inputs, const options& chosen,
                        std::size_t most, generator& random) {
  const backend* const only[] = {&b};
  const request prepared = select(only, b.name(), what, inputs, chosen).what;
  const std::unique_ptr<stream> into = b.open(prepared);
  for (std::size_t at = 0; at < inputs.count();) {
    const std::size_t n = std::min<std::size_t>(inputs.count() - at, random() % (most + 1));
    into->push(inputs.part(at, n));
    at += n;
  }
  return with_result_type(what, prepared.result, [&]<class R>() {
    R value{};
    const outcome answer = into->finish(&value);
    return reduction{answer, value};
  });
}

/// A case that many operations reduce: its mask in each form, and the elements that take part.
template <class T>
struct shared_case : masked_case<T> {
  std::vector<T> some;
  std::vector<std::uint8_t> bits, bits_behind_three;

  explicit shared_case(masked_case<T> of)
      : masked_case<T>(std::move(of)),
        some(this->compacted()),
        bits(bits_of_mask(this->mask, 0)),
        bits_behind_three(bits_of_mask(this->mask, 3)) {}
};

/// Calls f with the elements and each form of the mask.
template <class T, class F>
void for_each_form(operation what, const shared_case<T>& of, F f) {
  const input_views inputs = inputs_for(what, std::span<const T>(of.x));
  f(inputs.where({of.mask.data(), 0, mask_form::bytes}));
  f(inputs.where({of.bits.data(), 0, mask_form::bits}));
  f(inputs.where({of.bits_behind_three.data(), 3, mask_form::bits}));
}

/// Every call gives what `expected` does, and counts the absent.
template <class T>
void expect_same(const backend& b, operation what, options chosen, const shared_case<T>& of, const scalar& expected,
                 generator& random, findings& found) {
  chosen.nan = nan_policy::skip;
  const std::uint64_t absent = of.x.size() - of.present.size();
  const auto check = [&](const char* how, const reduction& got) {
    found.expect(same(got.value, expected) && got.absent == absent, [&] {
      return told(what, std::span<const T>(of.x), chosen) + ", " + how + ": " + shown(got.value) + " without " +
             std::to_string(got.absent) + " instead of " + shown(expected) + " without " + std::to_string(absent);
    });
  };
  for_each_form(what, of, [&](const input_views& inputs) {
    check("at once", call_masked(b, what, inputs, chosen));
    const bool in_blocks = inputs.mask().first != 0 || of.x.size() == 65;  // a stream on a device takes long to open
    if (!in_blocks) return;
    check("in blocks", stream_masked(b, what, inputs, chosen, of.x.size() / 2 + 3, random));
  });
}

template <class T>
void expect_compacted(const backend& b, operation what, const options& chosen, const shared_case<T>& of,
                      generator& random, findings& found) {
  if (!has_value(what, of.present.size())) {
    options skipping = chosen;
    skipping.nan = nan_policy::skip;
    const input_views inputs = inputs_for(what, std::span<const T>(of.x)).where({of.mask.data()});
    const auto refuses = [&] { call_masked(b, what, inputs, skipping); };
    found.expect(throws<invalid_argument>(refuses),
                 [&] { return told(what, std::span<const T>(of.x), chosen) + ": has a value of too few elements"; });
    return;
  }
  const scalar alone = call(b, what, std::span<const T>(of.some), chosen).value;
  expect_same(b, what, chosen, of, with_position(alone, of.present), random, found);
}

/// If the order matters, the bits are the bits of an array with the stand-ins in place.
template <class T>
void expect_in_place(const backend& b, operation what, const options& chosen, const shared_case<T>& of,
                     generator& random, findings& found) {
  const stand_in absent = row_of(what).absent;
  const T infinity = std::numeric_limits<part_of<T>>::infinity();
  const T value = absent == stand_in::one              ? T{1}
                  : absent == stand_in::minus_infinity ? -infinity
                                                       : negative_zero<T>();
  std::vector<T> with_stand_ins(of.x.size(), value);
  for (const std::size_t i : of.present) with_stand_ins[i] = of.x[i];
  const reduction expected = call(b, what, std::span<const T>(with_stand_ins), chosen);
  const bool divides = absent == stand_in::zero && least_count(what) > 0;  // by the number of present elements
  if (divides || expected.reproducibility != reproducibility::fixed_order) return;
  expect_same(b, what, chosen, of, expected.value, random, found);
}

template <class T, class F>
void for_each_kind(const backend& b, F f) {
  for (const operation what : all_operations) {
    for (const method how : all_methods) {
      if (has(b, what, type_of<T>, how)) f(what, options{.method = how, .threads = 3});
    }
  }
}

/// Cases of whole numbers that `like` can take: of each length, with none, some or all elements absent, and of zeros.
template <class T>
std::vector<shared_case<T>> whole_cases(operation like, generator& random) {
  std::vector<shared_case<T>> cases;
  for (const std::size_t n : std::array<std::size_t, 6>{1, 2, 65, 1000, 16389, long_length<T>}) {
    for (const unsigned sixteenths : {3, 0, 16}) {
      if (n > 100000 && sixteenths != 3) continue;
      cases.emplace_back(masked(whole_numbers<T>(like, n, random), random() % (n + 1), sixteenths, random));
    }
  }
  cases.emplace_back(masked(std::vector<T>(1000, negative_zero<T>()), 10, 3, random));
  return cases;
}

template <class T>
void expect_whole(const backend& b, generator& random, findings& found) {
  const auto sums = whole_cases<T>(operation::sum, random), products = whole_cases<T>(operation::product, random),
             moduli = whole_cases<T>(operation::sum_of_magnitudes, random);
  for_each_kind<T>(b, [&](operation what, const options& chosen) {
    if (!adds_whole_numbers(what)) return;
    const method of_long = is_of_exact_sums(what) ? method::exact : method::fast;
    for (const shared_case<T>& of : what == operation::product             ? products
                                    : what == operation::sum_of_magnitudes ? moduli
                                                                           : sums) {
      if (of.x.size() > 100000 && chosen.method != of_long) continue;
      expect_compacted(b, what, chosen, of, random, found);
    }
  });
}

/// Elements whose sums and products round.
template <class T>
void expect_rounded(const backend& b, generator& random, findings& found) {
  for (const std::size_t n : {1000, 300001}) {
    const shared_case<T> terms(masked(mixed_values<T>(n, 3), 100, 3, random));
    const shared_case<T> factors(masked(near_one<T>(n, 3), 100, 3, random));
    for_each_kind<T>(b, [&](operation what, const options& chosen) {
      const shared_case<T>& of = what == operation::product ? factors : terms;
      if (chosen.method == method::exact) expect_compacted(b, what, chosen, of, random, found);
      if (chosen.method != method::exact) expect_in_place(b, what, chosen, of, random, found);
    });
  }
}

}  // namespace

void check_presence(const backend& b, findings& found) {
  generator random(17);
  for_each_element([&]<class T>(T) { expect_whole<T>(b, random, found); });
  for_each_type<float, double, std::complex<float>, std::complex<double>>(
      [&]<class T>(T) { expect_rounded<T>(b, random, found); });
}

}  // namespace fanin::test
