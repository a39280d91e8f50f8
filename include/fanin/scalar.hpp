// SPDX-License-Identifier: Apache-2.0
// A result of any form and type, for callers that know them only at run time.
//
//   fanin::scalar total = fanin::reduce(what, x).value;
//   if (fanin::holds_alternative<double>(total)) use(fanin::get<double>(total));
//   fanin::visit([](const auto& value) { use(value); }, total);
#pragma once

#include <concepts>
#include <cstddef>
#include <new>

#include <fanin/compiler.hpp>
#include <fanin/form.hpp>

namespace fanin {

/// A type that a scalar can hold: an element of any type of the catalogue, or `indexed` or `extremes` of real ones.
template <class R>
concept scalar_value =
    result_value<R> && std::same_as<R, detail::formed<typename result_traits<R>::number, result_traits<R>::form>>;

/// One value of one of these types, in 24 bytes.
class scalar {
 public:
  /// 0 of type f32.
  scalar() noexcept : scalar(0.0f) {}
  template <scalar_value R>
  scalar(const R& value) noexcept : type_(type_of<typename result_traits<R>::number>), form_(result_traits<R>::form) {
    static_assert(sizeof(R) <= sizeof bytes_ && alignof(R) <= alignof(scalar));
    new (bytes_) R(value);
  }

  /// The type of the number in the result, and the form of the result.
  element_type type() const noexcept { return type_; }
  result_form form() const noexcept { return form_; }
  /// The memory of the result.
  void* data() noexcept { return bytes_; }
  const void* data() const noexcept { return bytes_; }

  /// Whether both hold the same type and equal values. A NaN is not equal to itself.
  friend bool operator==(const scalar& a, const scalar& b) { return a.equals(b); }

 private:
  FANIN_API bool equals(const scalar& other) const;

  alignas(8) std::byte bytes_[16] = {};
  element_type type_;
  result_form form_;
};

/// Whether both hold the same type.
inline bool are_alike(const scalar& a, const scalar& b) noexcept {
  return a.type() == b.type() && a.form() == b.form();
}

template <scalar_value R>
bool holds_alternative(const scalar& value) noexcept {
  return value.type() == type_of<typename result_traits<R>::number> && value.form() == result_traits<R>::form;
}

/// The result, or null if it is no R.
template <scalar_value R>
R* get_if(scalar* value) noexcept {
  return holds_alternative<R>(*value) ? std::launder(static_cast<R*>(value->data())) : nullptr;
}
template <scalar_value R>
const R* get_if(const scalar* value) noexcept {
  return holds_alternative<R>(*value) ? std::launder(static_cast<const R*>(value->data())) : nullptr;
}

/// The result. @throws invalid_argument if it is no R
template <scalar_value R>
R get(const scalar& value) {
  if (const R* const found = get_if<R>(&value)) return *found;
  throw invalid_argument("the result is of another type than the one that was asked for");
}

/// Returns f(result), which has the same type for all results.
template <class F>
auto visit(F f, const scalar& value) {
  return detail::with_formed(value.form(), value.type(), [&]<class R>() { return f(*get_if<R>(&value)); });
}
template <class F>
auto visit(F f, scalar& value) {
  return detail::with_formed(value.form(), value.type(), [&]<class R>() { return f(*get_if<R>(&value)); });
}

}  // namespace fanin
