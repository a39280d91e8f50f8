// SPDX-License-Identifier: Apache-2.0
// The version of the headers. CMake reads it here.
#pragma once

#include <fanin/compiler.hpp>

#define FANIN_VERSION_MAJOR 0
#define FANIN_VERSION_MINOR 1
#define FANIN_VERSION_PATCH 0
#define FANIN_VERSION "0.1.0"

namespace fanin {

/// FANIN_VERSION of the library that the program runs with, which may be newer than the headers it was compiled with.
FANIN_API const char* version() noexcept;

}  // namespace fanin
