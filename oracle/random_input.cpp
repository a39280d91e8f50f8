// SPDX-License-Identifier: Apache-2.0
#include "oracle/random_input.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>

#include "oracle/wide_numbers.hpp"

namespace fanin::oracle {

namespace {

/// The numbers of an input, one after another, as elements of a real type.
class number_source {
 public:
  number_source(operation what, element_type type, std::size_t count, terms kind)
      : random_(kind == terms::exact && what != operation::product ? 2 : 1),
        is_product_(what == operation::product),
        kind_(kind),
        is_float_(is_floating(type)),
        apart_(is_product_ ? count / 60 + 1 : (count >> 23) + 1) {
    with_element(type, [&]<class T>() {
      is_signed_ = std::numeric_limits<T>::is_signed;
      digits_ = is_float_ ? std::numeric_limits<T>::digits : what == operation::sum_of_squares ? 16 : 32;
    });
  }

  double next() {
    const std::size_t i = index_++;
    if (is_product_) return factor(i);
    if (kind_ == terms::exact) return i % apart_ != 0 ? 0 : is_signed_ && random_() % 2 != 0 ? -1 : 1;
    const std::uint64_t bits = random_();
    if (is_float_) return std::ldexp(static_cast<double>(bits >> (64 - digits_)), -digits_);
    if (is_signed_) return static_cast<double>(static_cast<std::int64_t>(bits) >> (64 - digits_));
    return static_cast<double>(bits >> (64 - digits_));
  }

 private:
  double factor(std::size_t i) {
    const double magnitude = i % apart_ != 0 ? 1 : is_float_ && i / apart_ % 2 == 1 ? 0.5 : 2;
    return is_signed_ && random_() % 2 == 0 ? -magnitude : magnitude;
  }

  std::mt19937_64 random_;
  bool is_product_;
  terms kind_;
  bool is_float_, is_signed_ = true;
  int digits_ = 0;
  std::size_t apart_, index_ = 0;
};

}  // namespace

random_input::random_input(operation what, element_type type, std::size_t count, terms kind)
    : type_(type), count_(count), bytes_(count * byte_size(type)) {
  const element_type part = part_type(type);
  const std::size_t parts = is_complex(type) ? 2 * count : count;
  const bool on_axes = is_complex(type) && what == operation::product;
  number_source numbers(what, part, on_axes ? count : parts, kind);
  std::array<double, piece_size> piece;
  for (std::size_t begin = 0; begin < parts; begin += piece_size) {
    const std::span<double> some(piece.data(), std::min(piece_size, parts - begin));
    for (std::size_t j = 0; j < some.size(); ++j) {
      const std::size_t i = (begin + j) / 2;  // the complex number of the part
      some[j] = !on_axes || i % 2 == j % 2 ? numbers.next() : 0;
    }
    write(some, part, bytes_.data(), begin);
  }
}

array_view random_input::view() const { return {bytes_.data(), count_, type_}; }

}  // namespace fanin::oracle
