#include "backends/cpu/cpu_backend.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fanin/error.hpp>

#include "backends/cpu/environment.hpp"
#include "backends/offer.hpp"

namespace fanin::cpu {
namespace {

constexpr variant_info shipped[] = {
    {"simd", method::fast, "vector lanes, merged leaf by leaf along a fixed binary tree", ""},
    {"compensated", method::compensated, "the same with every rounding error carried along", ""},
    {"exact", method::exact, "fixed-point accumulator over the whole exponent range, rounded once", ""},
};

const fold& fold_of(const request& asked) { return *find_fold(asked.what, asked.input.type, asked.how); }

std::string_view variant_of(const request& asked) { return shipped[static_cast<std::size_t>(asked.how)].name; }

outcome finished(const fold& arithmetic, const request& asked, const void* state, std::size_t count) {
  return {arithmetic.finish(state, count, asked.result), variant_of(asked), asked.how, arithmetic.reproducibility,
          arithmetic.bound(count, asked.result)};
}

/// Folds `count` elements from `first` on; a state whose order does not matter has been reset.
void fold_part(const fold& arithmetic, const array_view& input, const void* other, std::size_t first,
               std::size_t count, void* state) {
  const auto from_first = [&](const void* x) {
    return static_cast<const std::byte*>(x) + first * size_of(input.type);
  };
  if (arithmetic.accumulate_pairs != nullptr) {
    arithmetic.accumulate_pairs(from_first(input.data), from_first(other), count, state);
  } else {
    arithmetic.accumulate(from_first(input.data), count, state);
  }
}

/// Collects what is pushed into blocks of whole leaves, so that the leaves lie as they would in one array.
class block_stream final : public stream {
 public:
  block_stream(const cpu_backend& backend, const request& asked)
      : backend_(backend), asked_(asked), fold_(fold_of(asked)), tree_(fold_) {
    fold_.reset(total_.bytes);
  }

  void push(const void* elements, std::size_t count) override {
    const auto* bytes = static_cast<const std::byte*>(elements);
    std::size_t left = count * size_of(asked_.input.type);
    count_ += count;
    while (left > 0) {
      if (pending_.empty() && left >= block_bytes) {
        fold_block(bytes, block_bytes);
        bytes += block_bytes;
        left -= block_bytes;
        continue;
      }
      const std::size_t n = std::min(left, block_bytes - pending_.size());
      pending_.insert(pending_.end(), bytes, bytes + n);
      bytes += n;
      left -= n;
      if (pending_.size() == block_bytes) flush();
    }
  }

  outcome finish() override {
    if (!pending_.empty()) flush();
    environment_guard guard;
    if (fold_.fixed_order()) tree_.finish(total_.bytes);
    return finished(fold_, asked_, total_.bytes, count_);
  }

 private:
  static constexpr std::size_t block_bytes = 1024 * leaf_bytes;

  void flush() {
    fold_block(pending_.data(), pending_.size());
    pending_.clear();
  }

  void fold_block(const std::byte* data, std::size_t bytes) {
    const auto type = asked_.input.type;
    state_buffer part;
    environment_guard guard;
    backend_.fold_parallel(fold_, array_view(data, bytes / size_of(type), type), nullptr, asked_.threads, part.bytes);
    if (fold_.fixed_order()) {
      tree_.push(part.bytes);
    } else {
      fold_.merge(total_.bytes, part.bytes);
    }
  }

  const cpu_backend& backend_;
  request asked_;
  const fold& fold_;
  partial_tree tree_;
  state_buffer total_;
  std::vector<std::byte> pending_;
  std::size_t count_ = 0;
};

}  // namespace

const availability& cpu_backend::probe() const noexcept {
  static constexpr availability here{};
  return here;
}

std::span<const variant_info> cpu_backend::variants() const noexcept { return shipped; }

support cpu_backend::supports(const request& asked) const {
  if (asked.input.place != memory::host) {
    return {reason::wrong_memory, std::string(name()) + " reads host memory, and the data is in device memory"};
  }
  return offer(*this, asked, find_fold(asked.what, asked.input.type, asked.how) != nullptr);
}

void cpu_backend::fold_parallel(const fold& arithmetic, const array_view& input, const void* other, unsigned threads,
                                void* state) const {
  struct job {
    const fold& arithmetic;
    const array_view& input;
    const void* other;
    std::size_t chunk;
    state_buffer* partials;
  };
  if (threads == 1 || input.bytes() < parallel_bytes) {
    if (!arithmetic.fixed_order()) arithmetic.reset(state);
    fold_part(arithmetic, input, other, 0, input.count, state);
    return;
  }
  constexpr std::size_t chunks_per_thread = 16;
  const std::size_t leaf = leaf_bytes / size_of(input.type);
  threads = std::min(threads, most_threads);
  const std::size_t leaves = (input.count + leaf - 1) / leaf;
  const std::size_t chunk = leaf * std::bit_ceil((leaves - 1) / (threads * chunks_per_thread) + 1);
  const std::size_t chunks = (input.count + chunk - 1) / chunk;
  thread_local std::vector<state_buffer> partials;
  if (partials.size() < chunks) partials.resize(chunks);

  job shared{arithmetic, input, other, chunk, partials.data()};
  const auto fold_chunk = [](void* context, std::size_t i) {
    const job& j = *static_cast<job*>(context);
    const std::size_t first = i * j.chunk;
    environment_guard guard;
    if (!j.arithmetic.fixed_order()) j.arithmetic.reset(j.partials[i].bytes);
    fold_part(j.arithmetic, j.input, j.other, first, std::min(j.chunk, j.input.count - first), j.partials[i].bytes);
  };
  run(threads, chunks, {fold_chunk, &shared});

  arithmetic.reset(state);
  if (arithmetic.fixed_order()) {
    partial_tree tree(arithmetic);
    for (std::size_t i = 0; i < chunks; ++i) tree.push(shared.partials[i].bytes);
    tree.finish(state);
  } else {
    for (std::size_t i = 0; i < chunks; ++i) arithmetic.merge(state, shared.partials[i].bytes);
  }
}

outcome cpu_backend::reduce(const request& asked) const {
  const fold& arithmetic = fold_of(asked);
  state_buffer state;
  environment_guard guard;
  fold_parallel(arithmetic, asked.input, asked.other, asked.threads, state.bytes);
  return finished(arithmetic, asked, state.bytes, asked.input.count);
}

std::unique_ptr<stream> cpu_backend::open(const request& asked) const {
  return std::make_unique<block_stream>(*this, asked);
}

}  // namespace fanin::cpu
