// SPDX-License-Identifier: Apache-2.0
// Traces of the ladder's stages: the additions of every thread in every step. The traces are made on the CPU by the
// index functions that the kernels call (backends/cuda/stages/steps.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fanin::cli {

/// The arrays in which a stage keeps numbers.
enum class space : std::uint8_t {
  input,    ///< the elements, or the copy of them that stages in place overwrite
  value,    ///< one number per thread of each block, in shared memory or a register
  buffer,   ///< the elements that bulk copies bring to shared memory
  partial,  ///< one number per block
  last,     ///< one number per thread of the block that folds the partials
  total,
};
std::string_view to_string(space array);

struct place {
  space array;
  unsigned index;
  auto operator<=>(const place&) const = default;
};
/// The place as in "value[3]".
std::string to_string(const place& p);

/// The thread executes `into = from` if `fresh`, else `into += from`. It executes its additions of a step in order.
struct addition {
  unsigned thread;  ///< number of the thread in the grid
  place into, from;
  bool fresh;
};

enum class storage : std::uint8_t { global_memory, shared_memory, registers };
/// The storage as in "in shared memory".
std::string_view to_string(storage where);

/// The part of a kernel that executes a step.
enum class kernel_part : std::uint8_t {
  load,
  copy,        ///< starts copies
  copy_again,  ///< starts the copy that takes the place of one that has been added
  take,        ///< adds what a copy has brought
  ends,        ///< adds the elements that are in no whole vector
  tree,        ///< a level of a tree of the block, or of every warp
  gather,      ///< moves the sums of the warps to the first warp
  last_warp,   ///< a level of the first warp alone
  partial,     ///< stores the block's partial
  atomic,
  last_block,   ///< adds the partials in the same launch
  next_kernel,  ///< adds them in another kernel
};

/// The additions between two barriers. Every thread reads the values from before the step.
struct trace_step {
  std::string what;
  std::string_view then;  ///< the barrier that ends the step, or empty
  storage where;
  unsigned threads;  ///< threads of each of the `blocks`, the idle threads included
  unsigned blocks;
  kernel_part part;
  unsigned together = 1;  ///< threads that execute an addition of the first of them together
  std::vector<addition> additions{};
};

enum class reading : std::uint8_t { in_place, one_tile_each, grid_stride, vectors, copies };
/// `at_once` adds all values of a warp in one step: only the library or the instruction knows in which order.
enum class tree : std::uint8_t { neighbored, masked, strided, halving, halving_then_warp, warps, shuffles, at_once };
enum class ending : std::uint8_t { second_launch, atomics, grid_barrier, last_block };

/// The properties of a stage that its trace depends on.
struct traced_stage {
  std::string_view name;
  reading how = reading::in_place;
  unsigned tiles = 1;  ///< elements per thread, where a block reads one tile
  tree fold = tree::shuffles;
  ending end = ending::second_launch;
  unsigned example_count = 32, example_block_size = 16, example_blocks = 2;

  /// Whether the additions have the order of the kernel's.
  bool has_order() const { return fold != tree::at_once && end != ending::atomics; }
  /// Whether the stage launches as many blocks as are asked for, and not one for each part of the input.
  bool has_resident_blocks() const { return how != reading::in_place && how != reading::one_tile_each; }
};

/// All stages in the ladder's order.
std::span<const traced_stage> traced_stages();
/// @throws usage_error if there is no stage of that name; the message suggests one
const traced_stage& find_traced_stage(std::string_view name);

struct trace_shape {
  unsigned count, block_size;
  unsigned warp_size = 32;
  unsigned blocks = 2;      ///< number of blocks of a stage that launches resident blocks only
  unsigned misaligned = 3;  ///< elements between a 16-byte boundary and the first element
  unsigned piece = 2048;    ///< vectors of 16 bytes that one bulk copy brings
  unsigned buffers = 6;     ///< copies of a block that are under way at once
};

struct trace {
  const traced_stage* stage;
  trace_shape shape;
  unsigned blocks;
  std::vector<trace_step> steps;
};

trace make_trace(const traced_stage& stage, const trace_shape& shape);

/// The shape of a trace. If `count` or `block_size` is 0, the number of the stage's example is taken. Blocks of up
/// to 16 threads have warps of 4 threads, so that a page can show them. @throws usage_error if the trace would be
/// too long
trace_shape readable_shape(const traced_stage& stage, std::uint64_t count, unsigned block_size);

std::string as_text(const trace& all);
std::string as_svg(const trace& all);

/// An addition with the values that it computed, as in "value[4] += value[6]    11 + 15 = 26".
std::string text_of(const addition& one, std::int64_t into, std::int64_t from, std::int64_t after);

/// The size of an array that holds all places of the trace.
unsigned places_of(const trace& all, space array);

/// The numbers of the threads that work in this step.
std::set<unsigned> working_threads(const trace_step& step);
/// The working threads, as in "4 of 16 threads work; 2 warps are partly idle".
std::string count_of_threads(const trace_step& step, unsigned warp_size);

/// The largest number of threads of one warp that read different words of the same bank of shared memory in this
/// step. 0 if the step does not use shared memory.
unsigned bank_conflict(const trace_step& step, unsigned warp_size);
/// The banks that the threads of the first warp read, and the worst bank conflict of all warps. Empty if the step
/// does not use shared memory, or if the first warp has one working thread.
std::string banks_read(const trace_step& step, unsigned warp_size);

/// The numbers that a trace computes with. T{} is the neutral element of +=.
template <class T>
class trace_memory {
 public:
  trace_memory(const trace& all, std::vector<T> x) {
    cells_[0] = std::move(x);
    for (const space array : {space::value, space::partial, space::last}) {
      cells_[static_cast<std::size_t>(array)].resize(std::max(1024u, all.blocks * all.shape.block_size));
    }
    cells_[static_cast<std::size_t>(space::buffer)].resize(places_of(all, space::buffer));
    cells_[static_cast<std::size_t>(space::total)].resize(1);
  }
  const T& at(const place& p) const { return cells_[static_cast<std::size_t>(p.array)][p.index]; }
  T& at(const place& p) { return cells_[static_cast<std::size_t>(p.array)][p.index]; }

  void run(const trace_step& step) {
    run(step, [](const addition&, const T&, const T&, const T&) {});
  }
  /// Executes a step, and calls see(addition, into before, from, into after) for each addition.
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
  std::array<std::vector<T>, 6> cells_;
};

/// The memory before the first step, with the elements x[i] = i + 1.
trace_memory<std::int64_t> numbered_memory(const trace& all);

}  // namespace fanin::cli
