// SPDX-License-Identifier: Apache-2.0
// The parameters of the kernel of each puzzle.
#pragma once

namespace fanin::puzzle {

/// x, its length n, and the sums: most of the puzzles.
template <int Puzzle>
struct kernel_type {
  using type = void(const int* x, int n, int* sums);
};
template <>
struct kernel_type<8> {
  using type = void(const int* x, int n, int* partials, unsigned* arrived, int* result);
};
template <>
struct kernel_type<9> {
  using type = void(const int* x, int rows, int columns, int* sums);
};
template <>
struct kernel_type<10> {
  using type = void(const int* x, const int* begins, int segments, int* sums);
};
template <>
struct kernel_type<11> {
  using type = void(const float* x, int n, float* partials, unsigned* arrived, float* result);
};
template <>
struct kernel_type<12> {
  using type = void(const float* x, int n, unsigned long long* units);
};

}  // namespace fanin::puzzle
