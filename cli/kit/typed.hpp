// From an element type known at run time to one that the compiler knows.
#pragma once

#include <cstdint>

#include <fanin/request.hpp>

namespace fanin::cli {

/// f(T{}) for the T that `type` names.
template <class F>
auto with_type(element_type type, F f) {
  switch (type) {
    case element_type::f32:
      return f(float{});
    case element_type::f64:
      return f(double{});
    case element_type::i32:
      return f(std::int32_t{});
    case element_type::i64:
      return f(std::int64_t{});
    case element_type::u32:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

}  // namespace fanin::cli
