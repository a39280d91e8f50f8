// SPDX-License-Identifier: Apache-2.0
// The loops over columns of integers for products. Highway includes this file once for each instruction set.
#if defined(FANIN_WORD_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_WORD_PRODUCTS_INL_H_
#undef FANIN_WORD_PRODUCTS_INL_H_
#else
#define FANIN_WORD_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fanin/accumulator/integer.hpp>

#include "backends/cpu/batch/word_loops.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Most long columns have a zero, or a product that is soon too large. So vectors count zeros first, and only columns
/// without a zero are multiplied, until they are too large. The small state of a column has the form of its wide one.
template <class Zeros, class U>
struct product_loops {
  static constexpr const word_loops& zero_loops = Zeros::functions;
  using product = accumulator::integer_product<std::int64_t>;
  using state = product::state;

  /// The small states of the columns, as many numbers that count zeros, and the small states of these counts.
  struct parts {
    std::uint64_t *products, *counts;
    void* zeros;
    parts(void* states, std::size_t columns)
        : products(static_cast<std::uint64_t*>(states)), counts(products + 2 * columns), zeros(counts + columns) {}
  };

  static void put(std::uint64_t* bits, const state& s) { write_product(s, bits); }
  static void clear(std::uint64_t* bits, std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) put(bits + 2 * c, product::identity());
  }
  static void reset(void* states, std::size_t columns, std::uint64_t* wide) {
    clear(parts(states, columns).products, columns);
    clear(wide, columns);
  }

  /// The columns whose products may change, in place of the counts of their zeros.
  static std::size_t list_columns(const parts& all, std::size_t columns) {
    std::size_t listed = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      std::uint64_t* const bits = all.products + 2 * c;
      if (all.counts[c] != 0) put(bits, {0, false, false});
      const state s = read_product(bits);
      if (s.magnitude != 0 && !s.too_large) all.counts[listed++] = c;
    }
    return listed;
  }
  /// Whether all words of a row are ones. The last vector that is read ends with the row.
  static HWY_INLINE bool are_ones(const U* x, std::size_t columns) {
    const hn::ScalableTag<U> d;
    constexpr std::size_t width = zero_loops.vector_columns;
    const auto one = hn::Set(d, U{1});
    auto differs = hn::Zero(d);
    for (std::size_t end = width; end < columns + width; end += width) {
      const auto last = static_cast<std::ptrdiff_t>(std::min(end, columns));
      differs = hn::Or(differs, hn::Xor(hn::LoadU(d, x + last - static_cast<std::ptrdiff_t>(width)), one));
    }
    return hn::AllTrue(d, hn::Eq(differs, hn::Zero(d)));
  }
  static void fold(const word_rule& rule, const void* data, std::ptrdiff_t along, std::size_t rows,
                   std::size_t columns, std::size_t, void* states) {
    const parts all(states, columns);
    zero_loops.reset(all.zeros, columns, all.counts);
    zero_loops.fold({}, data, along, rows, columns, 0, all.zeros);
    zero_loops.flush(all.zeros, columns, 0, all.counts);
    std::size_t listed = list_columns(all, columns);
    const auto* x = static_cast<const U*>(data);
    for (std::size_t r = 0; r < rows && listed > 0; ++r, x += along) {
      if (are_ones(x, columns)) continue;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < listed; ++i) {
        const std::uint64_t c = all.counts[i], word = x[c];
        const bool negative = rule.negated != 0 && word >> (8 * sizeof(U) - 1) != 0;
        state s = read_product(all.products + 2 * c);
        s.negative = s.negative != negative;
        s.too_large = __builtin_mul_overflow(s.magnitude, negative ? static_cast<U>(0 - word) : word, &s.magnitude);
        if (s.too_large) s.magnitude = 1;  // Only the product of a zero is 0.
        put(all.products + 2 * c, s);
        all.counts[kept] = c;
        kept += s.too_large ? 0 : 1;
      }
      listed = kept;
    }
  }

  static void merge(std::uint64_t* into, const std::uint64_t* from, std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c, into += 2, from += 2) {
      state s = read_product(into);
      product::merge(s, read_product(from));
      put(into, s);
    }
  }
  static void flush(void* states, std::size_t columns, std::uint64_t, std::uint64_t* wide) {
    std::uint64_t* const products = parts(states, columns).products;
    merge(wide, products, columns);
    clear(products, columns);
  }

  // Products and counts of zeros lie one after another, and not in vectors.
  static constexpr std::size_t column_bytes = 3 * sizeof(std::uint64_t);
  static constexpr std::size_t vector_bytes = zero_loops.state_bytes(1) + column_bytes * zero_loops.vector_columns;
  static constexpr word_loops functions{
      2, zero_loops.vector_columns, 1, vector_bytes, zero_loops.most_rows, reset, fold, flush, merge};
};

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
