// Finishing on the device: from states to the value, for results that stay there.
#pragma once

#include <limits>

#include <fanin/device.hpp>

#include "backends/cuda/arithmetic.hpp"
#include "backends/cuda/runtime/device_fold.hpp"

namespace fanin::cuda {

/// The value of a total as fanin::enqueue leaves it.
template <class Reduction, class R>
FANIN_HOST_DEVICE device_result<R> finished(const typename Reduction::total::state& s, std::uint64_t count) {
  using total = typename Reduction::total;
  if constexpr (Reduction::what == operation::mean || Reduction::what == operation::variance) {
    if (count == 0) return {std::numeric_limits<R>::quiet_NaN(), 0};
  }
  if constexpr (Reduction::what != operation::mean && requires { total::template fits<R>(s); }) {
    return {total::template wrapped<R>(s), total::template fits<R>(s) ? 0u : 1u};
  } else {
    return {total::template finish<R>(s, count), 0};
  }
}

/// Enqueues the merge of `states` device states of that reduction's kernel, in order, and writes the value as a
/// device_result of the request's result type. @throws device_error
void enqueue_finish(const request& asked, const std::byte* states, std::size_t count_of_states, void* result,
                    cudaStream_t stream);

}  // namespace fanin::cuda
