// SPDX-License-Identifier: Apache-2.0
// Adding the elements of a vector to a state, and merging the states of threads.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/batch/packed_place.hpp"

namespace fanin::cuda {

using namespace device_code;

/// Whether A adds several elements at once in less time than one by one. The order of such additions means nothing.
template <class A>
concept adds_vectors = requires(typename A::state& s, const vector<typename A::element>& v) {
  A::add_vector(s, v.at);
};

/// Whether A adds all elements of a vector at once.
template <class A>
inline constexpr bool adds_all_of_vector = adds_all<A, vector<typename A::element>::size>;

/// Whether A adds the first words of a vector without a branch for each. The order of such additions means nothing.
template <class A>
concept adds_first_words = A::order_free &&
    requires(typename A::state& s, const vector<typename A::element>& v, const typename A::rule& rule) {
  A::add_words(s, v.at, rule, 1);
};

/// Whether A takes long to make a value of a state. A warp keeps such states until all of its threads have one.
/// Merges of such states are commutative.
template <class A>
inline constexpr bool ends_slowly = adds_all_of_vector<A>;

/// Calls merge(states, M()) with the accumulator M of these states. Where no state has more than a sum, as all(mine)
/// tells by the answers of all threads that merge states together, sums are merged in place of states.
template <class A, int N, class All, class Merge>
requires ends_slowly<A> __device__ void with_plain_sums(typename A::state (&s)[N], const All& all,
                                                        const Merge& merge) {
  bool is_plain = true;
#pragma unroll
  for (const auto& one : s) is_plain &= A::is_plain(one);
  if (!all(is_plain)) return merge(s, A());
  double sum[N];
#pragma unroll
  for (int k = 0; k < N; ++k) sum[k] = s[k].sum;
  merge(sum, accumulator::plain_sum<double>());
#pragma unroll
  for (int k = 0; k < N; ++k) s[k].sum = sum[k];
}
inline __device__ bool warp_and(bool mine) { return __all_sync(0xffffffffu, mine) != 0; }

/// Whether the states of A take so many registers that a thread folds few of them, and a multiprocessor has few
/// blocks: states of two doubles or more that are merged in a fixed order.
template <class A>
inline constexpr bool fills_registers =
    !A::order_free && sizeof(typename A::element) == 8 && sizeof(typename A::state) > 8;

/// A vector as it is loaded. Where the compiler copies vectors of short elements, it takes all elements apart, and so
/// registers are copied in place of them.
template <class A>
using loaded_vector = std::conditional_t<adds_all_of_vector<A>, uint4, vector<typename A::element>>;
template <class A, class T = typename A::element>
__device__ loaded_vector<A> load_for(const vector<T>* from) {
  if constexpr (adds_all_of_vector<A>) {
    return __ldg(reinterpret_cast<const uint4*>(from));
  } else {
    return load(from);
  }
}

/// Adds elements that were loaded from `from`, in their order unless A adds them all at once. The first has the
/// position `position`.
template <class A, class From, class T, int N>
__device__ void add_elements(const From& from, typename A::state& s, const T (&x)[N], std::uint64_t position) {
  if constexpr (adds_words<A>) {
    A::add_words(s, x, from.rule);
  } else if constexpr (adds_runs<A>) {
    A::add_run(s, read_all<A>(from, x).at, position);
  } else if constexpr (adds_all_of_vector<A>) {
    A::add_all(s, read_all<A>(from, x).at);
  } else if constexpr (is_packed_place<A>) {
    A::add_first(s, read_all<A>(from, x).at, N, static_cast<unsigned>(position));
  } else {
    const auto numbers = read_all<A>(from, x);
#pragma unroll
    for (int i = 0; i < N; ++i) add_at<A>(s, position + i, numbers.at[i]);
  }
}
template <class A, class From, class T = typename A::element>
__device__ void add_vector(const From& from, typename A::state& s, const vector<T>& v, std::uint64_t position) {
  add_elements<A>(from, s, v.at, position);
}

/// Adds the elements of N vectors by one call of A::add_all().
template <class A, class From, int N, class T = typename A::element>
requires adds_all_of_vector<A> __device__ void add_registers(const From& from, typename A::state& s,
                                                             const uint4 (&v)[N]) {
  float x[N * vector<T>::size];
  if constexpr (sizeof(T) == 4) {
    std::memcpy(x, v, sizeof v);
  } else {
    std::uint32_t registers[4 * N];
    std::memcpy(registers, v, sizeof v);
    A::read_registers(registers, x, from.rule);
  }
  A::add_all(s, x);
}
template <class A, class From>
requires adds_all_of_vector<A> __device__ void add_vector(const From& from, typename A::state& s, const uint4& v,
                                                          std::uint64_t) {
  const uint4 one[] = {v};
  add_registers<A>(from, s, one);
}

/// Adds the c-th elements of vectors to s[c].
template <class A, class From, int N, int Rows, class T = typename A::element>
__device__ void add_columns(const From& from, typename A::state (&s)[N], const loaded_vector<A> (&v)[Rows],
                            std::uint64_t position) {
  if constexpr (adds_all_of_vector<A>) {
    static_assert(Rows == N);
    constexpr int in_register = N / 4;
    std::uint32_t registers[N][4];
    std::memcpy(registers, v, sizeof v);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      std::uint32_t column[N];
#pragma unroll
      for (int k = 0; k < N; ++k) column[k] = registers[k][r];
      float x[in_register][N];
      if constexpr (in_register == 1) {
        std::memcpy(x, column, sizeof x);
      } else {
        A::read_halves(column, x, from.rule);
      }
#pragma unroll
      for (int c = 0; c < in_register; ++c) A::add_all(s[r * in_register + c], x[c]);
    }
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      T of_row[Rows];
#pragma unroll
      for (int k = 0; k < Rows; ++k) of_row[k] = v[k].at[c];
      add_elements<A>(from, s[c], of_row, position);
    }
  }
}

/// An element that may be added without effect: -0, or a word of its bits.
template <class T>
__device__ constexpr T negative_zero_of() {
  if constexpr (std::is_integral_v<T>) {
    return upper_bit<T>;
  } else {
    return T(accumulator::additive_identity<float>());
  }
}
/// A vector of -0, which may be added to any sum without effect.
template <class T>
__device__ vector<T> negative_zeros() {
  vector<T> v;
#pragma unroll
  for (T& one : v.at) one = negative_zero_of<T>();
  return v;
}

/// The elements begin, ..., end - 1 of a vector, and others that may be added without effect.
template <class T>
__device__ vector<T> some_of(const vector<T>& v, int begin, int end) {
  vector<T> some = negative_zeros<T>();
#pragma unroll
  for (int i = 0; i < v.size; ++i) {
    if (begin <= i && i < end) some.at[i] = v.at[i];
  }
  return some;
}

/// Adds the first `count` of a vector's elements, or all of them if it has no more. It was loaded from `from`.
template <class A, class From, class T = typename A::element>
__device__ void add_some(const From& from, typename A::state& s, const vector<T>& v, int count,
                         std::uint64_t position) {
  if (count <= 0) return;  // Threads without elements would take the longest way.
  if constexpr (adds_vectors<A>) return A::add_vector(s, read_all<A>(from, some_of(v, 0, count).at).at);
  if constexpr (requires { A::add_words(s, v.at, from.rule, count); }) {
    return A::add_words(s, v.at, from.rule, ::min(count, v.size));
  }
  constexpr bool at_once = adds_words<A> || adds_all_of_vector<A>;
  if (at_once && count >= v.size) return add_vector<A>(from, s, v, position);
  const auto x = read_all<A>(from, v.at);
  if constexpr (adds_all_of_vector<A>) {
    A::add_first(s, x.at, count);
  } else if constexpr (is_packed_place<A>) {
    A::add_first(s, x.at, count, static_cast<unsigned>(position));
  } else {
#pragma unroll
    for (int i = 0; i < v.size; ++i) {
      if (i < count) add_at<A>(s, position + i, x.at[i]);
    }
  }
}

/// Adds the first `count` elements of a vector as add_some() does. Whole vectors, which most are, have code of their
/// own where A adds words without branches.
template <class A, class From, class T = typename A::element>
__device__ void add_whole_or_some(const From& from, typename A::state& s, const vector<T>& v, int count,
                                  std::uint64_t position) {
  if (adds_first_words<A> && count >= v.size) {
    add_vector<A>(from, s, v, position);
  } else {
    add_some<A>(from, s, v, count, position);
  }
}

/// The state of thread `from` of the warp.
template <class State>
__device__ State shuffle_from(State value, unsigned from) {
  device_code::words_of_state<State> words;
  std::memcpy(words, &value, sizeof value);
  for (auto& word : words) word = __shfl_sync(0xffffffffu, word, from);
  std::memcpy(&value, words, sizeof value);
  return value;
}

/// The state of the elements of two vectors, which were loaded from `from`.
template <adds_vectors A, class From, class T = typename A::element>
__device__ typename A::state sum_of_two(const From& from, const vector<T>& a, const vector<T>& b) {
  T both[2 * vector<T>::size];
#pragma unroll
  for (int i = 0; i < 2 * a.size; ++i) both[i] = i < a.size ? a.at[i] : b.at[i - a.size];
  return A::of_vector(read_all<A>(from, both).at);
}

/// Completes a state after add_vector(). Finds the place of its element among x[0], x[stride], ..., which are
/// `length` elements of `from`.
template <class A, class From, class T = typename A::element>
__device__ void locate(const From& from, typename A::state& s, const T* x, std::int64_t stride,
                       std::uint64_t length) {
  if constexpr (adds_runs<A>) {
    constexpr unsigned size = vector<T>::size;
    if (s.index >= length) return;
    x += static_cast<std::int64_t>(s.index) * stride;
    T near[size];
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      if (s.index + i < length) near[i] = x[static_cast<std::int64_t>(i) * stride];
    }
    unsigned distance = 0;
#pragma unroll
    for (unsigned i = size; i-- > 0;) {
      if (s.index + i < length && A::is_at(s, read<A>(from, near[i]))) distance = i;
    }
    s.index += distance;
  }
}

/// Does for neighbours x[0], ..., x[length - 1] what locate() does. All threads of the warp call it, and get the
/// state of the first one.
template <class A, class From, class T = typename A::element>
__device__ void locate_by_warp(const From& from, typename A::state& s, const T* x, std::uint64_t length,
                               unsigned warp_thread) {
  if constexpr (adds_runs<A>) {
    s = shuffle_from(s, 0);
    const std::uint64_t i = s.index + warp_thread;
    const bool is_there = warp_thread < vector<T>::size && i < length && A::is_at(s, read<A>(from, x[i]));
    const unsigned found = __ballot_sync(0xffffffffu, is_there);
    if (found != 0) s.index += static_cast<unsigned>(__ffs(static_cast<int>(found)) - 1);
  }
}

/// The state of the thread whose number differs in the bits `bits`. Every thread of the warp calls it.
template <class State>
__device__ State shuffle_xor(State value, unsigned bits) {
  static_assert(std::is_trivially_copyable_v<State>);
  device_code::words_of_state<State> words;
  std::memcpy(words, &value, sizeof value);
  for (auto& word : words) word = __shfl_xor_sync(0xffffffffu, word, bits);
  std::memcpy(&value, words, sizeof value);
  return value;
}

/// The merge of the states of `group_size` neighbouring threads, in the first of them.
template <class A>
__device__ typename A::state merge_threads(typename A::state s, unsigned group_size) {
#pragma unroll 1
  for (unsigned distance = group_size / 2; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
  return s;
}

}  // namespace fanin::cuda
