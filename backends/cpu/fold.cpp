#include "backends/cpu/fold.hpp"

#include <cstring>

namespace fanin::cpu {

void partial_tree::push(void* state) {
  std::size_t level = 0;
  for (; (pushed_ >> level & 1) != 0; ++level) {
    fold_.merge(levels_[level].bytes, state);
    std::memcpy(state, levels_[level].bytes, fold_.state_bytes);
  }
  std::memcpy(levels_[level].bytes, state, fold_.state_bytes);
  ++pushed_;
}

void partial_tree::finish(void* state) {
  bool first = true;
  for (std::size_t level = 0; pushed_ >> level != 0; ++level) {
    if ((pushed_ >> level & 1) == 0) continue;
    if (!first) fold_.merge(levels_[level].bytes, state);
    std::memcpy(state, levels_[level].bytes, fold_.state_bytes);
    first = false;
  }
}

}  // namespace fanin::cpu
