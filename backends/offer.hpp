// What every backend refuses in the same words.
#pragma once

#include <fanin/backend.hpp>

namespace fanin {

/// Whether `b` offers the request's variant and result type. `exists`: whether it has arithmetic for the operation,
/// type and method.
support offer(const backend& b, const request& asked, bool exists);

/// @throws invalid_argument if the operation has no value for so many elements
void check_count(operation what, std::uint64_t count);

/// @throws invalid_argument if the input is null and has elements
void check_data(const array_view& input);

/// @throws invalid_argument for dot
void check_takes_one_input(operation what);

/// @throws invalid_argument unless x and y can be the factors of a dot product
void check_pair(const array_view& x, const array_view& y);

}  // namespace fanin
