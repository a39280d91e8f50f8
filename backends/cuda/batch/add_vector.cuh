// SPDX-License-Identifier: Apache-2.0
// Adding the elements of a vector to a state, and merging the states of lanes.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/keys.hpp"

namespace fanin::cuda {

using namespace device_code;

/// Whether A adds several elements at once in less time than one by one. The order of such additions means nothing.
template <class A>
concept adds_vectors = requires(typename A::state& s, const vector<typename A::element>& v) {
  A::add_vector(s, v.at);
};

/// Adds the elements of a vector that was loaded from `from`, in their order unless A adds whole vectors. The first
/// has the position `position`.
template <class A, class From, class T = typename A::element>
__device__ void add_vector(const From& from, typename A::state& s, const vector<T>& v, std::uint64_t position) {
  if constexpr (adds_words<A>) {
    A::add_words(s, v.at, from.rule);
  } else if constexpr (adds_runs<A>) {
    A::add_run(s, read_all<A>(from, v.at).at, position);
  } else {
    const auto x = read_all<A>(from, v.at);
#pragma unroll
    for (int i = 0; i < v.size; ++i) add_at<A>(s, position + i, x.at[i]);
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

/// Adds the first `count` of a vector's elements, which was loaded from `from`.
template <class A, class From, class T = typename A::element>
__device__ void add_some(const From& from, typename A::state& s, const vector<T>& v, int count,
                         std::uint64_t position) {
  if (count <= 0) return;  // Lanes without elements would take the longest way.
  if constexpr (adds_vectors<A>) return A::add_vector(s, read_all<A>(from, some_of(v, 0, count).at).at);
  if (adds_words<A> && count == v.size) return add_vector<A>(from, s, v, position);
  const auto x = read_all<A>(from, v.at);
#pragma unroll
  for (int i = 0; i < v.size; ++i) {
    if (i < count) add_at<A>(s, position + i, x.at[i]);
  }
}

/// The state of the elements of two vectors, which were loaded from `from`.
template <adds_vectors A, class From, class T = typename A::element>
__device__ typename A::state sum_of_two(const From& from, const vector<T>& a, const vector<T>& b) {
  T both[2 * vector<T>::size];
#pragma unroll
  for (int i = 0; i < 2 * a.size; ++i) both[i] = i < a.size ? a.at[i] : b.at[i - a.size];
  return A::of_vector(read_all<A>(from, both).at);
}

/// After add_vector(), the state with the place of its element, found among x[0], x[stride], ..., of `length`
/// elements of `from`.
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

/// The state in the lane `from`.
template <class State>
__device__ State shuffle_from(State value, unsigned from) {
  unsigned words[(sizeof(State) + 3) / 4];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_sync(0xffffffffu, word, from);
  std::memcpy(&value, words, sizeof value);
  return value;
}

/// The state of the lane whose number differs in the bits `bits`. Every lane of the warp calls it.
template <class State>
__device__ State shuffle_xor(State value, unsigned bits) {
  static_assert(std::is_trivially_copyable_v<State>);
  unsigned words[(sizeof(State) + 3) / 4];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_xor_sync(0xffffffffu, word, bits);
  std::memcpy(&value, words, sizeof value);
  return value;
}

/// The merge of the states of `group_size` neighbouring lanes, in the first of them.
template <class A>
__device__ typename A::state merge_lanes(typename A::state s, unsigned group_size) {
#pragma unroll 1
  for (unsigned distance = group_size / 2; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
  return s;
}

}  // namespace fanin::cuda
