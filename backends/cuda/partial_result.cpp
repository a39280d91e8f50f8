// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/partial_result.hpp"

#include <algorithm>
#include <cstring>

#include "backends/checks.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {

void partial_result::set_counts(const state_functions& fold, stand_in absent, std::uint64_t count_,
                                std::uint64_t present_, std::uint64_t left_out) {
  count = count_;
  present = present_;
  if (present > 0 || absent == stand_in::one) {
    held = count;
    if (fold.move != nullptr) fold.move(total.bytes, left_out);
  } else {
    held = 0;
    fold.reset(total.bytes);  // Zeros that stand for elements have a sign.
  }
}

void partial_result::append(const state_functions& fold, partial_result& next) {
  if (next.held > 0) {
    if (fold.move != nullptr) fold.move(next.total.bytes, count);
    fold.merge(total.bytes, next.total.bytes);
  }
  chain = {std::max(chain.adds, next.chain.adds), std::max(chain.merges, next.chain.merges) + 1};
  count += next.count;
  present += next.present;
  held += next.held;
}

outcome finished(const request& request, partial_result& all, void* result) {
  if (request.state_bytes == 0) check_count(request.what, all.present, all.count - all.present);
  const kernel_launcher& kernel = prepared_launcher(request);
  const state_functions& fold = kernel.host();
  const bool same_bits = fold.order_free || kernel.ordered();
  if (all.present == 0) fold.reset(all.total.bytes);
  if (request.state_bytes > 0) {
    std::memcpy(result, all.total.bytes, request.state_bytes);
  } else {
    const std::uint64_t count = finished_count(row_of(request.what).absent, all.held, all.present);
    fold.finish(all.total.bytes, count, request.result, result);
  }
  return {request.variant, request.method, same_bits ? fold.reproducibility() : reproducibility::none,
          fold.bound(all.chain, all.count, request.result), all.count - all.present};
}

}  // namespace fanin::cuda
