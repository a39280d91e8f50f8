// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/compared_runs.hpp"

#include <type_traits>

#include <fanin/accumulator/extremum.hpp>
#include <fanin/accumulator/nonzero.hpp>

#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/word_runs.hpp"

namespace fanin::cpu {
namespace {

/// Writes the result of count > 0 elements to out[i].
template <class T>
void compare(operation what, const T* x, std::size_t count, void* out, std::size_t i) {
  using largest_magnitude = accumulator::largest_magnitude<T>;
  using magnitude = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  const bool ahead = is_long<T>(count);
  const auto least = [&] { return smallest_leaf(x, count, ahead); };
  const auto greatest = [&] { return largest_leaf(x, count, ahead); };
  const auto both = [&] {
    const T first = least();
    return extremes<T>{first, greatest()};
  };
  const auto indexed_by = [&]<class A>(A*, T value) {
    static_cast<indexed<T>*>(out)[i] = A::template finish<indexed<T>>({value, find_leaf(x, count, value)}, count);
  };
  switch (what) {
    case operation::min:
      static_cast<T*>(out)[i] = accumulator::smallest<T>::template finish<T>(least(), count);
      return;
    case operation::max:
      static_cast<T*>(out)[i] = accumulator::largest<T>::template finish<T>(greatest(), count);
      return;
    case operation::minmax:
      static_cast<extremes<T>*>(out)[i] = accumulator::both_extrema<T>::template finish<extremes<T>>(both(), count);
      return;
    case operation::max_magnitude:
      static_cast<magnitude*>(out)[i] = largest_magnitude::template finish<magnitude>(both(), count);
      return;
    case operation::argmin:
      return indexed_by(static_cast<accumulator::first_extremum<T, false>*>(nullptr), least());
    case operation::argmax:
      return indexed_by(static_cast<accumulator::first_extremum<T, true>*>(nullptr), greatest());
    default:
      break;
  }
  const std::size_t zeros = zeros_leaf(x, count, ahead);
  if (what == operation::count_nonzero) {
    static_cast<std::uint64_t*>(out)[i] = count - zeros;
  } else {
    static_cast<std::uint8_t*>(out)[i] = what == operation::any ? zeros < count : zeros == 0;
  }
}

}  // namespace

template <class T>
std::uint64_t compare_each(operation what, const detail::operands* runs, const std::size_t* counts,
                           std::size_t number, element_type, void* out) {
  if constexpr (sizeof(T) <= 2) {
    if (compare_words(what, key_form_of<T>(), runs, counts, number, out) == 0) return 0;
  }
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < number; ++i) {
    if (counts[i] == 0 || counts[i] > twice_read<T>()) {
      left |= std::uint64_t{1} << i;
    } else {
      compare(what, static_cast<const T*>(runs[i].x), counts[i], out, i);
    }
  }
  return left;
}
#define FANIN_INSTANTIATE(SUFFIX, T)                                                                          \
  template std::uint64_t compare_each<T>(operation, const detail::operands*, const std::size_t*, std::size_t, \
                                         element_type, void*);
FANIN_FOR_EACH_COMPUTABLE(FANIN_INSTANTIATE)
#undef FANIN_INSTANTIATE

}  // namespace fanin::cpu
