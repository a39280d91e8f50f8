// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/fold.hpp"

#include <cstring>

namespace fanin::cpu {

void partial_tree::push(void* state) {
  std::size_t i = 0;
  for (; (pushed_ >> i & 1) != 0; ++i) {
    arithmetic_.merge(level(i), state);
    std::memcpy(state, level(i), arithmetic_.state_bytes);
  }
  std::memcpy(level(i), state, arithmetic_.state_bytes);
  ++pushed_;
}

void partial_tree::finish(void* state) {
  bool first = true;
  for (std::size_t i = 0; pushed_ >> i != 0; ++i) {
    if ((pushed_ >> i & 1) == 0) continue;
    if (!first) arithmetic_.merge(level(i), state);
    std::memcpy(state, level(i), arithmetic_.state_bytes);
    first = false;
  }
}

}  // namespace fanin::cpu
