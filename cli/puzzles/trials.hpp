// SPDX-License-Identifier: Apache-2.0
// The trials of each puzzle: inputs, launches and expected values. The program includes check.hpp or gpu_check.hpp
// first, which defines `checker` and `array` for the CPU or for a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace fanin::puzzle {

/// Lengths around the lengths of warps and blocks, and 0. A short odd length comes first.
inline const std::vector<int> lengths = {65, 33, 1, 2, 31, 32, 63, 64, 101, 128, 129, 333, 0};

/// Integers whose sums tell which of them are missing or doubled; for odd seeds any of 32 bits, of both signs.
inline std::vector<int> integers(int count, unsigned seed) {
  std::vector<int> x(static_cast<std::size_t>(count));
  std::uint64_t state = seed + 1;
  for (int& one : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    one = seed % 2 == 0 ? static_cast<int>(state >> 50) + 1 : static_cast<int>(state >> 32);
  }
  return x;
}

/// Floats of both signs that are multiples of 2^-20, some of them much larger than the others.
inline std::vector<float> floats(int count, unsigned seed) {
  std::vector<float> x(static_cast<std::size_t>(count));
  const std::vector<int> bits = integers(count, 2 * seed + 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float small = static_cast<float>(bits[i] >> 10) / (1 << 20);
    x[i] = bits[i] % 5 == 0 ? small * (1 << 18) : small;
  }
  return x;
}

inline std::string length_name(int n, unsigned seed) {
  return "n = " + std::to_string(n) + (seed % 2 == 0 ? "" : ", integers of both signs");
}

/// The sums of x[begin, end), which wrap around.
inline int sum_of(const std::vector<int>& x, int begin, int end, int step = 1) {
  unsigned sum = 0;
  for (int i = begin; i < end; i += step) sum += static_cast<unsigned>(x[static_cast<std::size_t>(i)]);
  return static_cast<int>(sum);
}
/// The sums of pieces of `piece` elements.
inline std::vector<int> sums_of_pieces(const std::vector<int>& x, int piece, std::size_t pieces) {
  std::vector<int> sums;
  const int n = static_cast<int>(x.size());
  for (int i = 0; i < static_cast<int>(pieces); ++i) {
    sums.push_back(sum_of(x, std::min(n, i * piece), std::min(n, (i + 1) * piece)));
  }
  return sums;
}

/// Calls one(n, seed) for every length and both kinds of integers.
template <class One>
void for_each_length(const checker& now, One one) {
  for (const int n : now.and_long(lengths)) {
    for (const unsigned seed : {0u, 1u}) one(n, seed);
  }
}

inline const auto two_each_trials = [](checker& now, auto kernel) {
  for_each_length(now, [&](int n, unsigned seed) {
    now.trial(length_name(n, seed));
    const std::vector<int> values = integers(n, seed);
    const array<int> x("x", values), y("y", static_cast<std::size_t>((n + 1) / 2));
    now.launch(static_cast<unsigned>(n / 128 + 1), 64, [&] { kernel(x.data(), n, y.data()); });
    now.expect(y, sums_of_pieces(values, 2, y.count()), {&x.memory()});
  });
};

inline const auto many_each_trials = [](checker& now, auto kernel) {
  for_each_length(now, [&](int n, unsigned seed) {
    now.trial(length_name(n, seed));
    const std::vector<int> values = integers(n, seed);
    const array<int> x("x", values), sums("sums", 64);
    now.launch(2, 32, [&] { kernel(x.data(), n, sums.data()); });
    std::vector<int> expected;
    for (int thread = 0; thread < 64; ++thread) expected.push_back(sum_of(values, thread, n, 64));
    now.expect(sums, expected, {&x.memory()});
  });
};

/// Kernels whose blocks of `Threads` threads each add `Piece` elements for each sum.
template <unsigned Threads, int Piece>
inline const auto piece_trials = [](checker& now, auto kernel) {
  for_each_length(now, [&](int n, unsigned seed) {
    now.trial(length_name(n, seed));
    const std::vector<int> values = integers(n, seed);
    const unsigned blocks = static_cast<unsigned>(n) / Threads + 1;
    const array<int> x("x", values), sums("sums", blocks * Threads / Piece);
    now.launch(
        blocks, Threads, [&] { kernel(x.data(), n, sums.data()); }, seed);
    now.expect(sums, sums_of_pieces(values, Piece, sums.count()), {&x.memory()});
  });
};

inline const auto one_launch_trials = [](checker& now, auto kernel) {
  for_each_length(now, [&](int n, unsigned seed) {
    now.trial(length_name(n, seed));
    const std::vector<int> values = integers(n, seed);
    const unsigned blocks = static_cast<unsigned>(n) / 64 + 1;
    const array<int> x("x", values), partials("partials", blocks), result("result", 1);
    const array<unsigned> arrived("arrived", std::vector<unsigned>{0});
    now.launch(
        blocks, 64, [&] { kernel(x.data(), n, partials.data(), arrived.data(), result.data()); }, seed);
    now.expect(result, {sum_of(values, 0, n)}, {&x.memory(), &partials.memory()});
  });
};

inline const auto row_trials = [](checker& now, auto kernel) {
  for (const int rows : now.and_long({3, 1, 2, 5}, 64)) {
    for (const int columns : {33, 1, 31, 32, 100, 0}) {
      now.trial(std::to_string(rows) + " rows of " + std::to_string(columns));
      const std::vector<int> values = integers(rows * columns, 1);
      const array<int> x("x", values), sums("sums", static_cast<std::size_t>(rows));
      now.launch(static_cast<unsigned>(rows + 1) / 2, 64, [&] { kernel(x.data(), rows, columns, sums.data()); });
      now.expect(sums, sums_of_pieces(values, columns, sums.count()), {&x.memory()});
    }
  }
};

inline const auto segment_trials = [](checker& now, auto kernel) {
  std::vector<std::vector<int>> all = {{0, 33, 65, 65}, {0, 0, 40, 40, 41, 140}, {0, 31, 32, 96}, {0, 1}, {0, 0}};
  for (const int count : now.and_long({}, 64)) {
    all.emplace_back();
    for (int i = 0; i <= count; ++i) all.back().push_back(64 * i + i % 7);
    all.back().front() = 0;
  }
  for (const std::vector<int>& bounds : all) {
    std::string name = "segments that begin at";
    for (const int one : bounds) name += " " + std::to_string(one);
    now.trial(bounds.size() < 9 ? name : std::to_string(bounds.size() - 1) + " segments");
    const std::vector<int> values = integers(bounds.back(), 1);
    const int segments = static_cast<int>(bounds.size()) - 1;
    const array<int> x("x", values), begins("begins", bounds), sums("sums", bounds.size() - 1);
    now.launch(static_cast<unsigned>(segments + 1) / 2, 64,
               [&] { kernel(x.data(), begins.data(), segments, sums.data()); });
    std::vector<int> expected;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) expected.push_back(sum_of(values, bounds[i], bounds[i + 1]));
    now.expect(sums, expected, {&x.memory()});
  }
};

/// The exact sum in units of 2^-20.
inline long long exact_units(const std::vector<float>& x) {
  long long sum = 0;
  for (const float one : x) sum += static_cast<long long>(static_cast<double>(one) * (1 << 20));
  return sum;
}

/// In every other order of blocks and threads the bits have to be the same as in the first order. Values have to
/// be within the error of any order of n additions, which is n 2^-24 times the sum of the magnitudes.
inline const auto same_bits_trials = [](checker& now, auto kernel) {
  for (const int n : now.and_long({65, 1, 200, 333, 0})) {
    const std::vector<float> values = floats(n, 7);
    float first = 0;
    for (const unsigned order : {0u, 1u, 2u, 3u}) {
      now.trial("n = " + std::to_string(n) + ", order " + std::to_string(order) + " of the blocks");
      const unsigned blocks = static_cast<unsigned>(n) / 64 + 1;
      const array<float> x("x", values), partials("partials", blocks), result("result", std::vector<float>{0});
      const array<unsigned> arrived("arrived", std::vector<unsigned>{0});
      now.launch(
          blocks, 64, [&] { kernel(x.data(), n, partials.data(), arrived.data(), result.data()); }, order);
      double magnitudes = 0;
      for (const float one : values) magnitudes += one < 0 ? -one : one;
      const double exact = static_cast<double>(exact_units(values)) / (1 << 20), error = result[0] - exact;
      if (!((error < 0 ? -error : error) <= n * magnitudes / (1 << 24))) {
        now.expect(result, {static_cast<float>(exact)}, {&x.memory(), &partials.memory()});
      }
      const float last = result[0], rounded = static_cast<float>(exact);
      if (order == 0) {
        first = last;
        now.compare_with_exact(std::memcmp(&last, &rounded, sizeof last) == 0);
      }
      if (std::memcmp(&first, &last, sizeof first) == 0) continue;
      char text[200];
      std::snprintf(text, sizeof text,
                    "other bits: n = %d: the same numbers give %a, and %a when the blocks run in another order", n,
                    static_cast<double>(first), static_cast<double>(last));
      finish(text);
    }
  }
};

inline const auto exact_sum_trials = [](checker& now, auto kernel) {
  for (const int n : now.and_long({65, 1, 31, 64, 200, 333, 0})) {
    for (const unsigned order : {0u, 1u}) {
      now.trial("n = " + std::to_string(n) + ", order " + std::to_string(order) + " of the blocks");
      const std::vector<float> values = floats(n, 7 + order);
      const array<float> x("x", values);
      const array<unsigned long long> units("units", std::vector<unsigned long long>{0});
      now.launch(
          static_cast<unsigned>(n) / 64 + 1, 64, [&] { kernel(x.data(), n, units.data()); }, order);
      now.expect(units, {static_cast<unsigned long long>(exact_units(values))}, {&x.memory()});
    }
  }
};

/// The trials of a puzzle.
template <int Puzzle, class Kernel>
void run_trials(checker& now, Kernel kernel) {
  if constexpr (Puzzle == 1) two_each_trials(now, kernel);
  if constexpr (Puzzle == 2) many_each_trials(now, kernel);
  if constexpr (Puzzle == 3 || Puzzle == 4) piece_trials<64, 64>(now, kernel);
  if constexpr (Puzzle == 5 || Puzzle == 7) piece_trials<128, 128>(now, kernel);
  if constexpr (Puzzle == 6) piece_trials<64, 32>(now, kernel);
  if constexpr (Puzzle == 8) one_launch_trials(now, kernel);
  if constexpr (Puzzle == 9) row_trials(now, kernel);
  if constexpr (Puzzle == 10) segment_trials(now, kernel);
  if constexpr (Puzzle == 11) same_bits_trials(now, kernel);
  if constexpr (Puzzle == 12) exact_sum_trials(now, kernel);
}

}  // namespace fanin::puzzle
