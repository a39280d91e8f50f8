// What every backend refuses in the same words.
#pragma once

#include <fanin/backend.hpp>

namespace fanin {

/// Whether `b` has a variant for the request, and the catalogue its result type. `exists`: whether `b` has arithmetic
/// for its operation, type and method. On success request::variant names the variant that serves.
support check_offer(const backend& b, request& request, bool exists);

/// @throws backend_unavailable with the backend's own reason if it cannot be used here
void require(const backend& b);

/// @throws invalid_argument if the operation has no value for so many elements
void check_count(operation what, std::uint64_t count);

/// @throws invalid_argument if an input is null and has elements, or two differ in type, place or length
void check_data(const input_views& inputs);

/// @throws invalid_argument unless the operation, the method and the inputs' type and place exist, and the operation
/// reads as many inputs
void check_known(operation what, const input_views& inputs, std::optional<method> how);

}  // namespace fanin
