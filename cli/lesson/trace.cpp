// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/trace.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "backends/cuda/stages/steps.hpp"

namespace fanin::cli {

namespace {

namespace steps = cuda::steps;

using step_function = steps::step (*)(unsigned, unsigned, unsigned);

constexpr std::string_view block_barrier = "a block barrier", warp_barrier = "a warp barrier";

class tracer {
 public:
  tracer(const traced_stage& stage, const trace_shape& shape)
      : all_{&stage, shape, 0, {}}, threads_(shape.block_size), warp_(shape.warp_size) {
    all_.blocks = stage.has_resident_blocks() ? shape.blocks : std::max(1u, (shape.count + tile() - 1) / tile());
    const bool in_registers = stage.fold == tree::shuffles || stage.fold == tree::at_once;
    where_ = in_place() ? storage::global_memory : in_registers ? storage::registers : storage::shared_memory;
  }

  trace run() && {
    read();
    fold();
    finish();
    return std::move(all_);
  }

 private:
  unsigned tile() const { return threads_ * all_.stage->tiles; }
  bool in_place() const { return all_.stage->how == reading::in_place; }

  place first_of(unsigned block) const {
    return in_place() ? place{space::input, block * tile()} : place{space::value, block * threads_};
  }
  /// The number of values that a block's tree folds.
  unsigned values_in(unsigned block) const {
    if (!in_place()) return threads_;
    return std::min(threads_, steps::in_tile(std::uint64_t{block} * tile(), all_.shape.count, tile()));
  }

  trace_step& begin(kernel_part part, std::string what, std::string_view then) {
    return all_.steps.emplace_back(trace_step{std::move(what), then, where_, threads_, all_.blocks, part});
  }
  /// Ends a step. A step without additions is removed.
  void end() {
    if (all_.steps.back().additions.empty()) all_.steps.pop_back();
  }
  static void add(trace_step& step, unsigned thread, place into, place from, bool fresh = false) {
    step.additions.push_back({thread, into, from, fresh});
  }

  /// Adds the elements i, i + stride, ... below `end` to the thread's value, one after the other.
  void take(trace_step& step, unsigned thread, unsigned i, unsigned end, unsigned stride) const {
    for (; i < end; i += stride) add_element(step, thread, i);
  }
  void add_element(trace_step& step, unsigned thread, unsigned i) const {
    const place mine{space::value, thread};
    const bool has_one = !step.additions.empty() && step.additions.back().into == mine;
    add(step, thread, mine, {space::input, i}, !has_one);
  }

  void read() {
    const unsigned count = all_.shape.count, all_threads = all_.blocks * threads_;
    switch (all_.stage->how) {
      case reading::in_place:
        if (all_.stage->tiles > 1) add_tiles();
        return;
      case reading::one_tile_each: {
        trace_step& step = begin(kernel_part::load, "load",
                                 all_.stage->fold == tree::warps ? warp_barrier
                                 : where_ == storage::registers  ? ""
                                                                 : block_barrier);
        for (unsigned thread = 0; thread < all_threads; ++thread) {
          const unsigned begin = thread / threads_ * tile();
          take(step, thread, begin + thread % threads_, std::min(begin + tile(), count), threads_);
        }
        return end();
      }
      case reading::grid_stride: {
        trace_step& step = begin(kernel_part::load, "load, a grid apart", "");
        for (unsigned thread = 0; thread < all_threads; ++thread) take(step, thread, thread, count, all_threads);
        return end();
      }
      case reading::vectors:
        return take_vectors();
      case reading::copies:
        return take_copies();
    }
  }

  void add_tiles() {
    trace_step& step = begin(kernel_part::load, "add the tiles", block_barrier);
    for (unsigned block = 0; block < all_.blocks; ++block) {
      const unsigned size = steps::in_tile(std::uint64_t{block} * tile(), all_.shape.count, tile());
      for (unsigned thread = 0; thread < std::min(size, threads_); ++thread) {
        const unsigned first = first_of(block).index;
        for (unsigned i = thread + threads_; i < size; i += threads_)
          add(step, block * threads_ + thread, {space::input, first + thread}, {space::input, first + i});
      }
    }
    end();
  }

  steps::peeled vectors_of_input() const {
    constexpr unsigned element_bytes = 4;
    return steps::peel(std::uintptr_t{all_.shape.misaligned} * element_bytes, all_.shape.count, element_bytes);
  }
  void take_vectors() {
    const unsigned all_threads = all_.blocks * threads_, count = all_.shape.count;
    const steps::peeled part = vectors_of_input();
    trace_step& step = begin(kernel_part::load, "load 16 bytes at a time; block 0 also adds the ends", "");
    for (unsigned thread = 0; thread < all_threads; ++thread) {
      for (unsigned v = thread; v < part.vectors; v += all_threads)
        take(step, thread, part.head + v * per_vector, part.head + (v + 1) * per_vector, 1);
      if (thread >= threads_) continue;
      if (thread < part.head) add_element(step, thread, thread);
      if (thread < part.tail) add_element(step, thread, count - part.tail + thread);
    }
    end();
  }

  /// The vectors of the block's copy number `round`, the first one and their number.
  std::pair<unsigned, unsigned> copied(unsigned block, unsigned round) const {
    const unsigned first = (round * all_.blocks + block) * all_.shape.piece;
    return {first, steps::in_tile(first, vectors_of_input().vectors, all_.shape.piece)};
  }
  place buffered(unsigned block, unsigned round, unsigned element) const {
    const unsigned buffer = block * all_.shape.buffers + round % all_.shape.buffers;
    return {space::buffer, buffer * all_.shape.piece * per_vector + element};
  }
  void copy(trace_step& step, unsigned round) const {
    for (unsigned block = 0; block < all_.blocks; ++block) {
      const auto [first, vectors] = copied(block, round);
      for (unsigned i = 0; i < vectors * per_vector; ++i)
        add(step, block * threads_, buffered(block, round, i),
            {space::input, vectors_of_input().head + first * per_vector + i}, true);
    }
  }
  void take_copies() {
    const steps::peeled part = vectors_of_input();
    std::set<unsigned> has_one;  // Threads that have added an element.
    const auto add_once = [&](trace_step& step, unsigned thread, place from) {
      add(step, thread, {space::value, thread}, from, has_one.insert(thread).second);
    };
    where_ = storage::shared_memory;
    trace_step& start = begin(kernel_part::copy, "thread 0 starts the first copies", block_barrier);
    for (unsigned round = 0; round < all_.shape.buffers; ++round) copy(start, round);
    end();
    for (unsigned round = 0; copied(0, round).second > 0; ++round) {
      trace_step& step =
          begin(kernel_part::take, fmt::format("wait for buffer {}, and add it", round % all_.shape.buffers),
                block_barrier);
      for (unsigned thread = 0; thread < all_.blocks * threads_; ++thread) {
        const unsigned block = thread / threads_, elements = copied(block, round).second * per_vector;
        for (unsigned i = thread % threads_ * per_vector; i < elements; i += threads_ * per_vector)
          for (unsigned k = 0; k < per_vector; ++k) add_once(step, thread, buffered(block, round, i + k));
      }
      end();
      copy(begin(kernel_part::copy_again,
                 fmt::format("thread 0 starts the next copy to buffer {}", round % all_.shape.buffers), ""),
           round + all_.shape.buffers);
      end();
    }
    where_ = storage::registers;
    trace_step& step = begin(kernel_part::ends, "block 0 adds the ends", "");
    for (unsigned thread = 0; thread < threads_; ++thread) {
      if (thread < part.head) add_once(step, thread, {space::input, thread});
      if (thread < part.tail) add_once(step, thread, {space::input, all_.shape.count - part.tail + thread});
    }
    end();
  }

  void fold() {
    switch (all_.stage->fold) {
      case tree::neighbored:
        return ascending(steps::neighbored);
      case tree::masked:
        return ascending(steps::masked);
      case tree::strided:
        return ascending(steps::strided);
      case tree::halving:
        return halving(1);
      case tree::halving_then_warp:
        halving(2 * warp_);
        return first_warp(warp_);
      case tree::warps:
      case tree::shuffles:
        for (unsigned stride = warp_ / 2; stride > 0; stride /= 2) {
          trace_step& step = begin_warp_level(kernel_part::tree, stride);
          for (unsigned first = 0; first < all_.blocks * threads_; first += warp_)
            level(step, first, {space::value, first}, warp_, stride, warp_, steps::halving);
          end();
        }
        return fold_warps();
      case tree::at_once:
        fold_at_once(begin(kernel_part::tree, "each warp at once", ""), space::value, all_.blocks * threads_, warp_);
        return fold_warps();
    }
  }

  trace_step& begin_warp_level(kernel_part part, unsigned stride) {
    return begin(part, fmt::format("{} {}", where_ == storage::registers ? "shuffle down" : "stride", stride),
                 where_ == storage::registers ? "" : warp_barrier);
  }

  /// The first of each `apart` values takes in the values of the threads after it.
  void fold_at_once(trace_step& step, space array, unsigned values, unsigned apart) {
    step.together = warp_;
    for (unsigned first = 0; first < values; first += apart)
      for (unsigned warp_thread = 1; warp_thread < std::min(warp_, values - first); ++warp_thread)
        add(step, first, {array, first}, {array, first + warp_thread});
    end();
  }

  /// One level of a tree over the values [first, first + size), by `threads` threads that begin with number `thread`.
  static void level(trace_step& step, unsigned thread, place first, unsigned threads, unsigned stride, unsigned size,
                    step_function who) {
    for (unsigned t = 0; t < threads; ++t) {
      const steps::step one = who(t, stride, size);
      if (one.works)
        add(step, thread + t, {first.array, first.index + one.into}, {first.array, first.index + one.from});
    }
  }
  void block_level(trace_step& step, unsigned threads, unsigned stride, step_function who) const {
    for (unsigned block = 0; block < all_.blocks; ++block)
      level(step, block * threads_, first_of(block), threads, stride, values_in(block), who);
  }

  void ascending(step_function who) {
    for (unsigned stride = 1; stride < threads_; stride *= 2) {
      block_level(begin(kernel_part::tree, fmt::format("stride {}", stride), block_barrier), threads_, stride, who);
      end();
    }
  }
  void halving(unsigned least) {
    for (unsigned stride = steps::first_stride(threads_); stride >= least; stride /= 2) {
      block_level(begin(kernel_part::tree, fmt::format("stride {}", stride), block_barrier), threads_, stride,
                  steps::halving);
      end();
    }
  }
  void first_warp(unsigned first_stride) {
    for (unsigned stride = first_stride; stride > 0; stride /= 2) {
      block_level(begin(kernel_part::last_warp, fmt::format("stride {}, the first warp alone", stride), warp_barrier),
                  warp_, stride, steps::halving);
      end();
    }
  }

  /// The first warp of each block folds the values of the first threads of all warps of the block.
  void fold_warps() {
    const unsigned warps = threads_ / warp_;
    if (warps == 1) return;
    all_.steps.back().then = block_barrier;
    trace_step& step = begin(kernel_part::gather, "one value of each warp, to the first",
                             where_ == storage::registers ? "" : warp_barrier);
    for (unsigned block = 0; block < all_.blocks; ++block) {
      const unsigned first = block * threads_;
      for (unsigned warp = 0; warp < warps; ++warp)
        add(step, first + warp, {space::value, first + warp}, {space::value, first + warp * warp_}, true);
    }
    if (all_.stage->fold == tree::at_once) {
      trace_step& next = begin(kernel_part::last_warp, "the first warp at once", "");
      next.together = warp_;
      for (unsigned block = 0; block < all_.blocks; ++block)
        for (unsigned warp = 1; warp < warps; ++warp)
          add(next, block * threads_, {space::value, block * threads_}, {space::value, block * threads_ + warp});
      return;
    }
    for (unsigned stride = warp_ / 2; stride > 0; stride /= 2) {
      trace_step& next = begin_warp_level(kernel_part::last_warp, stride);
      for (unsigned block = 0; block < all_.blocks; ++block) {
        const unsigned first = block * threads_;
        level(next, first, {space::value, first}, warp_, stride, warps, steps::halving);
      }
      end();
    }
  }

  void finish() {
    if (all_.stage->end == ending::atomics) {
      trace_step& step = begin(kernel_part::atomic, "one atomic of each block, in any order", "");
      for (unsigned block = 0; block < all_.blocks; ++block)
        add(step, block * threads_, {space::total, 0}, first_of(block));
      return;
    }
    trace_step& store = begin(kernel_part::partial, "one partial of each block",
                              all_.stage->end == ending::last_block     ? "a count of the blocks that are done"
                              : all_.stage->end == ending::grid_barrier ? "a barrier for the grid"
                                                                        : "the end of the launch");
    for (unsigned block = 0; block < all_.blocks; ++block)
      if (values_in(block) > 0) add(store, block * threads_, {space::partial, block}, first_of(block), true);
    fold_partials();
  }

  /// One block folds the partials, in the order of block_fold() in backends/cuda.
  void fold_partials() {
    const bool same_launch = all_.stage->end != ending::second_launch;
    const bool at_once = same_launch && all_.stage->fold == tree::at_once;
    const unsigned partials = all_.blocks, widest = std::min(1024u, warp_ * warp_);
    const unsigned threads =
        same_launch ? threads_ : std::clamp((partials + warp_ - 1) / warp_ * warp_, warp_, widest);
    const unsigned values = std::min(partials, threads);
    where_ = storage::registers;
    const auto begin_last = [&](std::string what) -> trace_step& {
      trace_step& step = begin(same_launch ? kernel_part::last_block : kernel_part::next_kernel, std::move(what), "");
      step.threads = threads;
      step.blocks = 1;
      return step;
    };
    trace_step& load = begin_last(all_.stage->end == ending::grid_barrier ? "block 0: the partials"
                                  : same_launch                           ? "last block: the partials"
                                                                          : "second launch: the partials");
    for (unsigned thread = 0; thread < values; ++thread)
      for (unsigned p = thread; p < partials; p += threads)
        add(load, thread, {space::last, thread}, {space::partial, p}, p == thread);

    const auto fold = [&](unsigned groups, unsigned apart, unsigned in_all) {
      if (at_once) return fold_at_once(begin_last("each warp at once"), space::last, in_all, apart);
      for (unsigned stride = warp_ / 2; stride > 0; stride /= 2) {
        trace_step& step = begin_last(fmt::format("shuffle down {}", stride));
        for (unsigned first = 0; first < groups * apart && first < in_all; first += apart)
          level(step, first, {space::last, first}, warp_, stride, std::min(warp_, in_all - first), steps::halving);
        end();
      }
    };
    const unsigned warps = (values + warp_ - 1) / warp_;
    fold(warps, warp_, values);
    if (warps > 1) {
      trace_step& step = begin_last("one value of each warp, to the first");
      for (unsigned warp = 0; warp < warps; ++warp)
        add(step, warp, {space::last, warp}, {space::last, warp * warp_}, true);
      fold(1, warp_, warps);
    }
    add(begin_last("the result"), 0, {space::total, 0}, {space::last, 0}, true);
  }

  static constexpr unsigned per_vector = 4;  // elements
  trace all_;
  unsigned threads_, warp_;
  storage where_;
};

}  // namespace

std::string_view to_string(space array) {
  constexpr std::string_view names[] = {"x", "value", "buffer", "partial", "last", "total"};
  return names[static_cast<std::size_t>(array)];
}

trace make_trace(const traced_stage& stage, const trace_shape& shape) { return tracer(stage, shape).run(); }

unsigned places_of(const trace& all, space array) {
  unsigned size = 0;
  for (const trace_step& step : all.steps) {
    for (const addition& one : step.additions) {
      for (const place& p : {one.from, one.into}) size = std::max(size, p.array == array ? p.index + 1 : 0);
    }
  }
  return size;
}

unsigned bank_conflict(const trace_step& step, unsigned warp_size) {
  if (step.where != storage::shared_memory) return 0;
  std::map<std::pair<unsigned, unsigned>, unsigned> readers;  // Number of reading threads by warp and bank.
  unsigned worst = 0;
  for (const addition& one : step.additions) {
    if (one.from.array != space::value) continue;
    worst = std::max(worst, ++readers[{one.thread / warp_size, one.from.index % warp_size}]);
  }
  return worst;
}

}  // namespace fanin::cli
