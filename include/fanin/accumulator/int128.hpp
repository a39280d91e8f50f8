// SPDX-License-Identifier: Apache-2.0
// The compilers' 128-bit integers under one name.
#pragma once

namespace fanin::detail {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

}  // namespace fanin::detail
