// SPDX-License-Identifier: Apache-2.0
// Compact sums in the C interface: a fanin_compact holds a compact_sum<double>, and a fanin_compact_moments holds a
// compact_moments<double>. Zeros are the sums of no elements.
#include <cstring>
#include <span>
#include <string>

#include <fanin/compact_moments.hpp>

#include "backends/c/convert.hpp"
#include "backends/checks.hpp"

namespace {

using namespace fanin;
using c::guarded, c::required;

template <class Struct>
struct held_by;
template <>
struct held_by<fanin_compact> {
  using type = compact_sum<double>;
  static_assert(FANIN_COMPACT_SAVED_BYTES == type::saved_bytes);
};
template <>
struct held_by<fanin_compact_moments> {
  using type = compact_moments<double>;
  static_assert(FANIN_COMPACT_MOMENTS_SAVED_BYTES == type::saved_bytes);
};

/// The sum that the struct holds. @throws invalid_argument if the pointer is null
template <class Struct, class Held = typename held_by<Struct>::type>
Held& of(Struct* from) {
  static_assert(sizeof(Struct) == sizeof(Held) && alignof(Struct) == alignof(Held));
  return *reinterpret_cast<Held*>(required(from, "the sum"));
}
template <class Struct, class Held = typename held_by<Struct>::type>
const Held& of(const Struct* from) {
  return *reinterpret_cast<const Held*>(required(from, "the sum"));
}

template <class R, int Power>
R value_of(const basic_compact_sum<double, Power>& from, operation what) {
  const operation_row& row = row_of(what);
  if constexpr (Power == 2) {
    if (is_root(row.value)) return from.template root<R>();
  }
  return is_quotient(row.value) ? from.template mean<R>() : from.template round<R>();
}

template <class R>
R value_of(const fanin_compact& from, operation what) {
  if (row_of(what).adds == summand::elements) return value_of<R>(of(&from), what);
  throw unsupported("a compact sum gives a sum or a mean, not " + std::string(to_string(what)));
}

template <class R>
R value_of(const fanin_compact_moments& moments, operation what) {
  const compact_moments<double>& from = of(&moments);
  const operation_row& row = row_of(what);
  switch (row.adds) {
    case summand::elements:
      return value_of<R>(from.sum(), what);
    case summand::squares:
      return value_of<R>(from.squares(), what);
    case summand::deviations:
      check_count(what, from.count());
      return from.dispersion<R>({is_root(row.value), least_count(what) > 1 ? 1U : 0U});
    default:
      throw unsupported("compact moments give a sum, mean, sum of squares, norm or variance, not " +
                        std::string(to_string(what)));
  }
}

template <class Struct>
fanin_status add_many(Struct* to, const double* x, size_t count, ptrdiff_t stride, const uint8_t* valid) {
  return guarded([&] {
    auto& all = of(to);
    if (count > 0) all.add(required(x, "the elements"), count, stride, valid);
  });
}

template <class Struct>
fanin_status finish(const Struct* from, fanin_operation what, fanin_type result_type, void* result) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    required(result, "the result");
    with_element(c::result_type_of(result_type).value_or(element_type::f64), [&]<class R>() {
      if constexpr (floating<R>) {
        *static_cast<R*>(result) = value_of<R>(*from, op);
      } else {
        throw unsupported("the type of the result has to be a floating-point type");
      }
    });
  });
}

template <class Struct>
fanin_status save(const Struct* from, void* saved, size_t bytes) {
  return guarded([&] {
    constexpr std::size_t wanted = held_by<Struct>::type::saved_bytes;
    if (bytes != wanted) {
      throw invalid_argument("a saved compact sum has " + std::to_string(wanted) + " bytes, not " +
                             std::to_string(bytes));
    }
    const auto all = of(from).save();
    std::memcpy(required(saved, "the memory for the bytes"), all.data(), all.size());
  });
}

template <class Struct>
fanin_status load(const void* saved, size_t bytes, Struct* to) {
  return guarded([&] {
    auto& into = of(to);
    into = held_by<Struct>::type::load(
        std::span(static_cast<const std::byte*>(required(saved, "the saved sum")), bytes));
  });
}

template <class Struct>
void clear(Struct* from) {
  if (from != nullptr) of(from) = {};
}

}  // namespace

fanin_status fanin_compact_add(fanin_compact* to, double x) {
  return guarded([&] { of(to).add(x); });
}
fanin_status fanin_compact_moments_add(fanin_compact_moments* to, double x) {
  return guarded([&] { of(to).add(x); });
}

fanin_status fanin_compact_add_many(fanin_compact* to, const double* x, size_t count, ptrdiff_t stride,
                                    const uint8_t* valid) {
  return add_many(to, x, count, stride, valid);
}
fanin_status fanin_compact_moments_add_many(fanin_compact_moments* to, const double* x, size_t count,
                                            ptrdiff_t stride, const uint8_t* valid) {
  return add_many(to, x, count, stride, valid);
}

fanin_status fanin_compact_subtract(fanin_compact* from, double x) {
  return guarded([&] { of(from).subtract(x); });
}
fanin_status fanin_compact_moments_subtract(fanin_compact_moments* from, double x) {
  return guarded([&] { of(from).subtract(x); });
}

fanin_status fanin_compact_merge(fanin_compact* to, const fanin_compact* other) {
  return guarded([&] { of(to).merge(of(other)); });
}
fanin_status fanin_compact_moments_merge(fanin_compact_moments* to, const fanin_compact_moments* other) {
  return guarded([&] { of(to).merge(of(other)); });
}

uint64_t fanin_compact_count(const fanin_compact* from) { return from == nullptr ? 0 : of(from).count(); }
uint64_t fanin_compact_moments_count(const fanin_compact_moments* from) {
  return from == nullptr ? 0 : of(from).count();
}

fanin_status fanin_compact_finish(const fanin_compact* from, fanin_operation what, fanin_type result_type,
                                  void* result) {
  return finish(from, what, result_type, result);
}
fanin_status fanin_compact_moments_finish(const fanin_compact_moments* from, fanin_operation what,
                                          fanin_type result_type, void* result) {
  return finish(from, what, result_type, result);
}

fanin_status fanin_compact_save(const fanin_compact* from, void* saved, size_t bytes) {
  return save(from, saved, bytes);
}
fanin_status fanin_compact_moments_save(const fanin_compact_moments* from, void* saved, size_t bytes) {
  return save(from, saved, bytes);
}

fanin_status fanin_compact_load(const void* saved, size_t bytes, fanin_compact* to) { return load(saved, bytes, to); }
fanin_status fanin_compact_moments_load(const void* saved, size_t bytes, fanin_compact_moments* to) {
  return load(saved, bytes, to);
}

void fanin_compact_clear(fanin_compact* from) { clear(from); }
void fanin_compact_moments_clear(fanin_compact_moments* from) { clear(from); }
