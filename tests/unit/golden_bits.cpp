// SPDX-License-Identifier: Apache-2.0
// Tests that the bits of `exact`, and of `fast` on a CPU, are the bits of earlier releases. golden_bits.txt has a
// hash of 1000 results for each operation, element type and method. With the environment variable
// FANIN_WRITE_GOLDEN_BITS=1 the file is written anew, to add operations and types. A line that is there never
// changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/call.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t input_count = 1000;

/// Random bits that are the same on every machine and with every standard library. [Steele, Lea, Flood 2014]
class splitmix {
 public:
  explicit splitmix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// A number near one, of either sign, a number of any exponent, or any integer of few or many bits.
template <class T>
T element_from(splitmix& random, bool near_one) {
  const std::uint64_t bits = random();
  if constexpr (complex_number<T>) {
    const auto re = element_from<part_of<T>>(random, near_one);
    return {re, element_from<part_of<T>>(random, near_one)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits >> (near_one ? 62 : bits % 64));
  } else {
    using N = computed_as<T>;
    const N fraction = 1 + static_cast<N>(static_cast<std::int32_t>(bits >> 40)) * static_cast<N>(0x1p-24);
    const int exponent = near_one ? 0 : static_cast<int>(bits % 60) - 30;
    const N power = static_cast<N>(std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52));
    return static_cast<T>((bits >> 39 & 1) != 0 ? -fraction * power : fraction * power);
  }
}

/// Short inputs, and every 50th one of several leaves.
template <class T>
std::vector<std::vector<T>> inputs_of() {
  std::vector<std::vector<T>> all(input_count);
  for (std::size_t i = 0; i < input_count; ++i) {
    splitmix random(i);
    all[i].resize(i % 50 == 49 ? 4000 + i : 2 + i % 50);
    for (T& v : all[i]) v = element_from<T>(random, i % 2 == 0);
  }
  return all;
}

void add_to_hash(std::uint64_t& hash, std::uint64_t word) {
  for (int i = 0; i < 8; ++i) hash = (hash ^ (word >> (8 * i) & 0xff)) * 0x100000001b3;
}

template <class T>
std::uint64_t hash_of(operation what, method how, const std::vector<std::vector<T>>& inputs) {
  std::uint64_t hash = 0xcbf29ce484222325;
  std::vector<T> reversed;
  for (const std::vector<T>& x : inputs) {
    reversed.assign(x.rbegin(), x.rend());
    const input_views one{std::span<const T>(x)}, two{std::span<const T>(x), std::span<const T>(reversed)};
    try {
      const scalar value =
          reduce(what, row_of(what).inputs == 2 ? two : one, {.backend = "serial", .method = how}).value;
      fanin::visit(
          [&](const auto& v) {
            for (const std::uint64_t word : words_of(v)) add_to_hash(hash, word);
          },
          value);
    } catch (const overflow&) {
      add_to_hash(hash, ~std::uint64_t{0});
    }
  }
  return hash;
}

/// "sum f32 exact 0123456789abcdef", a line for each cell.
std::vector<std::string> cells_now() {
  std::vector<std::string> lines;
  for (const element_type type : all_element_types) {
    with_element(type, [&]<class T>() {
      const auto inputs = inputs_of<T>();
      for (const operation what : all_operations) {
        for (const method how : {method::exact, method::fast}) {
          if (!is_offered(what, type, how)) continue;
          if (how == method::fast && arithmetic_method(what, type, method::exact) == method::fast) continue;
          char text[80];
          std::snprintf(text, sizeof text, "%s %s %s %016llx", to_string(what).data(), to_string(type).data(),
                        to_string(how).data(), static_cast<unsigned long long>(hash_of(what, how, inputs)));
          lines.emplace_back(text);
        }
      }
    });
  }
  return lines;
}

}  // namespace

TEST_SUITE("unit/golden_bits") {
  TEST_CASE("exact results, and fast ones on a CPU, have the bits of earlier releases") {
    const std::vector<std::string> now = cells_now();
    if (std::getenv("FANIN_WRITE_GOLDEN_BITS") != nullptr) {
      std::ofstream out(FANIN_GOLDEN_BITS);
      for (const std::string& line : now) out << line << '\n';
    }
    std::ifstream in(FANIN_GOLDEN_BITS);
    std::vector<std::string> golden;
    for (std::string line; std::getline(in, line);) golden.push_back(line);
    CHECK(golden.size() == now.size());
    for (const std::string& line : golden) CHECK_MESSAGE(std::ranges::count(now, line) == 1, "earlier: " << line);
    for (const std::string& line : now) CHECK_MESSAGE(std::ranges::count(golden, line) == 1, "now: " << line);
  }
}

}  // namespace fanin::test
