// SPDX-License-Identifier: Apache-2.0
// Exact sums of tiles whose elements become terms in registers: of floats of 16 bits, and of magnitudes. The
// processor proves that they are exact, as proven-inl.h describes. Floats of 16 bits are added as floats of 32 bits:
// to a sum that rounds, and its errors to a second sum. Sums of short runs in double are proven by the same flag, or
// as narrow_sums-inl.h describes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/exact_tiles.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <cmath>
#include <cstring>

#include "backends/cpu/exact.hpp"
#include "backends/cpu/fold.hpp"
#include "backends/cpu/narrow_sums-inl.h"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/proven-inl.h"
#include "backends/cpu/unrounded-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// All bits of two elements of 16 bits, or all but the signs.
constexpr int kept_bits(bool magnitudes) { return magnitudes ? 0x7fff7fff : -1; }

#if HWY_TARGET <= HWY_AVX3

template <class T, int Depth>
struct magnitude_fold : element_fold<T, Depth> {
  HWY_INLINE void add(__m512d x, __m512d) { sum_chain<Depth>::add(_mm512_abs_pd(x)); }
};

template <class T>
constexpr int magnitude_totals = depth_of_elements<T>(1) + 1;

/// Writes sums of the magnitudes of a tile. Returns whether they are exact.
template <class T>
HWY_INLINE bool sum_magnitudes(const T* x, std::size_t count, exception_flags& flags, double* total) {
  return fold_proven<magnitude_fold<T, magnitude_totals<T> - 1>>(x, x, count, flags, total);
}

/// The numbers of 32 words as two vectors of floats, in any order.
struct two_vectors {
  __m512 first, second;
};
HWY_INLINE two_vectors floats_of(bf16, __m512i words) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(words, 16)),
          _mm512_castsi512_ps(_mm512_and_si512(words, _mm512_set1_epi32(-0x10000)))};
}
HWY_INLINE two_vectors floats_of(f16, __m512i words) {
  return {_mm512_cvtph_ps(_mm512_castsi512_si256(words)), _mm512_cvtph_ps(_mm512_extracti64x4_epi64(words, 1))};
}

/// A sum that rounds, and the sum of its errors.
struct sum_of_floats {
  __m512 sum, errors;
  HWY_INLINE explicit sum_of_floats(__m512 first) : sum(first), errors(_mm512_setzero_ps()) {}
  /// Keeps the compiler from moving operations past it.
  HWY_INLINE void pin() { asm volatile("" : "+v"(sum), "+v"(errors)); }
  HWY_INLINE void add(__m512 v) {
    const auto t = _mm512_add_round_ps(sum, v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    errors = _mm512_add_ps(errors, _mm512_sub_ps(v, _mm512_sub_ps(t, sum)));
    sum = t;
  }
};
HWY_INLINE __m512d lower_doubles(__m512 v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
HWY_INLINE __m512d upper_doubles(__m512 v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
HWY_INLINE __m512d in_doubles(__m512 v) { return _mm512_add_pd(lower_doubles(v), upper_doubles(v)); }

/// A power of two, about the largest magnitude in 32 words.
template <class T>
HWY_INLINE float magnitude_of(__m512i words) {
  const auto magnitudes = _mm512_and_si512(words, _mm512_set1_epi16(0x7fff));
  const auto [first, second] = floats_of(T{}, magnitudes);
  const float largest = _mm512_reduce_max_ps(_mm512_max_ps(first, second));
  return detail::from_bits<float>(detail::to_bits(largest) & detail::float_format<float>::infinity);
}

/// Adds a tile if the sums are exact. Bits of pairs of elements that are not in `kept` are taken for 0.
template <class T>
HWY_NOINLINE bool add_narrow(const T* x, std::size_t count, int kept, exact_accumulator<float>& into) {
  constexpr std::size_t width = 32;
  const auto mask = _mm512_set1_epi32(kept);
  const auto load_first = [&](const T* from, std::size_t n) HWY_ATTR {
    const auto wanted = n < width ? (__mmask32{1} << n) - 1 : ~__mmask32{0};
    return _mm512_and_si512(_mm512_maskz_loadu_epi16(wanted, from), mask);
  };
  // An element of a vector of sums adds about 256 elements. A sum that grows by 256 times the size stays in its
  // binade.
  const auto first = _mm512_set1_ps(0x1.8p9f * magnitude_of<T>(load_first(x, count)));
  exception_flags flags;
  sum_of_floats a(first), b(first), c(first), d(first);
  flags.clear_inexact();
  a.pin(), b.pin(), c.pin(), d.pin();
  std::size_t i = 0;
  for (; i + 2 * width <= count; i += 2 * width) {
    prefetch_line(x + i);
    prefetch_line(x + i + width);
    const auto v = floats_of(T{}, _mm512_and_si512(_mm512_loadu_si512(x + i), mask));
    const auto w = floats_of(T{}, _mm512_and_si512(_mm512_loadu_si512(x + i + width), mask));
    a.add(v.first), b.add(v.second), c.add(w.first), d.add(w.second);
  }
  for (; i < count; i += width) {
    const auto v = floats_of(T{}, load_first(x + i, count - i));
    a.add(v.first), b.add(v.second);
  }
  auto sum = _mm512_setzero_pd(), errors = sum;
  for (const sum_of_floats* const part : {&a, &b, &c, &d}) {
    sum = _mm512_add_pd(sum, in_doubles(_mm512_sub_ps(part->sum, first)));
    errors = _mm512_add_pd(errors, in_doubles(part->errors));
  }
  double total[] = {_mm512_reduce_add_pd(sum), _mm512_reduce_add_pd(errors)};
  asm volatile("" : "+x"(total[0]), "+x"(total[1]));
  if (!std::isfinite(total[0]) || flags.has_inexact()) return false;
  if (total[0] == 0 && total[1] == 0 && x[0].bits == T::sign_bit) return false;  // All elements may be -0.
  into.add_elements(count, [&](auto& sum_of_all) {
    sum_of_all.add_scaled(0, 0);  // notes that not all elements are -0
    for (const double t : total) add_double(t, sum_of_all);
  });
  return true;
}

/// Adds x - origin, or the squares of that, in double, which sets the flag if a sum rounds.
struct double_sums {
  __m512d origin, sum[4], squares[4];
  HWY_INLINE explicit double_sums(double from) : origin(_mm512_set1_pd(from)) {
    for (int i = 0; i < 4; ++i) sum[i] = _mm512_set1_pd(-0.0), squares[i] = _mm512_setzero_pd();
  }
  template <summand Adds>
  HWY_INLINE void add(int i, __m512d v) {
    if constexpr (Adds == summand::deviations) v = _mm512_sub_pd(v, origin);
    if constexpr (Adds != summand::squares) sum[i] = _mm512_add_pd(sum[i], v);
    if constexpr (Adds != summand::elements) squares[i] = _mm512_fmadd_pd(v, v, squares[i]);
  }
  static HWY_INLINE double total(const __m512d (&of)[4]) {
    double all = _mm512_reduce_add_pd(_mm512_add_pd(_mm512_add_pd(of[0], of[1]), _mm512_add_pd(of[2], of[3])));
    asm volatile("" : "+x"(all));
    return all;
  }
};

template <summand Adds, class T>
HWY_INLINE void sum_in_double(const T* x, std::size_t count, __m512i mask, double& sum, double& squares) {
  constexpr std::size_t width = 32;
  double_sums sums(Adds == summand::deviations ? static_cast<double>(*x) : 0);
  const auto add = [&](__m512i words) HWY_ATTR {
    const auto [first, second] = floats_of(T{}, _mm512_and_si512(words, mask));
    sums.template add<Adds>(0, lower_doubles(first));
    sums.template add<Adds>(1, upper_doubles(first));
    sums.template add<Adds>(2, lower_doubles(second));
    sums.template add<Adds>(3, upper_doubles(second));
  };
  std::size_t i = 0;
  for (; i + width <= count; i += width) {
    prefetch_line(x + i);
    add(_mm512_loadu_si512(x + i));
  }
  if (i < count) {  // Elements that add nothing fill the vector beyond the run.
    const auto wanted = (__mmask32{1} << (count - i)) - 1;
    const auto filler = static_cast<short>(Adds == summand::deviations ? x->bits : T::sign_bit);
    add(_mm512_mask_loadu_epi16(_mm512_set1_epi16(filler), wanted, x + i));
  }
  if constexpr (Adds != summand::squares) sum = double_sums::total(sums.sum);
  if constexpr (Adds != summand::elements) squares = double_sums::total(sums.squares);
}

/// Writes the sums of runs. Returns whether none was rounded.
template <summand Adds, class T>
HWY_INLINE bool sum_narrow(const operands* runs, const std::size_t* counts, std::size_t number, int kept,
                           double* sums, double* squares) {
  const auto mask = _mm512_set1_epi32(kept);
  exception_flags flags;
  flags.clear_inexact();
  for (std::size_t i = 0; i < number; ++i) {
    sum_in_double<Adds>(static_cast<const T*>(runs[i].x), counts[i], mask, sums[i], squares[i]);
  }
  return !flags.has_inexact();
}

#else

template <class T>
constexpr int magnitude_totals = unrounded_parts<T>;

template <class T>
HWY_INLINE bool sum_magnitudes(const T* x, std::size_t count, exception_flags& flags, double* total) {
  return sum_unrounded<true>(x, count, true, flags, total);
}

template <class T>
bool add_narrow(const T*, std::size_t, int, exact_accumulator<float>&) {
  return false;
}

#endif

/// Adds the magnitudes of a tile if their sums are exact.
template <class T>
HWY_INLINE bool add_magnitudes(const T* x, std::size_t count, exact_accumulator<T>& into) {
  exception_flags flags;
  double total[magnitude_totals<T>];
  if (!sum_magnitudes(x, count, flags, total)) return false;
  into.add_elements(count, [&](auto& sum) {
    sum.add_scaled(0, 0);  // notes that no magnitude is -0
    for (const double t : total) add_double(t, sum);
  });
  return true;
}

#if HWY_NATIVE_FMA
template <class T>
bool sum_runs(summand adds, const operands* runs, const std::size_t* counts, std::size_t number, double* sums,
              double* squares) {
  const int kept = kept_bits(adds == summand::magnitudes);
  if (adds == summand::squares) return sum_narrow<summand::squares, T>(runs, counts, number, kept, sums, squares);
  return adds == summand::deviations ? sum_narrow<summand::deviations, T>(runs, counts, number, kept, sums, squares)
                                     : sum_narrow<summand::elements, T>(runs, counts, number, kept, sums, squares);
}
#else

template <class T>
bool sum_runs(summand, const operands*, const std::size_t*, std::size_t, double*, double*) {
  return false;
}

#endif

bool magnitudes_f32(const float* x, std::size_t count, exact_accumulator<float>& into) {
  return add_magnitudes(x, count, into);
}
bool magnitudes_f64(const double* x, std::size_t count, exact_accumulator<double>& into) {
  return add_magnitudes(x, count, into);
}
bool narrow_f16(const f16* x, std::size_t count, bool magnitudes, exact_accumulator<float>& into) {
  return add_narrow(x, count, kept_bits(magnitudes), into);
}
bool narrow_bf16(const bf16* x, std::size_t count, bool magnitudes, exact_accumulator<float>& into) {
  return add_narrow(x, count, kept_bits(magnitudes), into);
}

bool sum_runs_f16(summand adds, const operands* runs, const std::size_t* counts, std::size_t number, double* sums,
                  double* squares) {
  return sum_runs<f16>(adds, runs, counts, number, sums, squares);
}
bool sum_runs_bf16(summand adds, const operands* runs, const std::size_t* counts, std::size_t number, double* sums,
                   double* squares) {
  return sum_runs<bf16>(adds, runs, counts, number, sums, squares);
}

/// Writes words with the bits of `kept` alone, and beyond them up to a multiple of 64 bytes.
void and_words(const void* x, std::size_t bytes, std::uint64_t kept, void* out) {
  constexpr std::size_t line = 64;
  const hn::CappedTag<std::uint64_t, line / 8> d;
  const auto* from = static_cast<const std::uint64_t*>(x);
  auto* to = static_cast<std::uint64_t*>(out);
  std::uint64_t last[line / 8] = {};
  for (;; bytes -= line, from += line / 8, to += line / 8) {
    if (bytes < line) {
      std::memcpy(last, from, bytes);
      from = last;
    } else {
      prefetch_line(from);
    }
    for (std::size_t i = 0; i < line / 8; i += hn::Lanes(d)) {
      hn::StoreU(hn::And(hn::LoadU(d, from + i), hn::Set(d, kept)), d, to + i);
    }
    if (bytes <= line) return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(magnitudes_f32);
HWY_EXPORT(magnitudes_f64);
HWY_EXPORT(narrow_f16);
HWY_EXPORT(narrow_bf16);
HWY_EXPORT(sum_runs_f16);
HWY_EXPORT(sum_runs_bf16);
HWY_EXPORT(and_words);

}  // namespace

bool add_magnitude_tile(const float* x, std::size_t count, exact_accumulator<float>& into) {
  return HWY_DYNAMIC_DISPATCH(magnitudes_f32)(x, count, into);
}
bool add_magnitude_tile(const double* x, std::size_t count, exact_accumulator<double>& into) {
  return HWY_DYNAMIC_DISPATCH(magnitudes_f64)(x, count, into);
}
bool add_narrow_tile(const f16* x, std::size_t count, bool magnitudes, exact_accumulator<float>& into) {
  return HWY_DYNAMIC_DISPATCH(narrow_f16)(x, count, magnitudes, into);
}
bool add_narrow_tile(const bf16* x, std::size_t count, bool magnitudes, exact_accumulator<float>& into) {
  return HWY_DYNAMIC_DISPATCH(narrow_bf16)(x, count, magnitudes, into);
}

bool sum_narrow_runs(summand adds, element_type type, const operands* runs, const std::size_t* counts,
                     std::size_t number, double* sums, double* squares) {
  return type == element_type::f16 ? HWY_DYNAMIC_DISPATCH(sum_runs_f16)(adds, runs, counts, number, sums, squares)
                                   : HWY_DYNAMIC_DISPATCH(sum_runs_bf16)(adds, runs, counts, number, sums, squares);
}

void write_magnitudes(const float* x, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(and_words)(x, count * sizeof(float), 0x7fffffff7fffffff, out);
}
void write_magnitudes(const double* x, std::size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(and_words)(x, count * sizeof(double), 0x7fffffffffffffff, out);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
