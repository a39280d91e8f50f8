// What a stage of the ladder adds to what, step by step, found out on the CPU: the index functions are those that the
// kernels call (backends/cuda/stages/steps.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fanin::cli {

/// Where a stage keeps numbers.
enum class space : std::uint8_t {
  input,    ///< the elements, or the copy that stages in place work on
  value,    ///< one for each thread of each block, in shared memory or a register
  partial,  ///< one for each block
  last,     ///< one for each thread of the block that folds the partials
  total,
};
std::string_view to_string(space in);

struct place {
  space in;
  unsigned index;
  auto operator<=>(const place&) const = default;
};

/// `into` takes in `from`, or becomes it. A thread's additions in a step follow each other.
struct addition {
  unsigned thread;  ///< counted through all blocks
  place into, from;
  bool fresh;
};

enum class storage : std::uint8_t { global_memory, shared_memory, registers };

/// What threads do without waiting for each other; each reads what was there before the step.
struct trace_step {
  std::string what;
  std::string_view then;  ///< the barrier that ends it; empty: none
  storage where;
  unsigned threads;  ///< of each block that takes part, at work or idle
  unsigned blocks;
  std::vector<addition> additions;
};

enum class reading : std::uint8_t { in_place, one_tile_each, grid_stride, vectors };
enum class tree : std::uint8_t { neighbored, masked, strided, halving, halving_then_warp, warps, shuffles };
enum class ending : std::uint8_t { second_launch, atomics, last_block };

/// A stage as its trace sees it; where `untraced` says something, it says why there is none.
struct traced_stage {
  std::string_view name;
  reading how = reading::in_place;
  unsigned tiles = 1;  ///< elements of each thread, where a block reads one tile
  tree fold = tree::shuffles;
  ending end = ending::second_launch;
  unsigned example_count = 32, example_block_size = 16;
  std::string_view untraced = {};
};

/// All stages, in the ladder's order.
std::span<const traced_stage> traced_stages();
/// @throws usage_error with a suggestion if there is none of that name
const traced_stage& find_traced_stage(std::string_view name);

struct trace_shape {
  unsigned count, block_size;
  unsigned warp_size = 32;
  unsigned blocks = 2;      ///< for stages with no more blocks than fit on a device at once
  unsigned misaligned = 3;  ///< elements between a 16-byte boundary and the first
};

struct trace {
  const traced_stage* stage;
  trace_shape shape;
  unsigned blocks;
  std::vector<trace_step> steps;
};

/// @throws usage_error if the stage is an untraced one
trace make_trace(const traced_stage& stage, const trace_shape& shape);

/// The shape that was asked for; 0: the stage's example. Blocks of up to 16 threads are a model with warps of 4
/// lanes, so that a page can show them. @throws usage_error if nobody could read it
trace_shape readable_shape(const traced_stage& stage, std::uint64_t count, unsigned block_size);

std::string as_text(const trace& all);
std::string as_svg(const trace& all);

/// The most lanes of a warp that read different words of one bank of shared memory in that step; 0 in other memory.
unsigned bank_conflict(const trace_step& step, unsigned warp_size);

/// The numbers of a run; T{} is nothing, += adds.
template <class T>
class trace_memory {
 public:
  trace_memory(const trace& all, std::vector<T> x) {
    cells_[0] = std::move(x);
    for (const space in : {space::value, space::partial, space::last}) {
      cells_[static_cast<std::size_t>(in)].resize(std::max(1024u, all.blocks * all.shape.block_size));
    }
    cells_[static_cast<std::size_t>(space::total)].resize(1);
  }
  const T& at(const place& p) const { return cells_[static_cast<std::size_t>(p.in)][p.index]; }
  T& at(const place& p) { return cells_[static_cast<std::size_t>(p.in)][p.index]; }

  void run(const trace_step& step) {
    run(step, [](const addition&, const T&, const T&, const T&) {});
  }
  /// see(addition, into before, from, into after)
  template <class See>
  void run(const trace_step& step, See see) {
    const trace_memory before = *this;
    for (const addition& one : step.additions) {
      T& into = at(one.into);
      const T old = into;
      if (one.fresh) into = T{};
      into += before.at(one.from);
      see(one, old, before.at(one.from), into);
    }
  }

 private:
  std::array<std::vector<T>, 5> cells_;
};

}  // namespace fanin::cli
