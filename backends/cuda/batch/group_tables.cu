// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/batch/group_tables.hpp"

#include <algorithm>
#include <bit>

#include "backends/cuda/batch/add_tiles.cuh"
#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/batch/group_bins.cuh"
#include "backends/cuda/batch/group_finish.cuh"
#include "backends/cuda/batch/group_tables.cuh"
#include "backends/cuda/batch/groups.hpp"
#include "backends/cuda/fold/ending.hpp"
#include "backends/cuda/runtime/shared_memory.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {
namespace {

/// Up to this number of bins, blocks read the input once for each bin. For more bins the elements are sorted.
constexpr std::uint32_t most_passes = 3;
/// There is room to spill one element in so many.
constexpr std::uint64_t elements_of_spill = 256;

/// Writes the value of each group, or adds the group to its result.
template <class T>
__global__ void __launch_bounds__(tuning::spill_threads, sizeof(T) == 4 ? 4 : 1)
    write_group_results(const __grid_constant__ group_sums<T> from, const __grid_constant__ batch_output out,
                        const detail::number_format to, unsigned bytes, bool adds) {
  overlap_with_next_launch();
  for (std::uint64_t g = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; g < from.groups;
       g += std::uint64_t{gridDim.x} * blockDim.x) {
    if (adds) {
      out.result == element_type::f64 ? add_group<T, double>(from, g, out) : add_group<T, T>(from, g, out);
      continue;
    }
    value_of_group found = finished_group(from, g, out.value, to);
    if (takes_empty(out, g, found.count, false)) found.bits = load_word(out.empty, bytes, 0);
    store_word(out.results, bytes, g, found.bits);
  }
}

/// Calls f(T()) with the type of numbers that holds the terms of a request: double for squares.
template <class F>
auto with_numbers(const request& request, const F& f) {
  const element_type type = request.inputs.type();
  return type == element_type::f64 || row_of(request.what).adds == summand::squares ? f(double()) : f(float());
}

/// Launches the kernels of a call.
template <class T>
class table_launches {
 public:
  table_launches(const execution& where, const request& request, const batch& groups, const group_sums<T>& sums,
                 batch_status* status)
      : where_(where), sums_(sums), from_{words_of(groups, status), rule_of(request.what, request.inputs.type())} {}

  void choose(const bin_map& bins) const {
    launch(1, tuning::window_threads, 0, choose_window<T>, from_, sums_, bins);
  }
  void add(const table_shape& shape, unsigned blocks) const {
    const std::size_t bytes = bytes_of_table(shape);
    const auto kernel = adding_kernel();
    allow_shared(kernel, bytes);
    launch(blocks, tuning::table_threads, bytes, kernel, from_, sums_, shape);
  }
  /// Each block reads its share of the elements for one bin.
  void add_directly(const table_shape& shape) const {
    const unsigned parts = std::max(1u, multiprocessors() / shape.bins);
    add(shape, parts * shape.bins);
  }
  /// Adds where sampled keys ascend by bins, up to the first key that does not.
  void add_in_order(table_shape shape) const {
    shape.when = run_if::in_order;
    add(shape, multiprocessors());
  }
  void find_order(const table_shape& shape, const bin_map& bins, std::uint64_t* begins) const {
    launch(1, tuning::most_bins, 0, find_begins<T>, from_, sums_, bins, begins);
    add_in_order(shape);
    launch(multiprocessors(), tuning::clear_threads, 0, start_again<T>, sums_);
  }
  void sort_by_bins(const bin_map& bins, const sorted_tiles<T>& tiles, std::uint64_t* begins) const {
    const auto sort = from_.key_bytes == 4 ? sort_tiles<T, std::uint32_t> : sort_tiles<T, std::uint64_t>;
    allow_shared(sort, sizeof(tile_stage<T>));
    launch(tiles.count, tuning::sort_threads, sizeof(tile_stage<T>), sort, from_, sums_, bins, tiles);
    launch(bins.count, start_threads, 0, find_starts<T>, tiles, sums_.notes, begins);
  }
  void add_sorted(const table_shape& shape, const sorted_tiles<T>& tiles) const {
    // Pieces of mean length take one step.
    const unsigned piece_threads = std::bit_ceil(tile_elements<T> / shape.bins / tuning::piece_loads<T>);
    const std::size_t bytes = bytes_of_table(shape);
    allow_shared(add_tiles<T>, bytes);
    launch(multiprocessors(), tuning::table_threads, bytes, add_tiles<T>, tiles, sums_, shape,
           std::clamp(piece_threads, 8u, 32u));
  }
  void clear_windows() const { launch(multiprocessors(), tuning::spill_threads, 0, clear_more_windows<T>, sums_); }
  void finish(const request& request, const batch_output& out) const {
    const unsigned blocks = multiprocessors() * 8, threads = tuning::spill_threads;
    launch(blocks, threads, 0, make_wide_sums<T>, from_, sums_, out, request.adds);
    launch(blocks, threads, 0, add_to_wide_sums<T>, from_, sums_);
    launch(blocks, threads, 0, mark_groups<T>, from_, sums_);
    const unsigned of_results = tuning::result_threads(sums_.groups);
    launch(blocks_for(where_, sums_.groups / of_results + 1), of_results, 0, write_group_results<T>, sums_, out,
           format_of(request.result), static_cast<unsigned>(byte_size(request.result)), request.adds);
  }

 private:
  template <class... Parameters, class... Arguments>
  void launch(unsigned blocks, unsigned threads, std::size_t shared_bytes, void (*kernel)(Parameters...),
              const Arguments&... arguments) const {
    launch_overlapped(where_, blocks, static_cast<int>(threads), shared_bytes, kernel, arguments...);
  }
  /// Elements that are added as they are have kernels of their own, which are faster.
  auto adding_kernel() const {
    const bool is_plain = from_.word_bytes == sizeof(T) && !from_.rule.magnitudes && !from_.rule.squares;
    if (!is_plain) return add_to_tables<T, void>;
    return from_.key_bytes == 4 ? add_to_tables<T, std::uint32_t> : add_to_tables<T, std::uint64_t>;
  }
  std::size_t bytes_of_table(const table_shape& shape) const {
    const std::size_t words = group_window<T>::words + (sums_.counts != nullptr && shape.window == 0 ? 1 : 0);
    return (words * sizeof(unsigned) * shape.in_bin) << shape.copies_log2;
  }
  unsigned multiprocessors() const { return static_cast<unsigned>(where_.multiprocessors); }

  const execution& where_;
  const group_sums<T>& sums_;
  const keyed_numbers<T> from_;
};

/// Arrays in device memory of a call: `sums` has pointers to the others.
template <class T>
struct table_memory {
  group_sums<T> sums;
  std::uint64_t* bin_begins;
  sorted_tiles<T> sorted;
  std::byte* cleared;  ///< the first of cleared_bytes bytes that are to be 0
  std::size_t cleared_bytes;
};

std::uint64_t most_wide_sums(const batch& groups) {
  return std::min<std::uint64_t>(groups.result_count, groups.inputs.count());
}

template <class T>
table_memory<T> take_memory(scratch_pieces& scratch, const batch& groups, std::uint32_t bins, bool counted) {
  const std::size_t count = groups.inputs.count(), group_count = groups.result_count;
  table_memory<T> taken{};
  const std::size_t before = scratch.taken_bytes();
  taken.cleared = scratch.take<std::byte>(0);
  taken.sums.notes = scratch.take<group_notes>(sizeof(group_notes));
  taken.sums.marks = scratch.take<std::uint32_t>(group_count * sizeof(std::uint32_t));
  if (counted) taken.sums.counts = scratch.take<unsigned long long>(group_count * sizeof(std::uint64_t));
  if (bins > most_passes) taken.sorted.totals = scratch.take<unsigned long long>(bins * sizeof(std::uint64_t));
  const std::size_t words_bytes = group_window<T>::words * group_count * sizeof(std::uint64_t);
  taken.cleared_bytes = scratch.taken_bytes() - before + words_bytes;
  taken.sums.words = scratch.take<unsigned long long>(window_count * words_bytes);
  taken.sums.wide = scratch.take<wide_sum<T>>(most_wide_sums(groups) * sizeof(wide_sum<T>));
  taken.sums.most_spills = count / elements_of_spill + 1024;
  taken.sums.spills = scratch.take<spilled<T>>(taken.sums.most_spills * sizeof(spilled<T>));
  if (bins > 1) taken.bin_begins = scratch.take<std::uint64_t>((bins + std::size_t{1}) * sizeof(std::uint64_t));
  if (bins > most_passes) {
    const std::size_t tiles = count / tile_elements<T> + 1, elements = tiles * tile_elements<T>;
    taken.sorted.count = static_cast<unsigned>(tiles);
    taken.sorted.places = scratch.take<std::uint16_t>((bins + 1) * tiles * sizeof(std::uint16_t));
    taken.sorted.starts = scratch.take<std::uint64_t>((bins * tiles + 1) * sizeof(std::uint64_t));
    taken.sorted.keys = scratch.take<std::uint16_t>(elements * sizeof(std::uint16_t));
    taken.sorted.x = scratch.take<T>(elements * sizeof(T));
  }
  return taken;
}

}  // namespace

bool group_tables::serve(const request& request, const batch& groups, const execution& where) {
  constexpr std::size_t least_bytes = std::size_t{1} << 28;
  constexpr std::size_t least_shared_bytes = std::max(sizeof(tile_stage<float>), sizeof(tile_stage<double>));
  if (request.method != method::exact || !has_exact_tables(request)) return false;
  if (request.adds && byte_size(request.inputs.type()) == 2) return false;
  if (is_partial(groups.inputs, request.nan)) return false;
  if (groups.result_count > bin_map::most_groups || most_shared_bytes(where.device) < least_shared_bytes)
    return false;
  // The sort by bins moves elements of the type that sums have.
  const std::size_t number_bytes = with_numbers(request, []<class T>(T) { return sizeof(T); });
  const std::uint32_t bins = group_tables(request, groups, where).bins_.count;
  if (bins >= tuning::most_bins || (bins > most_passes && byte_size(request.inputs.type()) != number_bytes))
    return false;
  // Wide sums take no more memory than a sort.
  const std::size_t wide_bytes =
      most_wide_sums(groups) * with_numbers(request, []<class T>(T) { return sizeof(wide_sum<T>); });
  return wide_bytes <= std::max(least_bytes, groups.inputs.count() * 16);
}

group_tables::group_tables(const request& request, const batch& groups, const execution& where)
    : request_(request), groups_(groups), counted_(is_quotient(row_of(request.what).value)) {
  const std::size_t words = with_numbers(request, []<class T>(T) { return group_window<T>::words; });
  constexpr std::size_t least_static_bytes = 1 << 10;
  most_in_table_ = static_cast<std::uint32_t>((most_shared_bytes(where.device) - least_static_bytes) /
                                              ((words + (counted_ ? 1 : 0)) * sizeof(unsigned)));
  const auto count = static_cast<std::uint32_t>(groups.result_count);
  bins_.units = std::min(most_in_table_ >> bin_map::unit_bits, bin_map::most_units);
  bins_.reciprocal = (1u << 16) / bins_.units + 1;
  bins_.count = (count - 1) / bins_.groups_of_bin() + 1;
}

std::size_t group_tables::scratch_bytes() const {
  scratch_pieces none;
  with_numbers(request_, [&]<class T>(T) { take_memory<T>(none, groups_, bins_.count, counted_); });
  return none.taken_bytes();
}

void group_tables::enqueue(scratch_pieces& scratch, const execution& where, const batch_output& out) const {
  with_numbers(request_, [&]<class T>(T) {
    table_memory<T> memory = take_memory<T>(scratch, groups_, bins_.count, counted_);
    memory.sums.groups = static_cast<std::uint32_t>(groups_.result_count);
    memory.sums.spare_bits = spare_bits_of<T>(rule_of(request_.what, request_.inputs.type()));
    check(cudaMemsetAsync(memory.cleared, 0, memory.cleared_bytes, where.stream), "cudaMemsetAsync");
    const std::uint32_t in_bin = std::min(memory.sums.groups, bins_.groups_of_bin());
    const bool has_bins = bins_.count > 1, is_sorted = bins_.count > most_passes;
    table_shape direct{bins_.count, in_bin, 0, nullptr, has_bins ? run_if::scattered : run_if::always, 0};
    while (direct.copies_log2 < 5 && in_bin << (direct.copies_log2 + 1) <= most_in_table_) ++direct.copies_log2;
    const table_launches<T> launches(where, request_, groups_, memory.sums, out.status);
    table_shape by_bins = direct;
    by_bins.bin_begins = memory.bin_begins;
    launches.choose(bins_);
    if (has_bins) launches.find_order(by_bins, bins_, memory.bin_begins);
    if (is_sorted) launches.sort_by_bins(bins_, memory.sorted, memory.bin_begins);
    for (int window = 0; window < window_count; ++window) {
      direct.window = by_bins.window = window;
      if (window == 1) launches.clear_windows();
      if (has_bins && window > 0) launches.add_in_order(by_bins);
      is_sorted ? launches.add_sorted(by_bins, memory.sorted) : launches.add_directly(direct);
    }
    launches.finish(request_, out);
  });
}

}  // namespace fanin::cuda
