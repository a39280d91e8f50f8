// SPDX-License-Identifier: Apache-2.0
// Splits one or two arrays into whole vectors of 16 bytes, and the few elements before and after these vectors.
// The first vector is at the start of a cache line. If elements do not fill a vector exactly, or are not aligned
// to their size, each element is a vector of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <fanin/accumulator/accumulator.hpp>

namespace fanin::device_code {

using accumulator::add_at;

/// Whether a vector of 16 bytes consists of whole elements. An array of complex numbers then has to be aligned to
/// the size of one number.
template <class T>
inline constexpr bool fills_vectors = 16 % sizeof(T) == 0 && (alignof(T) == sizeof(T) || complex_number<T>);

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

/// Loads a vector through the read-only cache.
template <class T>
__device__ vector<T> load(const vector<T>* from) {
  if constexpr (fills_vectors<T>) {
    const uint4 words = __ldg(reinterpret_cast<const uint4*>(from));
    vector<T> v;
    std::memcpy(static_cast<void*>(&v), &words, sizeof v);  // g++ warns of copies over types with constructors.
    return v;
  } else {
    return *from;
  }
}

/// The second of two arrays of T. Its distance from the first array is in bytes. Any alignment of T is allowed.
template <class T>
struct second_array {
  std::ptrdiff_t distance;

  static second_array of(const void* x, const void* y) {
    return {static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(y) - reinterpret_cast<std::uintptr_t>(x))};
  }
  /// Whether the vectors of the second array are aligned, too.
  FANIN_HOST_DEVICE bool is_aligned() const { return distance % std::ptrdiff_t{sizeof(vector<T>)} == 0; }
  /// The address in the second array that belongs to the address `x` in the first array.
  template <class P>
  __device__ const P* at(const P* x) const {
    return reinterpret_cast<const P*>(reinterpret_cast<const std::byte*>(x) + distance);
  }
  /// Loads the elements that belong to a vector of the first array, one by one. Numbers are loaded through the
  /// read-only cache.
  __device__ vector<T> gather(const vector<T>* x) const {
    const T* const y = at(reinterpret_cast<const T*>(x));
    vector<T> v;
#pragma unroll
    for (int i = 0; i < vector<T>::size; ++i) {
      if constexpr (std::is_arithmetic_v<T>) {
        v.at[i] = __ldg(y + i);
      } else {
        v.at[i] = y[i];
      }
    }
    return v;
  }
};

/// Two arrays of the same length. The members of peeled_array are about the first array.
template <class T>
struct array_pair : peeled_array<T> {
  second_array<T> y;

  array_pair(const T* x, const T* y_, std::uint64_t count, std::uint64_t first_position = 0)
      : peeled_array<T>(x, count, first_position), y(second_array<T>::of(x, y_)) {}
};

/// Whether A adds the number A::read(x, rule) for an element x, where the rule is known at run time only.
template <class A>
concept reads_by_rule = requires {
  typename A::rule;
};

/// Arrays, and the rule by which A reads their elements.
template <class A, class Arrays>
struct arrays_with_rule : Arrays {
  typename A::rule rule;
  template <class... Argument>
  arrays_with_rule(const typename A::rule& by, Argument... of_arrays) : Arrays(of_arrays...), rule(by) {}
};
template <class A, class Arrays>
struct arrays_for {
  using type = Arrays;
};
template <reads_by_rule A, class Arrays>
struct arrays_for<A, Arrays> {
  using type = arrays_with_rule<A, Arrays>;
};
/// The arrays that A reads. A kernel has a parameter of this type.
template <class A>
using arrays_of =
    typename arrays_for<A, std::conditional_t<accumulator::inputs_of<A>() == 2, array_pair<typename A::element>,
                                              peeled_array<typename A::element>>>::type;

/// The numbers that an accumulator adds for several elements.
template <class Number, int Size>
struct numbers {
  static constexpr int size = Size;
  Number at[size];
};

/// The number that A adds for an element x of the arrays `from`. If A needs a rule, `from` has the rule.
template <class A, class From, class T = typename A::element>
__device__ auto read(const From& from, const T& x) {
  if constexpr (reads_by_rule<A>) {
    return A::read(x, from.rule);
  } else {
    return x;
  }
}
/// The numbers that A adds for several elements of the arrays `from`. If A has read_all(), one call of it makes
/// all numbers.
template <class A, class From, class T, int N>
__device__ auto read_all(const From& from, const T (&x)[N]) {
  numbers<decltype(read<A>(from, x[0])), N> found;
  if constexpr (requires { A::read_all(x, found.at, from.rule); }) {
    A::read_all(x, found.at, from.rule);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) found.at[i] = read<A>(from, x[i]);
  }
  return found;
}

/// The vectors that load(arrays, i) returns, which are vector i of each array.
template <class T>
struct one_vector {
  vector<T> x;
};
template <class T>
struct two_vectors {
  vector<T> x, y;
};
template <class T>
__device__ one_vector<T> load(const peeled_array<T>& arrays, std::uint64_t i) {
  return {load(arrays.body + i)};
}
template <class T>
__device__ two_vectors<T> load(const array_pair<T>& arrays, std::uint64_t i) {
  const vector<T>* const x = arrays.body + i;
  return {load(x), arrays.y.is_aligned() ? load(arrays.y.at(x)) : arrays.y.gather(x)};
}

/// Whether A adds a run of neighbouring elements at once. The position in a state is then the beginning of a run,
/// and located() finds the position of the element at the end. A state gets its runs in the order of their positions.
/// See accumulator/extremum.hpp.
template <class A>
concept adds_runs = requires(typename A::state& s, const vector<typename A::element>& v) {
  A::add_run(s, v.at, std::uint64_t{});
};

/// Returns the state with the position of its element in place of the beginning of a run.
template <adds_runs A>
__device__ typename A::state located(const arrays_of<A>& x, typename A::state s) {
  while (!A::is_at(s, read<A>(x, x.head[s.index - x.first]))) ++s.index;
  return s;
}

/// Whether A adds all words of a vector at once, in any order. A::add_words() reads them by the rule.
template <class A>
concept adds_words = requires(typename A::state& s, const vector<typename A::element>& v,
                              const typename A::rule& rule) {
  A::add_words(s, v.at, rule);
};

/// Whether A adds several numbers at once in less time than one by one, with the same bits.
template <class A, int N>
concept adds_all = requires(typename A::state& s, const decltype(numbers<float, N>::at)& x) {
  A::add_all(s, x);
};

/// The states of a thread. Each element of a vector has a state of its own, up to four states. If A adds a whole
/// vector at once, there is only one state. Additions to different states do not depend on each other.
template <class A>
class vector_fold {
 public:
  using T = typename A::element;
  using state = typename A::state;
  static constexpr bool at_once = adds_runs<A> || adds_words<A> || adds_all<A, vector<T>::size>;
  static constexpr int chains = at_once ? 1 : vector<T>::size < 4 ? vector<T>::size : 4;

  __device__ vector_fold() {
#pragma unroll
    for (state& s : chains_) s = A::identity();
  }
  /// Adds one vector of each array. `position` is the position of the vector's first element in the whole input.
  __device__ void add(const arrays_of<A>& arrays, const one_vector<T>& v, std::uint64_t position) {
    if constexpr (adds_words<A>) {
      A::add_words(chains_[0], v.x.at, arrays.rule);
      return;
    }
    const auto x = read_all<A>(arrays, v.x.at);
    if constexpr (adds_runs<A>) {
      A::add_run(chains_[0], x.at, position);
    } else if constexpr (adds_all<A, vector<T>::size>) {
      A::add_all(chains_[0], x.at);
    } else {
#pragma unroll
      for (int i = 0; i < vector<T>::size; ++i) add_at<A>(chains_[i % chains], position + i, x.at[i]);
    }
  }
  __device__ void add(const arrays_of<A>& arrays, const two_vectors<T>& v, std::uint64_t position) {
    const auto x = read_all<A>(arrays, v.x.at), y = read_all<A>(arrays, v.y.at);
#pragma unroll
    for (int i = 0; i < vector<T>::size; ++i) add_at<A>(chains_[i % chains], position + i, x.at[i], y.at[i]);
  }
  /// Adds the elements before and after the vectors. The first threads of block 0 each add at most one element of
  /// the head and one element of the tail.
  __device__ void add_ends(const arrays_of<A>& arrays) {
    if (blockIdx.x != 0) return;
    if (threadIdx.x < arrays.head_count) add_one(arrays, arrays.head + threadIdx.x, arrays.first + threadIdx.x);
    if (threadIdx.x < arrays.tail_count) {
      add_one(arrays, arrays.tail + threadIdx.x, arrays.position_of(arrays.vectors) + threadIdx.x);
    }
  }
  /// Merges the states of this thread.
  __device__ state total() {
#pragma unroll
    for (int step = chains / 2; step > 0; step /= 2) {
#pragma unroll
      for (int i = 0; i < step; ++i) A::merge(chains_[i], chains_[i + step]);
    }
    return chains_[0];
  }
  static constexpr int adds_in_vector = vector<T>::size / chains;
  static constexpr int most_end_adds = 2;
  static constexpr int merge_levels = chains == 4 ? 2 : chains == 2 ? 1 : 0;

 private:
  __device__ void add_one(const arrays_of<A>& arrays, const T* x, std::uint64_t position) {
    if constexpr (accumulator::inputs_of<A>() == 2) {
      add_at<A>(chains_[0], position, read<A>(arrays, *x), read<A>(arrays, *arrays.y.at(x)));
    } else {
      add_at<A>(chains_[0], position, read<A>(arrays, *x));
    }
  }

  state chains_[chains];
};

}  // namespace fanin::device_code
