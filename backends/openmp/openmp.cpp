// SPDX-License-Identifier: Apache-2.0
#include "backends/openmp/openmp.hpp"

namespace fanin::openmp {

void backend::run(unsigned threads, std::size_t count, task each) const {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::size_t i = 0; i < count; ++i) each.call(each.context, i);
}

}  // namespace fanin::openmp
