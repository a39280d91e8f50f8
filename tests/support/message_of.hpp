// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fanin::test {

/// The message of the Error that the call throws, or "no error".
template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace fanin::test
