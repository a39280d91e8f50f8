// SPDX-License-Identifier: Apache-2.0
// Elements that do not take part, by a mask or because they are NaN, on the CPU.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "backends/cpu/fold.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cpu {

/// Elements that were copied with stand-ins.
struct copied_part {
  std::size_t left_out;  ///< elements at the front that were not copied
  std::size_t present;   ///< elements that take part
};

/// The most elements that copy_present() copies.
inline constexpr std::size_t most_copied = 16384;

/// Writes `count` elements of each input, with stand-ins, to `x` and `y`. `mask` begins with the entry of the
/// first of these elements. If another element has to stand for absent elements, it is the element in `other`.
/// While `other` is empty, absent elements at the front are left out, and the first element that takes part goes
/// to `other`.
copied_part copy_present(const presence_rule& rule, const operands& data, const mask_view& mask, std::size_t count,
                         void* x, void* y, std::optional<std::uint64_t>& other);

/// Folds the elements that are not absent as arithmetic::accumulate does. Blocks of them are copied to the stack,
/// and stay in the L1 cache. The mask has an entry for each element from position 0 on. Returns the number of
/// elements that take part. Memory: 48 KiB of stack, and the states of fold_blocks_in_order().
std::uint64_t accumulate_present(const arithmetic& f, const presence_rule& rule, const mask_view& mask,
                                 const operands& data, std::size_t count, void* state);

/// Input that arrives in blocks, with stand-ins for absent elements.
class present_blocks {
 public:
  explicit present_blocks(const request& request)
      : rule_(request.what, request.inputs.type(), request.nan), type_(request.inputs.type()) {}

  /// Calls sink(input_views) for the elements in turn. Absent elements at the front are left out where another
  /// element is to stand for them. @throws unsupported if nothing can stand for them
  template <class Sink>
  void push(const input_views& blocks, Sink sink) {
    rule_.require_stand_in();
    const std::size_t bytes = std::min(most_copied, blocks.count()) * rule_.element_bytes;
    for (int i = 0; i < blocks.size(); ++i) copies_[i].resize(std::max(copies_[i].size(), bytes));
    for (std::size_t begin = 0; begin < blocks.count(); begin += most_copied) {
      sink(next(blocks.part(begin, std::min(most_copied, blocks.count() - begin))));
    }
  }
  /// Takes note of elements that come between two calls of push(). All of these elements take part.
  void pass(const input_views& blocks);
  const presence_rule& rule() const noexcept { return rule_; }
  /// The number of elements that do not take part, and how many of these are left out at the front.
  std::uint64_t absent() const noexcept { return absent_; }
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  input_views next(const input_views& part);

  presence_rule rule_;
  element_type type_;
  std::optional<std::uint64_t> other_;
  std::vector<std::byte> copies_[most_inputs];
  std::uint64_t absent_ = 0, left_out_ = 0;
};

}  // namespace fanin::cpu
