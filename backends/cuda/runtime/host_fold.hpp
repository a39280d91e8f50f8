// The host's half of a reduction on a device: what becomes of the states that kernels return.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cuda {

/// Room for any accumulator's state.
inline constexpr std::size_t most_state_bytes = 3264;
struct alignas(64) state_buffer {
  std::byte bytes[most_state_bytes];
};

struct host_fold {
  fanin::reproducibility reproducibility;
  std::uint64_t longest;  ///< elements that one state from a kernel can stand for
  void (*reset)(void* total);
  void (*merge)(void* total, const void* partial);
  /// Writes the value, of type `result`, to `out`. @throws overflow
  void (*finish)(const void* total, std::uint64_t count, element_type result, void* out);
  error_bound (*bound)(const rounding_chain& chain, std::uint64_t count, element_type result);
};

/// The fold for a recipe, or null where there is none. `of_totals`: its partials are totals.
const host_fold* find_host_fold(operation what, element_type type, method how, bool of_totals = false);

}  // namespace fanin::cuda
