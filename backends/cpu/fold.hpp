// A reduction's arithmetic as the CPU backends see it: functions over raw states, whatever the operation and type.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cpu {

/// Elements are folded in leaves of this many bytes; the order inside a leaf and of the leaves is part of the result.
inline constexpr std::size_t leaf_bytes = std::size_t{1} << 14;
/// Element i goes to virtual lane i mod (row_bytes / element size), on every instruction set. Lanes meet at the very
/// end.
inline constexpr std::size_t row_bytes = 256;

/// Room for any accumulator's state.
struct alignas(64) state_buffer {
  std::byte bytes[1664];
};

struct fold {
  fanin::reproducibility reproducibility;
  /// Fixed order: accumulate() starts anew, and partials of 2^k leaves are merged along partial_tree.
  /// Otherwise order does not matter, and accumulate() adds to what the state holds.
  bool fixed_order() const noexcept { return reproducibility == fanin::reproducibility::fixed_order; }

  std::size_t state_bytes;
  void (*reset)(void* state);
  void (*accumulate)(const void* elements, std::size_t count, void* state);
  void (*merge)(void* into, const void* from);
  scalar (*finish)(const void* state, std::uint64_t count, element_type result);
  error_bound (*bound)(std::uint64_t count, element_type result);
  /// dot: accumulate() for the pairs of elements of two arrays; null for the others.
  void (*accumulate_pairs)(const void* elements, const void* other, std::size_t count, void* state);
};

/// The fold for a request, or null where there is none (exact products, fast norms).
const fold* find_fold(operation what, element_type type, method how) noexcept;

/// Partials of consecutive blocks, merged along the binary tree over the block index: node (k, i) is the merge of
/// (k-1, 2i) and (k-1, 2i+1), and a missing right child leaves the left one as it is. Blocks of 2^k leaves give the
/// same bits as the leaves themselves.
class partial_tree {
 public:
  explicit partial_tree(const fold& arithmetic) noexcept : fold_(arithmetic) {}
  /// The next block's partial; `state` is used as scratch.
  void push(void* state);
  /// The merge of everything pushed, into `state`; leaves it alone if that was nothing.
  void finish(void* state);

 private:
  static constexpr std::size_t max_state_bytes = 2 * row_bytes;
  struct alignas(64) node {
    std::byte bytes[max_state_bytes];
  };
  const fold& fold_;
  std::uint64_t pushed_ = 0;
  node levels_[48];
};

}  // namespace fanin::cpu
