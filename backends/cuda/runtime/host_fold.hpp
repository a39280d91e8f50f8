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

/// The longest way of an element into the result: additions of elements to one state, then merges of states.
struct chain {
  double adds = 0;
  double merges = 0;
};

struct host_fold {
  fanin::reproducibility reproducibility;
  std::uint64_t longest;  ///< elements that one state from a kernel can stand for
  void (*reset)(void* total);
  void (*merge)(void* total, const void* partial);
  /// @throws overflow
  scalar (*finish)(const void* total, std::uint64_t count, element_type result);
  error_bound (*bound)(const chain& way, std::uint64_t count, element_type result);
};

/// The fold for a request, or null where there is none (exact products). `of_totals`: its partials are totals.
const host_fold* find_fold(operation what, element_type type, method how, bool of_totals = false) noexcept;

}  // namespace fanin::cuda
