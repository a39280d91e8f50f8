// SPDX-License-Identifier: Apache-2.0
// Words for the tests of kernels that read numbers as words.
#pragma once

#include <string>

#include <fanin/form.hpp>

#include "backends/cuda/keys.hpp"
#include "tests/support/adversary.hpp"

namespace fanin::test {

/// Words that are random, or near the ends of the numbers: zeros, infinities, NaNs, the least and the largest.
template <class Word>
Word word_from(generator& random) {
  const auto any = static_cast<Word>(random());
  const Word near = static_cast<Word>((random() % 2 != 0 ? cuda::upper_bit<Word> : 0) + any % 3);
  const Word of_infinity = static_cast<Word>(~Word{0} >> (1 + random() % (4 * sizeof(Word))));
  switch (random() % 4) {
    case 0:
      return any;
    case 1:
      return near;
    case 2:
      return static_cast<Word>(near - 1);
    default:
      return static_cast<Word>((random() % 2 != 0 ? cuda::upper_bit<Word> : 0) ^ of_infinity ^ any % 2);
  }
}

/// The bytes of a value, as a string that can be compared.
template <class T>
std::string bytes_of(const T& x) {
  if constexpr (fanin::result_traits<T>::form == result_form::indexed)
    return bytes_of(x.value) + std::to_string(x.index);
  if constexpr (fanin::result_traits<T>::form == result_form::extremes) return bytes_of(x.min) + bytes_of(x.max);
  return std::string(reinterpret_cast<const char*>(&x), sizeof x);
}

}  // namespace fanin::test
