// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/presence/presence.hpp"

#include <algorithm>
#include <type_traits>

#include <fanin/cuda/check.cuh>

#include "backends/cuda/presence/copy_kernels.cuh"

namespace fanin::cuda {
namespace {

constexpr unsigned blocks_per_multiprocessor = 4;

template <class U>
words<U> words_of(const presence_rule& rule, const input_views& inputs) {
  return {static_cast<const U*>(inputs[0].data), inputs.size() == 2 ? static_cast<const U*>(inputs[1].data) : nullptr,
          inputs.mask(), inputs.count(), static_cast<component_word<U>>(rule.largest_number)};
}

unsigned grid(const execution& where, std::uint64_t count, unsigned in_block) {
  const std::uint64_t most = static_cast<std::uint64_t>(where.multiprocessors) * blocks_per_multiprocessor;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((count + in_block - 1) / in_block, 1, most));
}

/// Calls f(U()), where U is the type of the bits of an element.
template <class F>
void with_bits(const presence_rule& rule, F f) {
  if (rule.words == 2) return rule.word_bytes() == 4 ? f(word_pair<std::uint32_t>()) : f(word_pair<std::uint64_t>());
  if (rule.element_bytes == 1) return f(std::uint8_t());
  if (rule.element_bytes == 2) return f(std::uint16_t());
  if (rule.element_bytes == 4) return f(std::uint32_t());
  f(std::uint64_t());
}

/// The bits of an element that consists of these words.
template <class U>
U bits_of(const std::uint64_t (&words)[2]) {
  if constexpr (std::is_integral_v<U>) return static_cast<U>(words[0]);
  if constexpr (!std::is_integral_v<U>) {
    return {static_cast<component_word<U>>(words[0]), static_cast<component_word<U>>(words[1])};
  }
}

}  // namespace

present_copies::present_copies(const request& request, context& context)
    : inputs_(request.inputs), rule_(request.what, inputs_.type(), request.nan), context_(context) {
  rule_.require_stand_in();
  std::byte* const memory = context.presence_memory();
  counts_ = reinterpret_cast<presence_counts*>(memory);
  copies_ = memory + context::presence_counts_bytes;
  longest_ = context::presence_bytes / (static_cast<std::size_t>(inputs_.size()) * rule_.element_bytes);
  const execution& where = context.where();
  check(cudaMemsetAsync(counts_, 0, sizeof *counts_, where.stream), "cudaMemsetAsync");
  if (rule_.absent != stand_in::other) return;
  check(cudaMemsetAsync(&counts_->first, 0xff, sizeof counts_->first, where.stream), "cudaMemsetAsync");
  with_bits(rule_, [&]<class U>(U) {
    find_first<U><<<grid(where, inputs_.count(), presence_threads), presence_threads, 0, where.stream>>>(
        words_of<U>(rule_, inputs_), reinterpret_cast<unsigned long long*>(&counts_->first));
  });
  check(cudaGetLastError(), "launching the search for an element that takes part");
}

operands present_copies::enqueue(std::uint64_t begin, std::uint64_t count) {
  std::byte* const y = inputs_.size() == 2 ? copies_ + context::presence_bytes / 2 : nullptr;
  const execution& where = context_.where();
  with_bits(rule_, [&]<class U>(U) {
    const stand_ins<U> absent{rule_.absent == stand_in::other, bits_of<U>(rule_.in_place[0]),
                              bits_of<U>(rule_.in_place[1])};
    const copied_words<U> to{begin, count, reinterpret_cast<U*>(copies_), reinterpret_cast<U*>(y)};
    copy_present<U><<<grid(where, count, presence_threads * presence_loads), presence_threads, 0, where.stream>>>(
        words_of<U>(rule_, inputs_), absent, to, counts_);
  });
  check(cudaGetLastError(), "launching a copy of the elements that take part");
  return {copies_, y, begin};
}

presence_counts present_copies::fetch_counts() const {
  auto* const fetched = reinterpret_cast<presence_counts*>(context_.host_state(0));
  const cudaStream_t stream = context_.where().stream;
  check(cudaMemcpyAsync(fetched, counts_, sizeof *fetched, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return *fetched;
}

}  // namespace fanin::cuda
