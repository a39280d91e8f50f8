// SPDX-License-Identifier: Apache-2.0
// Tests of the states of exact accumulators: their counts, the saved bytes, and the bytes that may be loaded.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fanin/accumulator/exact.hpp>

#include "tests/support/call.hpp"

namespace {

using fanin::exact_accumulator;
using fanin::exact_square_accumulator;
using fanin::test::bits_of;

/// The bytes of version 1, which has neither a count nor a checksum.
template <std::size_t Size>
std::vector<std::byte> version_1(const std::array<std::byte, Size>& saved) {
  std::vector<std::byte> old(saved.begin(), saved.begin() + 8);
  old[3] = std::byte{1};
  old.insert(old.end(), saved.begin() + 16, saved.end() - 4);
  return old;
}

}  // namespace

TEST_SUITE_BEGIN("unit/exact_state");

TEST_CASE("saved bytes follow the documented layout") {
  exact_accumulator<float> sum;
  sum.add(-0x1p-149f);
  sum.add(0x1p-117f);
  const auto saved = sum.save();
  REQUIRE(saved.size() == 64);
  const std::string head = {'F', 'N', 'X', 2, 4, 1, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < 16; ++i) CHECK(std::to_integer<int>(saved[i]) == head[i]);
  for (std::size_t i = 16; i < 60; ++i) CHECK(std::to_integer<int>(saved[i]) == (i < 20 ? 0xff : 0));
  const std::uint8_t checksum[] = {0x59, 0x98, 0xb5, 0xe1};  // by Python's zlib.crc32
  for (std::size_t i = 60; i < 64; ++i) CHECK(std::to_integer<int>(saved[i]) == checksum[i - 60]);
  CHECK(exact_accumulator<double>().save().size() == 292);
  CHECK(exact_square_accumulator<float>().save().size() == 100);
  CHECK(exact_square_accumulator<double>().save().size() == 556);
}

TEST_CASE_TEMPLATE("a state counts its elements, however they were added", A, exact_accumulator<float>,
                   exact_accumulator<double>, exact_square_accumulator<float>, exact_square_accumulator<double>) {
  using T = typename A::value_type;
  A sum;
  CHECK(sum.count() == 0);
  CHECK_THROWS_AS(static_cast<void>(sum.mean()), fanin::invalid_argument);
  sum.add(T{3});
  sum.add(std::numeric_limits<T>::quiet_NaN());
  A other;
  other.add(std::vector<T>(5, T{-0.0}));
  sum.merge(other);
  CHECK(sum.count() == 7);
  CHECK(A::load(sum.save()).count() == 7);
  sum.add_elements(3, [](A& into) { into.add_scaled(1, 0); });
  CHECK(sum.count() == 10);

  A three;
  three.add(std::vector<T>{T{1}, T{2}, T{2}});
  CHECK(three.mean() == three.mean(3));
  const A old = A::load(version_1(three.save()));
  CHECK(old.count() == A::unknown_count);
  CHECK(bits_of(old.round()) == bits_of(three.round()));
  CHECK_THROWS_AS(static_cast<void>(old.mean()), fanin::invalid_argument);
  A mixed = three;
  mixed.merge(old);
  mixed.add(T{1});
  CHECK(mixed.count() == A::unknown_count);
  CHECK(A::load(mixed.save()).count() == A::unknown_count);
  CHECK(A::load(version_1(A().save())).count() == 0);
}

TEST_CASE_TEMPLATE("the sum of 2^63 of the largest elements is saved and loaded", A, exact_accumulator<float>,
                   exact_accumulator<double>, exact_square_accumulator<float>, exact_square_accumulator<double>) {
  using T = typename A::value_type;
  for (const T element : {std::numeric_limits<T>::max(), -std::numeric_limits<T>::max()}) {
    A sum;
    sum.add(element);
    for (int i = 0; i < 63; ++i) sum.merge(A(sum));
    CHECK(sum.count() == A::most_elements);
    CHECK(A::load(sum.save()).save() == sum.save());
  }
}

TEST_CASE("merging beyond 2^63 elements is an error") {
  exact_accumulator<double> sum;
  sum.add(1.0);
  for (int i = 0; i < 63; ++i) sum.merge(exact_accumulator<double>(sum));
  CHECK(sum.count() == exact_accumulator<double>::most_elements);
  CHECK(sum.round() == 0x1p63);
  const auto before = sum.save();
  exact_accumulator<double> one;
  one.add(1.0);
  CHECK_THROWS_AS(sum.merge(one), fanin::overflow);
  CHECK_THROWS_AS(sum.merge(exact_accumulator<double>(sum)), fanin::overflow);
  CHECK(sum.save() == before);
}

TEST_CASE_TEMPLATE("no change of a byte passes for another state", A, exact_accumulator<float>,
                   exact_accumulator<double>, exact_square_accumulator<float>, exact_square_accumulator<double>) {
  A sum;
  for (int i = 1; i < 50; ++i) sum.add(static_cast<typename A::value_type>(i) / 7);
  const auto good = sum.save();
  int accepted = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (unsigned change = 1; change < 256; ++change) {
      auto bytes = good;
      bytes[at] ^= std::byte{static_cast<unsigned char>(change)};
      try {
        A::load(bytes);
        ++accepted;
      } catch (const fanin::invalid_argument&) {
      }
    }
  }
  CHECK(accepted == 0);
}

TEST_CASE("load refuses what save cannot have written") {
  using sums = exact_accumulator<double>;
  using squares = exact_square_accumulator<double>;
  sums sum;
  sum.add(1.0);
  const auto good = sum.save();
  const auto refused = [](auto loader, auto bytes, std::size_t at, unsigned value, const char* says) {
    bytes[at] = std::byte{static_cast<unsigned char>(value)};
    CAPTURE(at);
    CAPTURE(value);
    CHECK_THROWS_WITH_AS(decltype(loader)::load(bytes), doctest::Contains(says), fanin::invalid_argument);
  };
  refused(sum, good, 0, 'f', "not a saved exact sum");
  refused(sum, good, 3, 3, "unknown version");
  refused(sum, good, 3, 1, "wrong length");
  refused(sum, version_1(good), 3, 0, "unknown version");
  refused(sum, good, 4, 4, "another element type");
  refused(exact_accumulator<float>(), exact_accumulator<float>().save(), 4, 8, "another element type");
  refused(sum, good, 5, 2, "another operation");
  refused(sum, good, 100, 1, "damaged: its checksum");

  const auto impossible = [&](auto loader, auto bytes, std::size_t at, unsigned value) {
    refused(loader, version_1(bytes), at, value, "damaged");
    bytes[at < 8 ? at : at + 8] = std::byte{static_cast<unsigned char>(value)};
    const std::span<const std::byte> content(bytes.data(), bytes.size() - 4);
    fanin::detail::put_little_endian(fanin::detail::crc32(content), bytes.data() + content.size());
    CHECK_THROWS_WITH_AS(decltype(loader)::load(bytes), "the saved exact sum is damaged", fanin::invalid_argument);
  };
  impossible(sum, good, 6, 3);
  sums zero;
  zero.add(0.0);
  impossible(sum, zero.save(), 6, 3);
  impossible(sum, good, 6, 1);
  impossible(sum, good, 6, 0);
  impossible(sum, good, 7, 8);
  impossible(sum, good, 279, 0x7f);
  impossible(sum, good, 279, 0x80);
  // The first bit that 2^63 elements cannot reach.
  impossible(sum, good, 8 + (1024 + 1074 + 63) / 8, 1u << (1024 + 1074 + 63) % 8);
  exact_accumulator<float> narrow;
  narrow.add(1.0f);
  impossible(narrow, narrow.save(), 8 + (128 + 149 + 63) / 8, 1u << (128 + 149 + 63) % 8);
  impossible(sum, sums().save(), 7, 1);
  impossible(squares(), squares().save(), 6, 1);
  squares square;
  square.add(1.0);
  impossible(squares(), square.save(), 7, 4);
  impossible(squares(), square.save(), 8 + (2048 + 2148 + 63) / 8, 1u << (2048 + 2148 + 63) % 8);
  auto negative = square.save();
  std::fill(negative.begin() + 16, negative.end() - 4, std::byte{0xff});
  impossible(squares(), negative, 6, 2);
  const auto impossible_count = [&](auto bytes, std::uint64_t count) {
    CAPTURE(count);
    fanin::detail::put_little_endian(count, bytes.data() + 8);
    const std::span<const std::byte> content(bytes.data(), bytes.size() - 4);
    fanin::detail::put_little_endian(fanin::detail::crc32(content), bytes.data() + content.size());
    CHECK_THROWS_WITH_AS(sums::load(bytes), "the saved exact sum is damaged", fanin::invalid_argument);
  };
  impossible_count(good, 0);
  impossible_count(good, sums::most_elements + 1);
  impossible_count(good, sums::unknown_count - 1);
  impossible_count(good, std::uint64_t{3} << 62);
  impossible_count(sums().save(), 1);
  impossible_count(sums().save(), sums::unknown_count);

  const std::span<const std::byte> whole(good);
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{8}, good.size() - 1}) {
    CHECK_THROWS_AS(sums::load(whole.first(length)), fanin::invalid_argument);
  }
  std::vector<std::byte> longer(good.begin(), good.end());
  longer.push_back(std::byte{0});
  CHECK_THROWS_WITH_AS(sums::load(longer), doctest::Contains("length"), fanin::invalid_argument);
  CHECK_THROWS_WITH_AS(exact_accumulator<float>::load(good), doctest::Contains("another element type"),
                       fanin::invalid_argument);
  CHECK_THROWS_WITH_AS(sums::load(whole.first(7)), "a saved exact sum has at least 8 bytes", fanin::invalid_argument);
}

TEST_SUITE_END();
