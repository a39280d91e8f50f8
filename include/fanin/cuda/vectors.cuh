// An array as whole vectors of 16 bytes, of which the first is at the start of a cache line, and the few elements
// before and after these vectors. Element types whose size or alignment no scalar type has are vectors of one
// element.
#pragma once

#include <cstdint>
#include <cstring>

#include <fanin/accumulator/accumulator.hpp>

namespace fanin::device_code {

/// Whether a vector of 16 bytes consists of whole elements.
template <class T>
inline constexpr bool fills_vectors = 16 % sizeof(T) == 0 && alignof(T) == sizeof(T);

template <class T>
struct alignas(fills_vectors<T> ? 16 : alignof(T)) vector {
  static constexpr int size = fills_vectors<T> ? 16 / sizeof(T) : 1;
  T at[size];
};

/// An array of T: `head_count` elements at `head`, `vectors` vectors at `body`, `tail_count` elements at `tail`.
template <class T>
struct peeled_array {
  const T* head;
  const vector<T>* body;
  const T* tail;
  unsigned head_count;
  unsigned tail_count;
  std::uint64_t vectors;
  std::uint64_t first;  ///< position of the first element in the whole input

  peeled_array(const T* x, std::uint64_t count, std::uint64_t first_position = 0) : head(x), first(first_position) {
    constexpr std::uint64_t line = fills_vectors<T> ? 128 : 1;
    const std::uint64_t to_boundary = (line - reinterpret_cast<std::uintptr_t>(x) % line) % line / sizeof(T);
    head_count = static_cast<unsigned>(to_boundary < count ? to_boundary : count);
    body = reinterpret_cast<const vector<T>*>(x + head_count);
    vectors = (count - head_count) / vector<T>::size;
    tail = x + head_count + vectors * vector<T>::size;
    tail_count = static_cast<unsigned>(count - head_count - vectors * vector<T>::size);
  }

  /// The position of the first element of vector i.
  __device__ std::uint64_t position_of(std::uint64_t i) const { return first + head_count + i * vector<T>::size; }
};

/// Adds x, with its position in the whole input if A has a parameter for it.
template <class A>
__device__ void add_at(typename A::state& s, const typename A::element& x, std::uint64_t position) {
  if constexpr (accumulator::wants_position<A>()) {
    A::add(s, x, position);
  } else {
    A::add(s, x);
  }
}

/// The states of a thread: one for each element of a vector, but at most four. Additions to different states do not
/// depend on each other.
template <class A>
class vector_fold {
 public:
  using T = typename A::element;
  using state = typename A::state;
  static constexpr int lanes = vector<T>::size < 4 ? vector<T>::size : 4;

  __device__ vector_fold() {
#pragma unroll
    for (state& s : lanes_) s = A::identity();
  }
  /// Adds a vector, whose first element has the position `position` in the whole input.
  __device__ void add(const vector<T>& v, std::uint64_t position) {
#pragma unroll
    for (int i = 0; i < vector<T>::size; ++i) add_at<A>(lanes_[i % lanes], v.at[i], position + i);
  }
  /// Adds the elements before and after the vectors: each of the first threads of block 0 adds one from the head and
  /// one from the tail.
  __device__ void add_ends(const peeled_array<T>& x) {
    if (blockIdx.x != 0) return;
    if (threadIdx.x < x.head_count) add_at<A>(lanes_[0], x.head[threadIdx.x], x.first + threadIdx.x);
    if (threadIdx.x < x.tail_count) {
      add_at<A>(lanes_[0], x.tail[threadIdx.x], x.position_of(x.vectors) + threadIdx.x);
    }
  }
  /// The merge of this thread's states.
  __device__ state total() {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) {
#pragma unroll
      for (int i = 0; i < step; ++i) A::merge(lanes_[i], lanes_[i + step]);
    }
    return lanes_[0];
  }
  static constexpr int adds_in_vector = vector<T>::size / lanes;
  static constexpr int most_end_adds = 2;
  static constexpr int merge_levels = lanes == 4 ? 2 : lanes == 2 ? 1 : 0;

 private:
  state lanes_[lanes];
};

/// Loads a vector through the read-only cache.
template <class T>
__device__ vector<T> load(const vector<T>* from) {
  if constexpr (fills_vectors<T>) {
    const uint4 words = __ldg(reinterpret_cast<const uint4*>(from));
    vector<T> v;
    std::memcpy(&v, &words, sizeof v);
    return v;
  } else {
    return *from;
  }
}

}  // namespace fanin::device_code
