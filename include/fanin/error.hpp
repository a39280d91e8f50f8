// SPDX-License-Identifier: Apache-2.0
// The errors that the library throws. The library never prints or aborts. If the caller named one backend, the
// library never runs another one in its place.
#pragma once

#include <stdexcept>

#include <fanin/compiler.hpp>

namespace fanin {

/// Base of all errors of the library; what() is one sentence without a trailing newline.
class FANIN_API error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An argument is invalid: null data with a count above 0, min of no elements, an unknown name, bytes that are not a
/// saved accumulator.
class FANIN_API invalid_argument : public error {
  using error::error;
};

/// The arguments are valid, but the requested combination does not exist: no such variant of that backend, no exact
/// product.
class FANIN_API unsupported : public error {
  using error::error;
};

/// The named backend, or every backend of the list, cannot run on this machine; what() has the reason.
class FANIN_API backend_unavailable : public error {
  using error::error;
};

/// An integer result lies outside its result type. Floating-point overflow is an infinity, not an error.
class FANIN_API overflow : public error {
  using error::error;
};

/// Host or device memory ran out.
class FANIN_API out_of_memory : public error {
  using error::error;
};

/// A call of the CUDA runtime failed; what() has the name of the call and the runtime's message.
class FANIN_API device_error : public error {
  using error::error;
};

}  // namespace fanin
