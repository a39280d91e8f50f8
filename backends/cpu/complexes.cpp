// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/complexes.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <complex>

#include <fanin/accumulator/complex.hpp>

#include "backends/cpu/blocks.hpp"
#include "backends/cpu/complexes.hpp"
#include "backends/cpu/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls each(i) for vectors of `step` elements of T from x on, and returns where they end. `ahead`: whether to
/// prefetch what follows.
template <class T, class Each>
HWY_INLINE std::size_t for_each_vector(const T* x, std::size_t count, std::size_t step, bool ahead, Each each) {
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    if (ahead && reinterpret_cast<std::uintptr_t>(x + i) % 64 < step * sizeof(T)) prefetch_line(x + i);
    each(i);
  }
  return i;
}

/// Writes the real and the imaginary parts apart.
template <class P>
HWY_INLINE void split(const std::complex<P>* x, std::size_t count, bool ahead, P* re, P* im) {
  const hn::ScalableTag<P> d;
  std::size_t i = for_each_vector(x, count, hn::Lanes(d), ahead, [&](std::size_t at) HWY_ATTR {
    hn::Vec<decltype(d)> a, b;
    hn::LoadInterleaved2(d, reinterpret_cast<const P*>(x + at), a, b);
    hn::StoreU(a, d, re + at);
    hn::StoreU(b, d, im + at);
  });
  for (; i < count; ++i) re[i] = x[i].real(), im[i] = x[i].imag();
}

/// Writes the factors y by which the parts of x are multiplied: (re, -im) or (re, im) for the real part of the
/// product, (im, re) or (im, -re) for the imaginary part.
template <class P>
HWY_INLINE void factors(const std::complex<P>* y, std::size_t count, bool conjugated, bool ahead, P* for_re,
                        P* for_im) {
  const hn::ScalableTag<P> d;
  const std::size_t step = hn::Lanes(d) / 2;
  const auto odd_sign = hn::OddEven(hn::Set(d, P{-0.0}), hn::Zero(d)), none = hn::Zero(d);
  const auto sign_re = conjugated ? none : odd_sign, sign_im = conjugated ? odd_sign : none;
  std::size_t i = for_each_vector(y, count, step, ahead, [&](std::size_t at) HWY_ATTR {
    const auto v = hn::LoadU(d, reinterpret_cast<const P*>(y + at));
    hn::StoreU(hn::Xor(v, sign_re), d, for_re + 2 * at);
    hn::StoreU(hn::Xor(hn::Reverse2(d, v), sign_im), d, for_im + 2 * at);
  });
  for (; i < count; ++i) {
    for_re[2 * i] = y[i].real(), for_re[2 * i + 1] = conjugated ? y[i].imag() : -y[i].imag();
    for_im[2 * i] = y[i].imag(), for_im[2 * i + 1] = conjugated ? -y[i].real() : y[i].real();
  }
}

/// accumulator::modulus() of vectors.
template <class D, class V>
HWY_INLINE V modulus_of(D d, V a, V b) {
  const auto large = hn::Set(d, 0x1p500), small = hn::Set(d, 0x1p-500);
  const auto shift = hn::Set(d, 0x1p600), unshift = hn::Set(d, 0x1p-600), one = hn::Set(d, 1.0);
  const auto size_a = hn::Abs(a), size_b = hn::Abs(b);
  const auto is_large = hn::Or(hn::Ge(size_a, large), hn::Ge(size_b, large));
  const auto is_small = hn::And(hn::Lt(size_a, small), hn::Lt(size_b, small));
  const auto down = hn::IfThenElse(is_large, unshift, hn::IfThenElse(is_small, shift, one));
  const auto up = hn::IfThenElse(is_large, shift, hn::IfThenElse(is_small, unshift, one));
  const auto x = hn::Mul(a, down), y = hn::Mul(b, down);
  return hn::Mul(hn::Sqrt(hn::Add(hn::Mul(x, x), hn::Mul(y, y))), up);
}
HWY_INLINE void moduli(const std::complex<double>* x, std::size_t count, bool ahead, double* out) {
  const hn::ScalableTag<double> d;
  std::size_t i = for_each_vector(x, count, hn::Lanes(d), ahead, [&](std::size_t at) HWY_ATTR {
    hn::Vec<decltype(d)> a, b;
    hn::LoadInterleaved2(d, reinterpret_cast<const double*>(x + at), a, b);
    hn::StoreU(modulus_of(d, a, b), d, out + at);
  });
  for (; i < count; ++i) out[i] = accumulator::modulus(x[i].real(), x[i].imag());
}
HWY_INLINE void moduli(const std::complex<float>* x, std::size_t count, bool ahead, float* out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  std::size_t i = for_each_vector(x, count, hn::Lanes(d), ahead, [&](std::size_t at) HWY_ATTR {
    hn::Vec<decltype(half)> a, b;
    hn::LoadInterleaved2(half, reinterpret_cast<const float*>(x + at), a, b);
    const auto re = hn::PromoteTo(d, a), im = hn::PromoteTo(d, b);
    hn::StoreU(hn::DemoteTo(half, hn::Sqrt(hn::Add(hn::Mul(re, re), hn::Mul(im, im)))), half, out + at);
  });
  for (; i < count; ++i) out[i] = accumulator::modulus(x[i].real(), x[i].imag());
}

/// accumulator::complex_product of vectors.
template <class D, class V>
HWY_INLINE V product_of(D d, V s, V x) {
  const auto one = hn::OddEven(hn::Zero(d), hn::Set(d, hn::TFromD<D>{1}));
  const auto is_one = [&](V z) HWY_ATTR {
    const auto parts = hn::VecFromMask(d, hn::Eq(z, one));
    return hn::MaskFromVec(hn::And(parts, hn::Reverse2(d, parts)));
  };
  const auto by_re = hn::Mul(hn::DupEven(s), x), by_im = hn::Mul(hn::DupOdd(s), hn::Reverse2(d, x));
  const auto z = hn::OddEven(hn::Add(by_re, by_im), hn::Sub(by_re, by_im));
  return hn::IfThenElse(is_one(x), s, hn::IfThenElse(is_one(s), x, z));
}
/// Multiplies the numbers of a row by factors, row by row.
template <class P>
HWY_INLINE void multiply(const std::complex<P>* x, std::size_t count, bool ahead, std::complex<P>* row) {
  const hn::ScalableTag<P> d;
  constexpr std::size_t row_width = detail::row_bytes / sizeof(std::complex<P>);
  std::size_t begin = 0;
  for (; begin + row_width <= count; begin += row_width) {
    for_each_vector(x + begin, row_width, hn::Lanes(d) / 2, ahead, [&](std::size_t i) HWY_ATTR {
      P* const state = reinterpret_cast<P*>(row + i);
      const auto factor = hn::LoadU(d, reinterpret_cast<const P*>(x + begin + i));
      hn::StoreU(product_of(d, hn::LoadU(d, state), factor), d, state);
    });
  }
  for (std::size_t i = 0; begin + i < count; ++i) accumulator::complex_product<P>::add(row[i], x[begin + i]);
}

/// Calls f(P()), where P is the type of the parts of elements of that size.
template <class F>
void with_part(std::size_t part_bytes, F f) {
  part_bytes == sizeof(float) ? f(float()) : f(double());
}
void split_all(const void* x, std::size_t count, std::size_t part_bytes, bool ahead, void* re, void* im) {
  with_part(part_bytes, [&]<class P>(P) {
    split(static_cast<const std::complex<P>*>(x), count, ahead, static_cast<P*>(re), static_cast<P*>(im));
  });
}
void factors_of(const void* y, std::size_t count, std::size_t part_bytes, bool conjugated, bool ahead, void* for_re,
                void* for_im) {
  with_part(part_bytes, [&]<class P>(P) {
    factors(static_cast<const std::complex<P>*>(y), count, conjugated, ahead, static_cast<P*>(for_re),
            static_cast<P*>(for_im));
  });
}
void moduli_of(const void* x, std::size_t count, std::size_t part_bytes, bool ahead, void* out) {
  with_part(part_bytes,
            [&]<class P>(P) { moduli(static_cast<const std::complex<P>*>(x), count, ahead, static_cast<P*>(out)); });
}
void multiply_row(const void* x, std::size_t count, std::size_t part_bytes, bool ahead, void* row) {
  with_part(part_bytes, [&]<class P>(P) {
    multiply(static_cast<const std::complex<P>*>(x), count, ahead, static_cast<std::complex<P>*>(row));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(split_all);
HWY_EXPORT(factors_of);
HWY_EXPORT(moduli_of);
HWY_EXPORT(multiply_row);

/// The size of a block of parts or moduli, whole leaves of them.
constexpr std::size_t block_bytes = 16384;
static_assert(block_bytes % leaf_bytes == 0);

/// The numbers of a block.
struct alignas(64) part_buffer {
  std::byte bytes[block_bytes];
};

bool is_ahead(std::size_t count, std::size_t part_bytes) {
  return count >= least_prefetched_bytes / (2 * part_bytes);
}

}  // namespace

void fold_parts(const arithmetic& reals, const operands& data, std::size_t count, void* re, void* im) {
  const std::size_t bytes = reals.element_bytes, block = block_bytes / bytes;
  part_buffer of_re, of_im;
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t n = std::min(block, count - begin);
    const operands part = operands_from(data, begin, 2 * bytes);
    HWY_DYNAMIC_DISPATCH(split_all)(part.x, n, bytes, is_ahead(count, bytes), of_re.bytes, of_im.bytes);
    reals.accumulate({of_re.bytes}, n, re);
    reals.accumulate({of_im.bytes}, n, im);
  }
}

void fold_products(const arithmetic& whole, const arithmetic& reals, bool conjugated, const operands& data,
                   std::size_t count, void* state) {
  const std::size_t bytes = reals.element_bytes, block = leaf_bytes / (2 * bytes);
  const auto fold_block = [&](std::size_t begin, std::size_t n, void* into) {
    const operands part = operands_from(data, begin, 2 * bytes);
    alignas(64) std::byte for_re[leaf_bytes], for_im[leaf_bytes];
    HWY_DYNAMIC_DISPATCH(factors_of)(part.y, n, bytes, conjugated, is_ahead(count, bytes), for_re, for_im);
    reals.accumulate({part.x, for_re}, 2 * n, into);
    reals.accumulate({part.x, for_im}, 2 * n, static_cast<std::byte*>(into) + reals.state_bytes);
  };
  if (whole.in_leaves()) return fold_blocks_in_order(whole, block, 0, count, state, fold_block);
  for (std::size_t begin = 0; begin < count; begin += block) fold_block(begin, std::min(block, count - begin), state);
}

void fold_moduli(const arithmetic& reals, const operands& data, std::size_t count, void* state) {
  const std::size_t bytes = reals.element_bytes;
  const auto fold_block = [&](std::size_t begin, std::size_t n, void* into) {
    part_buffer sizes;
    HWY_DYNAMIC_DISPATCH(moduli_of)
    (operands_from(data, begin, 2 * bytes).x, n, bytes, is_ahead(count, bytes), sizes.bytes);
    reals.accumulate({sizes.bytes}, n, into);
  };
  fold_blocks_in_order(reals, block_bytes / bytes, 0, count, state, fold_block);
}

void fold_factors(const arithmetic& f, const operands& data, std::size_t count, void* state) {
  const std::size_t bytes = f.element_bytes / 2;
  const auto fold_leaf = [&](std::size_t begin, std::size_t n, void* into) {
    f.reset(into);
    HWY_DYNAMIC_DISPATCH(multiply_row)
    (operands_from(data, begin, f.element_bytes).x, n, bytes, is_ahead(count, bytes), into);
  };
  fold_blocks_in_order(f, f.leaf_elements, 0, count, state, fold_leaf);
}

void merge_factors(const arithmetic& f, void* into, const void* from) {
  HWY_DYNAMIC_DISPATCH(multiply_row)(from, f.leaf_elements / detail::rows_in_leaf, f.element_bytes / 2, false, into);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
