// SPDX-License-Identifier: Apache-2.0
// The value that stands for a result of too few elements.
#pragma once

#include <cstddef>
#include <string>

#include <fanin/batch.hpp>

namespace fanin {

/// Writes the value that the batch gives for results of too few elements, or else NaN in place of every number of a
/// result. Returns false if the batch gives none, and results have other numbers than floating-point ones.
/// @throws invalid_argument if the batch's value is of another type than results
bool write_empty(const request& request, const batch& many, std::byte* result);

/// Words for the error where there is no such value.
std::string too_few(operation what);

/// The name of result i in errors, which is its segment or group.
std::string name_of_result(layout kind, std::uint64_t i);

}  // namespace fanin
