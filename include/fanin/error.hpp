// The errors that the library throws. The library never prints or aborts, and never runs another backend in place of
// one that failed.
#pragma once

#include <stdexcept>

namespace fanin {

/// Base of all errors of the library; what() is one sentence without a trailing newline.
class error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An argument is invalid: null data with a count above 0, min of no elements, an unknown name, bytes that are not a
/// saved accumulator.
class invalid_argument : public error {
  using error::error;
};

/// The arguments are valid, but the requested combination does not exist: no such variant of that backend, no exact
/// product.
class unsupported : public error {
  using error::error;
};

/// The named backend, or every backend of the list, cannot run on this machine; what() has the reason.
class backend_unavailable : public error {
  using error::error;
};

/// An integer result lies outside its result type. Floating-point overflow is an infinity, not an error.
class overflow : public error {
  using error::error;
};

/// Host or device memory ran out.
class out_of_memory : public error {
  using error::error;
};

/// A call of the CUDA runtime failed; what() has the name of the call and the runtime's message.
class device_error : public error {
  using error::error;
};

}  // namespace fanin
