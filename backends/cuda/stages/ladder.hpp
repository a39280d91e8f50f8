// SPDX-License-Identifier: Apache-2.0
// The ladder: the CUDA stages of the lesson in their order, each improving on the one it builds on. One table, which
// tests, benchmarks and `fanin ladder` enumerate. Plain C++: a stream is a cudaStream_t as void*.
//
//   const auto plan = plan_stage(stage, operation::sum, element_type::f32, count, 256);
//   // allocate plan.workspace_bytes and plan.state_bytes on the device, both aligned to 256 bytes
//   prepare_stage(plan, data, workspace, stream);               // not timed: the copy of stages that work in place
//   run_stage(plan, data, workspace, state, nullptr, stream);   // timed
//   stage_value(plan, host_copy_of_state)                       // the result
//
// Threads: all functions may be called concurrently; a workspace serves one run at a time.
// Current device: plan, prepare and run must see the same one.   @throws device_error wherever a device call fails
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cuda {

/// Every stage has sums; the stage `shared-mask` has sums of squares too.
inline constexpr operation ladder_operations[] = {operation::sum, operation::sum_of_squares};
inline constexpr element_type ladder_types[] = {element_type::f32, element_type::f64, element_type::i32};

/// The description of a stage. The head of its file says more.
struct stage_text {
  int number;  ///< the number in its file's name
  std::string_view name;
  std::string_view builds_on;   ///< name of another stage; empty for the first
  std::string_view story;       ///< one line: the idea
  std::string_view needs = {};  ///< beyond a device; empty: nothing
};

/// How the partials of the blocks become one state.
enum class stage_ending : std::uint8_t {
  second_step,  ///< the common kernel folds them, in order
  atomics,      ///< each block merges its own into the result, which the common kernel has set to the identity
  none,         ///< inside the stage's kernel
};

/// The device code of a stage for one operation and element type.
struct stage_kernel {
  int architecture = 0;                             ///< least compute capability, as 75 for 7.5; 0: not served
  const void* (*kernel)(unsigned block) = nullptr;  ///< for cudaFuncGetAttributes and the like
  const void* finish = nullptr;                     ///< the second step
  const void* copy = nullptr;                       ///< the input as states; null unless the stage works in place
  unsigned state_bytes = 0;
  std::uint64_t longest = 0;  ///< the most elements that one state holds
  scalar (*value)(const void* state, std::uint64_t count) = nullptr;
  error_bound (*bound)(const rounding_chain& chain, std::uint64_t count) = nullptr;
};
/// The kernels of one element type, in the order of ladder_operations. The arrays of the types have the order of
/// ladder_types.
using stage_kernels = std::array<stage_kernel, std::size(ladder_operations)>;

/// A row of the table. Block sizes passed to its functions are results of `rounded`.
struct stage_info {
  stage_text text;
  fanin::reproducibility reproducibility;  ///< holds for sums of floats; sums of integers are exact
  stage_ending ending;
  bool in_place;        ///< works on a copy of the input as states, made by prepare_stage
  bool cooperative;     ///< needs a cooperative launch
  bool resident;        ///< no more blocks than fit on the device at once
  unsigned block_size;  ///< the one to use until another is asked for
  unsigned (*rounded)(unsigned block);
  unsigned (*tile)(unsigned block, unsigned element_bytes);  ///< elements for each block and round
  unsigned tiles_under_way;  ///< tiles that a block requests before it folds the first
  std::size_t (*shared_bytes)(unsigned block, unsigned state_bytes);  ///< dynamic shared memory
  std::array<stage_kernels, std::size(ladder_types)> kernels;

  const stage_kernel& at(operation what, element_type type) const;
};

/// All stages, in order.
std::span<const stage_info> stages();

/// The stage of that name. @throws invalid_argument if there is none
const stage_info& find_stage(std::string_view name);

/// One stage, ready to run over any `count` elements of a type on the device that was current.
struct stage_plan {
  const stage_info* stage;
  const stage_kernel* code;
  std::uint64_t count;
  unsigned blocks;  ///< also the number of partials
  unsigned block_size;
  unsigned blocks_per_multiprocessor;  ///< the blocks that fit at once
  std::size_t shared_bytes;            ///< dynamic shared memory
  std::uint64_t chain;                 ///< no element passes through more operations than this
  unsigned state_bytes;
  std::size_t workspace_bytes;

  /// The function that runs, for cudaFuncGetAttributes.
  const void* kernel() const { return code->kernel(block_size); }

  /// The bound on the error of the value.
  error_bound bound() const { return code->bound({static_cast<double>(chain), 0}, count); }
};

/// Asks the device once for each kernel and block size; from then on that is a look-up.
/// `block_size` 0 takes the stage's own; others are rounded up to a multiple of 32 and then as the stage needs.
/// @throws unsupported       the stage does not serve operation and type, or needs another device or build
/// @throws invalid_argument  a block size over 1024; more elements than a state holds: 2^32 for a sum of i32 (sum the
/// parts instead)
stage_plan plan_stage(const stage_info& stage, operation what, element_type type, std::uint64_t count,
                      unsigned block_size = 0);

/// Makes the workspace ready: before the first run, and for stages in place before every run.
void prepare_stage(const stage_plan& plan, const void* data, void* workspace, void* stream);

/// Folds data[0, count) into the state at `state`. All pointers are to device memory; data is aligned to its element.
/// `cycles` is null or has one place for each block, for the clock cycles it took. May be captured in a graph.
void run_stage(const stage_plan& plan, const void* data, void* workspace, void* state, long long* cycles,
               void* stream);

/// The value of a state that was copied to the host, as fanin::reduce returns it.
/// @throws overflow if the sum of the squares of integers does not fit in i64
scalar stage_value(const stage_plan& plan, const void* state);

/// The resources that one block of the plan's kernel takes.
struct stage_resources {
  int registers;                    ///< per thread
  std::size_t static_shared_bytes;  ///< the plan has the dynamic part
  std::size_t local_bytes;          ///< per thread; not 0 where registers spill
  unsigned suggested_block_size;    ///< by cudaOccupancyMaxPotentialBlockSize
};
stage_resources resources_of(const stage_plan& plan);

}  // namespace fanin::cuda
