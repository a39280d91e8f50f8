// SPDX-License-Identifier: Apache-2.0
#include <fanin/version.hpp>

namespace fanin {

const char* version() noexcept { return FANIN_VERSION; }

}  // namespace fanin
