// SPDX-License-Identifier: Apache-2.0
// The backends that work in host memory and are usable here.
#pragma once

#include <vector>

#include <fanin/backend.hpp>

namespace fanin::test {

inline std::vector<const backend*> cpu_backends() {
  std::vector<const backend*> found;
  for (const backend* b : backends()) {
    if (b->home() == memory::host && b->probe().usable()) found.push_back(b);
  }
  return found;
}

}  // namespace fanin::test
