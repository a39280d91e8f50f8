// What every backend refuses in the same words.
#pragma once

#include <fanin/backend.hpp>

namespace fanin {

/// Whether `b` offers the request's variant and result type. `exists`: whether it has arithmetic for the operation,
/// type and method.
support offer(const backend& b, const request& asked, bool exists);

}  // namespace fanin
