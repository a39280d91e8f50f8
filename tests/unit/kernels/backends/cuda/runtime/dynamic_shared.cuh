// SPDX-License-Identifier: Apache-2.0
// Replaces the header of this name: the memory that the blocks of the CPU share.
#pragma once

namespace fanin::cuda {

template <class State>
State* dynamic_shared() {
  alignas(128) static unsigned char bytes[1 << 18];
  return reinterpret_cast<State*>(bytes);
}

}  // namespace fanin::cuda
