// SPDX-License-Identifier: Apache-2.0
// Extrema, places and counts of several short arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/loop.hpp>

namespace fanin::cpu {

/// Acts as arithmetic::reduce_each() for the operations that round nothing and have one input. Arrays without
/// elements are left, and those that are too long to be read twice.
template <class T>
std::uint64_t compare_each(operation what, const detail::operands* runs, const std::size_t* counts,
                           std::size_t number, element_type result, void* out);

}  // namespace fanin::cpu
