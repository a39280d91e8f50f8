// The few kinds of error that the library throws. It never prints, aborts or changes backend by itself.
#pragma once

#include <stdexcept>

#include <fanin/compiler.hpp>

namespace fanin {

/// Base of everything thrown here; what() is one sentence without a trailing newline.
class FANIN_API error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The call itself is wrong: null data with a count, min of nothing, an unknown name, bytes that
/// are no saved accumulator.
class FANIN_API invalid_argument : public error {
  using error::error;
};

/// The call is well formed, but what was asked for does not exist: no such variant of that backend,
/// no exact product.
class FANIN_API unsupported : public error {
  using error::error;
};

/// The backend that was asked for cannot run on this machine; what() carries its reason.
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

/// A device call failed; what() names the call and the device's own words.
class FANIN_API device_error : public error {
  using error::error;
};

}  // namespace fanin
