// SPDX-License-Identifier: Apache-2.0
// Compact sums in the C interface: a fanin_compact holds a compact_sum<double>, and zeros are the sum of no elements.
#include <cstring>
#include <span>
#include <string>

#include <fanin/compact_sum.hpp>

#include "backends/c/convert.hpp"

namespace {

using namespace fanin;
using c::guarded, c::required;

using held = compact_sum<double>;
static_assert(sizeof(fanin_compact) == sizeof(held) && alignof(fanin_compact) == alignof(held));
static_assert(FANIN_COMPACT_SAVED_BYTES == held::saved_bytes);

held& of(fanin_compact* from) { return *reinterpret_cast<held*>(required(from, "the sum")); }
const held& of(const fanin_compact* from) { return *reinterpret_cast<const held*>(required(from, "the sum")); }

template <class R>
R value_of(const held& from, operation what) {
  const operation_row& row = row_of(what);
  if (row.adds == summand::elements) return is_quotient(row.value) ? from.mean<R>() : from.round<R>();
  throw unsupported("a compact sum gives a sum or a mean, not " + std::string(to_string(what)));
}

}  // namespace

fanin_status fanin_compact_add(fanin_compact* to, double x) {
  return guarded([&] { of(to).add(x); });
}

fanin_status fanin_compact_add_many(fanin_compact* to, const double* x, size_t count, ptrdiff_t stride,
                                    const uint8_t* valid) {
  return guarded([&] {
    held& all = of(to);
    if (count > 0) all.add(required(x, "the elements"), count, stride, valid);
  });
}

fanin_status fanin_compact_subtract(fanin_compact* from, double x) {
  return guarded([&] { of(from).subtract(x); });
}

fanin_status fanin_compact_merge(fanin_compact* to, const fanin_compact* other) {
  return guarded([&] { of(to).merge(of(other)); });
}

uint64_t fanin_compact_count(const fanin_compact* from) { return from == nullptr ? 0 : of(from).count(); }

fanin_status fanin_compact_finish(const fanin_compact* from, fanin_operation what, fanin_type result_type,
                                  void* result) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    required(result, "the result");
    with_element(c::result_type_of(result_type).value_or(element_type::f64), [&]<class R>() {
      if constexpr (floating<R>) {
        *static_cast<R*>(result) = value_of<R>(of(from), op);
      } else {
        throw unsupported("the type of the result has to be a floating-point type");
      }
    });
  });
}

fanin_status fanin_compact_save(const fanin_compact* from, void* saved, size_t bytes) {
  return guarded([&] {
    if (bytes != held::saved_bytes) {
      throw invalid_argument("a saved compact sum has " + std::to_string(held::saved_bytes) + " bytes, not " +
                             std::to_string(bytes));
    }
    const auto all = of(from).save();
    std::memcpy(required(saved, "the memory for the bytes"), all.data(), all.size());
  });
}

fanin_status fanin_compact_load(const void* saved, size_t bytes, fanin_compact* to) {
  return guarded([&] {
    held& into = of(to);
    into = held::load(std::span(static_cast<const std::byte*>(required(saved, "the saved sum")), bytes));
  });
}

void fanin_compact_clear(fanin_compact* from) {
  if (from != nullptr) of(from) = held();
}
