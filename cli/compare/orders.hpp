// SPDX-License-Identifier: Apache-2.0
// The orders in which other programs add, for contrast.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cli {

enum class adding_order : std::uint8_t {
  in_order,   ///< one element after the other
  numpy,      ///< by pairs of blocks where elements are neighbours in memory, as numpy.sum does, otherwise in order
  any_order,  ///< as atomic additions may come: in an order that differs from call to call
};
inline constexpr std::array all_adding_orders{adding_order::in_order, adding_order::numpy, adding_order::any_order};
std::string_view to_string(adding_order);

/// The sum of floating-point numbers in that order, each addition rounded to the type of their sum. `apart`: they
/// were no neighbours in memory. `call` is what any_order depends on.
scalar sum_in_order(adding_order order, const array_view& elements, bool apart, std::uint64_t call);

}  // namespace fanin::cli
