// SPDX-License-Identifier: Apache-2.0
#include "oracle/wide_numbers.hpp"

#include <algorithm>

namespace fanin::oracle {

namespace {

template <class W>
void read_as(const array_view& x, std::size_t begin, std::span<W> out) {
  with_element(x.type, [&]<class T>() {
    if constexpr (!complex_number<T>) {
      constexpr bool is_held = std::same_as<wide_number<T>, W> || (std::same_as<W, double> && sizeof(T) <= 4);
      if constexpr (is_held) {
        std::copy_n(static_cast<const T*>(x.data) + begin, out.size(), out.data());
      }
    }
  });
}

template <class T>
T narrow_number(double x) {
  if constexpr (floating<T>) return static_cast<T>(static_cast<computed_as<T>>(x));
  if constexpr (!floating<T>) return static_cast<T>(static_cast<std::int64_t>(x));
}
template <class T>
T narrow_number(std::uint64_t x) {
  return static_cast<T>(x);
}

template <class W>
void write_as(std::span<const W> numbers, element_type type, void* out, std::size_t begin) {
  with_element(type, [&]<class T>() {
    if constexpr (std::integral<T> || (floating<T> && std::same_as<W, double>)) {
      std::ranges::transform(numbers, static_cast<T*>(out) + begin, [](W x) { return narrow_number<T>(x); });
    }
  });
}

}  // namespace

void read(const array_view& x, std::size_t begin, std::span<double> out) { read_as(x, begin, out); }
void read(const array_view& x, std::size_t begin, std::span<std::int64_t> out) { read_as(x, begin, out); }
void read(const array_view& x, std::size_t begin, std::span<std::uint64_t> out) { read_as(x, begin, out); }

void write(std::span<const double> numbers, element_type type, void* out, std::size_t begin) {
  write_as(numbers, type, out, begin);
}
void write(std::span<const std::uint64_t> numbers, element_type type, void* out, std::size_t begin) {
  write_as(numbers, type, out, begin);
}

}  // namespace fanin::oracle
