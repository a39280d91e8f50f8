// SPDX-License-Identifier: Apache-2.0
// Replaces the header of this name: the memory that the threads of a block share.
#pragma once

namespace fanin::cuda {

alignas(128) inline unsigned char dynamic_bytes[1 << 18];

template <class State>
State* dynamic_shared() {
  return reinterpret_cast<State*>(dynamic_bytes);
}

}  // namespace fanin::cuda
