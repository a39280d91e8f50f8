// SPDX-License-Identifier: Apache-2.0
// Each array is folded to a vector of its smallest keys and one of its largest. The vectors of as many arrays as a
// vector has elements are then merged to one vector, which has an extremum of each array.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/word_runs.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include <fanin/form.hpp>

#include "backends/cpu/across-inl.h"
#include "backends/cpu/fold.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/word_runs.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

constexpr std::size_t most_runs = detail::arithmetic::most_runs;

/// Loops over arrays of elements of the size of W, a signed integer.
template <class W>
struct word_runs {
  using D = hn::CappedTag<W, 32 / sizeof(W)>;
  using V = hn::Vec<D>;
  static constexpr std::size_t width = hn::MaxLanes(D());
  using word = std::make_unsigned_t<W>;

  V if_negative, always;
  HWY_INLINE explicit word_runs(const key_form& form)
      : if_negative(hn::Set(D(), static_cast<W>(form.if_negative))),
        always(hn::Set(D(), static_cast<W>(form.always))) {}
  HWY_INLINE V turned(V v) const {
    return hn::Xor(hn::Xor(v, hn::And(hn::BroadcastSignBit(v), if_negative)), always);
  }

  /// The vector at x + i. Where the array ends before it, it is the last vector of the array, or `fill` follows.
  static HWY_INLINE V load(const W* x, std::size_t i, std::size_t count, W fill) {
    if (i + width <= count) return hn::LoadU(D(), x + i);
    if (count >= width) return hn::LoadU(D(), x + count - width);
    HWY_ALIGN W padded[width];
    std::fill_n(padded, width, fill);
    std::copy_n(x, count, padded);
    return hn::Load(D(), padded);
  }

  /// Writes the smallest and the largest element of each array.
  HWY_INLINE void extremes_of(const key_form& form, const operands* runs, const std::size_t* counts,
                              std::size_t number, word* smallest, word* largest) const {
    const D d;
    HWY_ALIGN W low[width * width], high[width * width];
    const auto above =
        hn::Set(d, static_cast<W>(std::min<std::int32_t>(form.largest, std::numeric_limits<W>::max())));
    const auto nan = hn::Set(d, static_cast<W>(form.not_a_number));
    for (std::size_t first = 0; first < number; first += width) {
      const std::size_t n = std::min(width, number - first);
      for (std::size_t r = 0; r < width; ++r) {
        const std::size_t run = first + std::min(r, n - 1), count = counts[run];
        const auto* const x = static_cast<const W*>(runs[run].x);
        auto least = turned(load(x, 0, count, *x)), greatest = least;
        for (std::size_t i = width; i < count; i += width) {
          if (i % (64 / sizeof(W)) == 0) prefetch_line(x + i);
          const auto keys = turned(load(x, i, count, *x));
          least = hn::Min(least, keys);
          greatest = hn::Max(greatest, keys);
        }
        hn::Store(least, d, low + r * width);
        hn::Store(greatest, d, high + r * width);
      }
      const auto least = across<width>(d, low, 1, [](auto a, auto b) HWY_ATTR { return hn::Min(a, b); });
      const auto greatest = across<width>(d, high, 1, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
      const auto is_nan = hn::Or(hn::Gt(greatest, above), hn::Lt(least, hn::Not(above)));
      HWY_ALIGN W found[width];
      const auto put = [&](V keys, word* to) HWY_ATTR {
        hn::Store(hn::IfThenElse(is_nan, nan, turned(keys)), d, found);
        std::copy_n(found, n, to + first);
      };
      put(least, smallest);
      put(greatest, largest);
    }
  }
  static HWY_INLINE std::size_t find(const W* x, std::size_t count, word value) {
    const D d;
    for (std::size_t i = 0; i + width <= count; i += width) {
      const auto found = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), hn::Set(d, static_cast<W>(value))));
      if (found >= 0) return i + static_cast<std::size_t>(found);
    }
    return static_cast<std::size_t>(std::find(x + count / width * width, x + count, static_cast<W>(value)) - x);
  }
  static HWY_INLINE std::size_t zeros_in(const W* x, std::size_t count, W magnitude) {
    const D d;
    const auto mask = hn::Set(d, magnitude);
    std::size_t zeros = 0, i = 0;
    const auto add = [&](V v) HWY_ATTR { zeros += hn::CountTrue(d, hn::Eq(hn::And(v, mask), hn::Zero(d))); };
    for (; i + width <= count; i += width) {
      if (i % (64 / sizeof(W)) == 0) prefetch_line(x + i);
      add(hn::LoadU(d, x + i));
    }
    if (i < count) {
      HWY_ALIGN W padded[width];
      std::fill_n(padded, width, W{1});
      std::copy(x + i, x + count, padded);
      add(hn::Load(d, padded));
    }
    return zeros;
  }
};

template <class W>
std::uint64_t compare_all(operation what, const key_form& form, const operands* runs, const std::size_t* counts,
                          std::size_t number, void* out) {
  using loops = word_runs<W>;
  using word = typename loops::word;
  if (what == operation::count_nonzero || what == operation::any || what == operation::all) {
    for (std::size_t i = 0; i < number; ++i) {
      const std::size_t count = counts[i];
      const std::size_t zeros =
          loops::zeros_in(static_cast<const W*>(runs[i].x), count, static_cast<W>(form.magnitude));
      if (what == operation::count_nonzero) {
        static_cast<std::uint64_t*>(out)[i] = count - zeros;
      } else {
        static_cast<std::uint8_t*>(out)[i] = what == operation::any ? zeros < count : zeros == 0;
      }
    }
    return 0;
  }
  word smallest[most_runs], largest[most_runs];
  loops(form).extremes_of(form, runs, counts, number, smallest, largest);
  if (what == operation::min || what == operation::max) {
    std::copy_n(what == operation::min ? smallest : largest, number, static_cast<word*>(out));
    return 0;
  }
  if (what == operation::minmax) {
    for (std::size_t i = 0; i < number; ++i) {
      static_cast<word*>(out)[2 * i] = smallest[i];
      static_cast<word*>(out)[2 * i + 1] = largest[i];
    }
    return 0;
  }
  if (what == operation::max_magnitude) {
    for (std::size_t i = 0; i < number; ++i) {
      if (form.is_float) {
        const auto magnitude_of = [&](word x) { return static_cast<word>(x & form.magnitude); };
        static_cast<word*>(out)[i] = std::max(magnitude_of(smallest[i]), magnitude_of(largest[i]));
      } else if (form.always != 0) {
        static_cast<std::uint64_t*>(out)[i] = largest[i];
      } else {
        static_cast<std::uint64_t*>(out)[i] =
            static_cast<std::uint64_t>(std::max(-int{static_cast<W>(smallest[i])}, int{static_cast<W>(largest[i])}));
      }
    }
    return 0;
  }
  std::uint64_t left = 0;
  const word* const values = what == operation::argmin ? smallest : largest;
  for (std::size_t i = 0; i < number; ++i) {
    if (form.is_float && values[i] == form.not_a_number) {
      left |= std::uint64_t{1} << i;
    } else {
      const std::size_t at = loops::find(static_cast<const W*>(runs[i].x), counts[i], values[i]);
      static_cast<indexed<word>*>(out)[i] = {values[i], at};
    }
  }
  return left;
}

#else

template <class W>
std::uint64_t compare_all(operation, const key_form&, const operands*, const std::size_t*, std::size_t number,
                          void*) {
  return ~std::uint64_t{0} >> (64 - number);
}

#endif

std::uint64_t compare_bytes(operation what, const key_form& form, const operands* runs, const std::size_t* counts,
                            std::size_t number, void* out) {
  return compare_all<std::int8_t>(what, form, runs, counts, number, out);
}
std::uint64_t compare_halves(operation what, const key_form& form, const operands* runs, const std::size_t* counts,
                             std::size_t number, void* out) {
  return compare_all<std::int16_t>(what, form, runs, counts, number, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(compare_bytes);
HWY_EXPORT(compare_halves);

std::uint64_t compare_words(operation what, const key_form& form, const detail::operands* runs,
                            const std::size_t* counts, std::size_t number, void* out) {
  constexpr std::size_t longest = 4096;
  for (std::size_t i = 0; i < number; ++i) {
    if (counts[i] == 0 || counts[i] > longest) return ~std::uint64_t{0} >> (64 - number);
  }
  return form.bytes == 1 ? HWY_DYNAMIC_DISPATCH(compare_bytes)(what, form, runs, counts, number, out)
                         : HWY_DYNAMIC_DISPATCH(compare_halves)(what, form, runs, counts, number, out);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
