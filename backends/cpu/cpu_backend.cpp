// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_backend.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <fanin/environment.hpp>
#include <fanin/error.hpp>

#include "backends/checks.hpp"
#include "backends/cpu/batch/log_sum_groups.hpp"
#include "backends/cpu/batch/reduce_batch.hpp"
#include "backends/cpu/blocks.hpp"
#include "backends/cpu/presence.hpp"
#include "backends/cpu/state_memory.hpp"
#include "backends/recipe_functions.hpp"
#include "base/threads.hpp"

namespace fanin::cpu {
namespace {

constexpr variant_info shipped[] = {
    {"simd", method::fast, "vectors in pieces of 8 KiB, merged along a fixed binary tree", ""},
    {"compensated", method::compensated, "as above, and the rounding errors are added up too", ""},
    {"exact", method::exact, "fixed-point number with the whole range of exponents, rounded once", ""},
};
constexpr std::string_view own_accumulator_variant = "general-loop";

const arithmetic& arithmetic_of(const request& request) { return *static_cast<const arithmetic*>(request.prepared); }

operands operands_of(const input_views& inputs) {
  return {inputs[0].data, inputs.size() == 2 ? inputs[1].data : nullptr};
}

/// State memory that the calling thread keeps from one call to its next. A call from within an accumulator's add()
/// finds none, and takes its own.
class kept_memory {
 public:
  kept_memory() : memory_(std::exchange(kept(), {})) {}
  ~kept_memory() { kept() = std::move(memory_); }
  kept_memory(const kept_memory&) = delete;
  kept_memory& operator=(const kept_memory&) = delete;
  state_memory* operator->() { return &memory_; }

 private:
  static state_memory& kept() {
    thread_local state_memory memory;
    return memory;
  }
  state_memory memory_;
};

/// Room for one state of any accumulator: on the stack for recipes, else from the heap.
class one_state {
 public:
  explicit one_state(const arithmetic& arithmetic) {
    if (arithmetic.state_bytes > sizeof(state_buffer)) bytes_ = large_.get(arithmetic.state_bytes);
  }
  std::byte* get() { return bytes_; }

 private:
  state_buffer small_;
  state_memory large_;
  std::byte* bytes_ = small_.bytes;
};

/// The arithmetic of groups whose elements are added one after another; nothing if the request's own is for groups
/// too.
std::optional<arithmetic> arithmetic_of_groups(const request& request) {
  const recipe_functions& recipe = functions_of_groups(request);
  const bool is_log_sum = row_of(request.what).adds == summand::exponentials;
  if (recipe.single == nullptr && !is_log_sum) return std::nullopt;
  arithmetic f = request.adds ? *recipe.addition : recipe.arithmetic;
  f.one_by_one = true;
  f.reduce = nullptr;
  f.reduce_each = nullptr;
  if (is_log_sum) {
    add_log_sums_in_order(request.inputs.type(), f);
    return f;
  }
  f.state_bytes = recipe.single->state_bytes;
  f.reset = recipe.single->reset;
  f.accumulate = recipe.single->accumulate;
  f.merge = recipe.single->merge;
  f.finish = request.adds ? recipe.add_single : recipe.finish_single;
  return f;
}

outcome outcome_of(const request& request, std::size_t count, std::uint64_t absent = 0) {
  const arithmetic& arithmetic = arithmetic_of(request);
  return {request.variant, request.method, arithmetic.reproducibility, arithmetic.bound_of(count, request.result),
          absent};
}

/// Whether the calling thread folds the input without help.
bool folds_alone(const arithmetic& arithmetic, std::size_t count, unsigned threads) {
  return threads == 1 || count <= arithmetic.leaf_elements || count < parallel_bytes / arithmetic.element_bytes;
}

/// Collects pushed elements into blocks of whole leaves, so that each leaf has the elements that it would have if the
/// input were one array. Where order does not matter, a push that is long enough for threads is folded where it lies.
class block_stream final : public stream {
 public:
  block_stream(const cpu_backend& backend, const request& request)
      : backend_(backend),
        request_(request),
        arithmetic_(arithmetic_of(request)),
        block_(leaves_in_block * arithmetic_.leaf_elements),
        present_(request),
        total_(arithmetic_),
        part_(arithmetic_),
        tree_(arithmetic_, levels_.get(partial_tree::most_levels * state_stride(arithmetic_))) {
    arithmetic_.reset(total_.get());
  }

  void push(const input_views& blocks) override {
    if (!arithmetic_.in_leaves() && blocks.count() * arithmetic_.element_bytes >= parallel_bytes) {
      return fold_in_place(blocks);
    }
    if (!is_partial(blocks, request_.nan)) {
      present_.pass(blocks);
      return push_all(blocks);
    }
    present_.push(blocks, [this](const input_views& part) { push_all(part); });
  }

  outcome finish(void* result) override {
    if (pending_count_ > 0) flush();
    if (arithmetic_.in_leaves()) tree_.finish(total_.get());
    const std::uint64_t count = position(), absent = present_.absent() + absent_in_place_;
    finish_present(request_, present_.rule(), count, count - absent, total_.get(), result);
    return outcome_of(request_, count, absent);
  }

 private:
  static constexpr std::size_t leaves_in_block = 2048;

  /// The position of the next element that is folded.
  std::uint64_t position() const { return folded_count_ + present_.left_out(); }

  void fold_in_place(const input_views& blocks) {
    if (pending_count_ > 0) flush();
    // A fold looks up the mask by the position in the whole input. The blocks are the next part of the input.
    const presence who{present_.rule(), blocks.mask().from(0 - position())};
    fold_block(operands_of(blocks), blocks.count(), is_partial(blocks, request_.nan) ? &who : nullptr);
  }

  void push_all(const input_views& blocks) {
    operands data = operands_of(blocks);
    std::size_t remaining = blocks.count();
    while (remaining > 0) {
      std::size_t n = std::min(remaining, block_ - pending_count_);
      if (n == block_) {
        fold_block(data, n);
      } else {
        append(0, data.x, n);
        if (arithmetic_.inputs == 2) append(1, data.y, n);
        pending_count_ += n;
        if (pending_count_ == block_) flush();
      }
      data = operands_from(data, n, arithmetic_.element_bytes);
      remaining -= n;
    }
  }

  void append(int input, const void* elements, std::size_t count) {
    const auto* bytes = static_cast<const std::byte*>(elements);
    pending_[input].insert(pending_[input].end(), bytes, bytes + count * arithmetic_.element_bytes);
  }

  void flush() {
    fold_block({pending_[0].data(), pending_[1].data()}, pending_count_);
    for (auto& elements : pending_) elements.clear();
    pending_count_ = 0;
  }

  void fold_block(operands data, std::size_t count, const presence* who = nullptr) {
    data.first = position();
    absent_in_place_ += count - backend_.fold_parallel(arithmetic_, data, count, request_.threads, part_.get(), who);
    if (arithmetic_.in_leaves()) {
      tree_.push(part_.get());
    } else {
      arithmetic_.merge(total_.get(), part_.get());
    }
    folded_count_ += count;
  }

  const cpu_backend& backend_;
  request request_;
  const arithmetic& arithmetic_;
  std::size_t block_;
  present_blocks present_;
  one_state total_, part_;
  state_memory levels_;
  partial_tree tree_;
  std::vector<std::byte> pending_[most_inputs];
  std::size_t pending_count_ = 0;
  std::uint64_t folded_count_ = 0, absent_in_place_ = 0;
};

}  // namespace

std::uint64_t fold_one_part(const arithmetic& arithmetic, const presence* who, const operands& data,
                            std::size_t count, void* state) {
  if (!arithmetic.in_leaves()) arithmetic.reset(state);
  if (who != nullptr) return accumulate_present(arithmetic, who->rule, who->mask, data, count, state);
  arithmetic.accumulate(data, count, state);
  return count;
}

void reduce_alone(const arithmetic& arithmetic, const operands& data, std::size_t count, element_type result,
                  void* out) {
  if (arithmetic.reduce != nullptr) return arithmetic.reduce(data, count, result, out);
  state_buffer state;
  fold_one_part(arithmetic, nullptr, data, count, state.bytes);
  arithmetic.finish(state.bytes, count, result, out);
}

/// Writes the value of a state of `count` elements, or the state where the request asks for that.
static void write_finished(const request& request, const void* state, std::uint64_t count, void* result) {
  if (request.state_bytes > 0) {
    std::memcpy(result, state, request.state_bytes);
  } else {
    arithmetic_of(request).finish(state, count, request.result, result);
  }
}

void finish_present(const request& request, const presence_rule& rule, std::uint64_t count, std::uint64_t present,
                    void* state, void* result) {
  const arithmetic& arithmetic = arithmetic_of(request);
  if (request.state_bytes == 0) check_count(request.what, present, count - present);
  if (present == 0) arithmetic.reset(state);  // Zeros that stand for elements have a sign.
  write_finished(request, state, finished_count(rule.absent, count, present), result);
}

availability availability_on(std::int64_t instruction_sets) noexcept {
  if ((instruction_sets & HWY_TARGETS) != 0) return {};
  constexpr const char* least = HWY_STATIC_TARGET == HWY_AVX3   ? "AVX-512"
                                : HWY_STATIC_TARGET == HWY_AVX2 ? "AVX2 and FMA"
                                                                : "SSE4.2, AES and PCLMUL";
  static const std::string refusal =
      std::string("this build needs ") + least + ", which this processor lacks or its virtual machine hides";
  return {reason::too_old, refusal};
}

const availability& cpu_backend::probe() const noexcept {
  static const availability here = availability_on(hwy::SupportedTargets());
  return here;
}

std::span<const variant_info> cpu_backend::variants() const noexcept { return shipped; }

support cpu_backend::prepare(request& request) const {
  if (request.inputs.place() != memory::host) {
    return {reason::wrong_memory, std::string(name()) + " reads host memory, and the data is in device memory"};
  }
  if (request.own != nullptr) {
    if (!request.variant.empty()) return {reason::unsupported, "your own accumulator has no variants"};
    request.variant = own_accumulator_variant;
    request.prepared = request.own;
    return {};
  }
  const recipe_functions* const recipe = find_functions(request.what, request.inputs.type(), request.method);
  if (recipe != nullptr) request.prepared = request.adds ? recipe->addition : &recipe->arithmetic;
  return check_offer(*this, request, request.prepared != nullptr);
}

std::uint64_t cpu_backend::fold_parallel(const arithmetic& arithmetic, const operands& data, std::size_t count,
                                         unsigned threads, void* state, const presence* who) const {
  struct job {
    const detail::arithmetic& arithmetic;
    const presence* who;
    const operands& data;
    std::size_t count;
    std::size_t chunk;
    std::byte* partials;
    std::atomic<std::uint64_t> present = 0;
    std::byte* partial(std::size_t i) const { return partials + i * state_stride(arithmetic); }
  };
  const std::size_t leaf = arithmetic.leaf_elements;
  if (folds_alone(arithmetic, count, threads)) return fold_one_part(arithmetic, who, data, count, state);
  threads = startable_threads(std::min(threads, most_threads));
  const std::size_t chunk = chunk_length(count, leaf, threads);
  const std::size_t chunks = (count + chunk - 1) / chunk;
  kept_memory memory;
  std::byte* const levels = memory->get((partial_tree::most_levels + chunks) * state_stride(arithmetic));

  job shared{arithmetic, who, data, count, chunk, levels + partial_tree::most_levels * state_stride(arithmetic)};
  const auto fold_chunk = [](void* context, std::size_t i) {
    job& j = *static_cast<job*>(context);
    const std::size_t first = i * j.chunk;
    const detail::environment_guard guard;
    j.present += fold_one_part(j.arithmetic, j.who, operands_from(j.data, first, j.arithmetic.element_bytes),
                               std::min(j.chunk, j.count - first), j.partial(i));
  };
  run(threads, chunks, {fold_chunk, &shared});

  arithmetic.reset(state);
  if (arithmetic.in_leaves()) {
    partial_tree tree(arithmetic, levels);
    for (std::size_t i = 0; i < chunks; ++i) tree.push(shared.partial(i));
    tree.finish(state);
  } else {
    for (std::size_t i = 0; i < chunks; ++i) arithmetic.merge(state, shared.partial(i));
  }
  return shared.present;
}

void cpu_backend::fold(const request& prepared, const input_views& inputs, void* result) const {
  const arithmetic& arithmetic = arithmetic_of(prepared);
  const std::size_t count = inputs.count();
  if (prepared.state_bytes == arithmetic.state_bytes) {
    fold_parallel(arithmetic, operands_of(inputs), count, prepared.threads, result);
    return;
  }
  one_state state(arithmetic);
  fold_parallel(arithmetic, operands_of(inputs), count, prepared.threads, state.get());
  write_finished(prepared, state.get(), count, result);
}

outcome cpu_backend::reduce_present(const request& prepared, const input_views& inputs, void* result) const {
  const arithmetic& arithmetic = arithmetic_of(prepared);
  const presence who{{prepared.what, inputs.type(), prepared.nan}, inputs.mask()};
  const std::uint64_t count = inputs.count();
  one_state state(arithmetic);
  const std::uint64_t present =
      fold_parallel(arithmetic, operands_of(inputs), inputs.count(), prepared.threads, state.get(), &who);
  finish_present(prepared, who.rule, count, present, state.get(), result);
  return outcome_of(prepared, count, count - present);
}

outcome cpu_backend::reduce(const request& request, void* result) const {
  const report done = reduce_inputs(request, request.inputs, result);
  return {done.variant, done.method, done.reproducibility, done.bound, done.absent};
}

report cpu_backend::reduce_inputs(const request& prepared, const input_views& inputs, void* result) const {
  if (is_partial(inputs, prepared.nan)) return {name(), reduce_present(prepared, inputs, result)};
  const arithmetic& arithmetic = arithmetic_of(prepared);
  const std::size_t count = inputs.count();
  if (arithmetic.reduce != nullptr && prepared.state_bytes == 0 && folds_alone(arithmetic, count, prepared.threads)) {
    arithmetic.reduce(operands_of(inputs), count, prepared.result, result);
  } else {
    fold(prepared, inputs, result);
  }
  return {name(), prepared.variant, prepared.method, arithmetic.reproducibility,
          [&] { return arithmetic.bound_of(count, prepared.result); }};
}

outcome cpu_backend::reduce_each(const request& request, const batch& many, const results_view& out) const {
  fanin::request used = request;
  const std::optional<arithmetic> in_order =
      many.kind == layout::groups ? arithmetic_of_groups(request) : std::nullopt;
  if (in_order) used.prepared = &*in_order;
  batch_results results(used, many, out.data);
  batch_results* const all[] = {&results};
  const batch_counts counted = reduce_batch(*this, many, all);
  return outcome_of(used, counted.longest, counted.absent + results.absent());
}

std::vector<outcome> cpu_backend::reduce_jointly(std::span<const request> asked, const batch& many,
                                                 std::span<const results_view> out) const {
  if (many.kind == layout::groups) return backend::reduce_jointly(asked, many, out);
  std::list<batch_results> results;  // They cannot be moved.
  std::vector<batch_results*> all;
  for (std::size_t i = 0; i < asked.size(); ++i) all.push_back(&results.emplace_back(asked[i], many, out[i].data));
  const batch_counts counted = reduce_batch(*this, many, all);
  std::vector<outcome> done;
  for (const batch_results& one : results) {
    done.push_back(outcome_of(one.asked(), counted.longest, counted.absent + one.absent()));
  }
  return done;
}

std::unique_ptr<stream> cpu_backend::open(const request& request) const {
  return std::make_unique<block_stream>(*this, request);
}

}  // namespace fanin::cpu
