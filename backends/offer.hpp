// What every backend refuses in the same words.
#pragma once

#include <fanin/backend.hpp>

namespace fanin {

/// Whether `b` offers the request's variant and result type. `exists`: whether it has arithmetic for the operation,
/// type and method.
support offer(const backend& b, const request& asked, bool exists);

/// @throws invalid_argument if the operation has no value for so many elements
void check_count(operation what, std::uint64_t count);

}  // namespace fanin
