#include "backends/cuda/cuda.hpp"

#include <algorithm>
#include <vector>

#include <fanin/error.hpp>

#include "backends/cuda/fold/finish.hpp"
#include "backends/cuda/kernels.hpp"
#include "backends/cuda/stages/stage_fold.hpp"

namespace fanin::cuda {

std::span<const variant_info> backend::variants() const noexcept {
  static const std::vector<variant_info> all = [] {
    std::vector<variant_info> rows = {
        {"single-launch", method::fast, "16-byte loads, eight in flight; the last block finishes", ""},
        {"compensated", method::compensated, "the same with every rounding error carried along", ""},
        {"exact", method::exact, "windows in registers, fixed point behind them, rounded once", ""},
    };
    rows.insert(rows.end(), stage_variants().begin(), stage_variants().end());
    return rows;
  }();
  return all;
}

const device_fold* backend::find_kernel(const request& asked) const noexcept {
  const auto stages = stage_variants();
  if (std::any_of(stages.begin(), stages.end(), [&](const variant_info& v) { return v.name == asked.variant; })) {
    return find_stage_fold(asked);
  }
  return with_element(asked.input.type, [&]<class T>() { return cuda::find_kernel<T>(asked.what, asked.how); });
}

void backend::enqueue(const request& asked, context& on, void* result) const {
  const device_scope here(on.where().device);
  const device_fold& kernel = *find_kernel(asked);
  const std::uint64_t longest = find_fold(asked.what, asked.input.type, asked.how)->longest;
  const std::uint64_t states = asked.input.count / longest + (asked.input.count % longest != 0 ? 1 : 0);
  if (states > context::state_slots) throw unsupported("the input is too long for a result on the device");
  const auto* x = static_cast<const std::byte*>(asked.input.data);
  const execution where =
      states > 0 ? on.with_scratch(kernel.scratch_bytes(on.where(), std::min(longest, asked.input.count)))
                 : on.where();
  if (states == 1 && kernel.launch_finished(where, x, asked.input.count, asked.result, result)) return;
  for (std::uint64_t i = 0; i < states; ++i) {
    const std::uint64_t begin = i * longest;
    kernel.launch(where, {x + begin * size_of(asked.input.type)}, std::min(longest, asked.input.count - begin),
                  on.device_state(i));
  }
  enqueue_finish(asked, on.device_state(0), states, result, on.where().stream);
}

const backend& instance() noexcept {
  static const backend only;
  return only;
}

}  // namespace fanin::cuda
