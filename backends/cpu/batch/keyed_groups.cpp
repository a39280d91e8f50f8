// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/keyed_groups.hpp"

#include <atomic>
#include <bit>
#include <vector>

#include "backends/cpu/batch/counting_sort.hpp"
#include "backends/cpu/batch/index.hpp"
#include "backends/cpu/batch/keyed_states.hpp"
#include "backends/cpu/batch/runs.hpp"
#include "backends/cpu/batch/word.hpp"
#include "backends/cpu/state_memory.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin::cpu {
namespace {

/// The states of the groups to which elements are added at once stay in an L2 cache, or are several times as large,
/// where more than `most_buckets` buckets would be needed: writing to so many places costs more.
constexpr std::size_t states_bytes = std::size_t{1} << 20, most_states_bytes = std::size_t{1} << 23;
constexpr std::size_t most_buckets = 256;

/// Adds the elements where they lie, by one thread.
template <class Key>
batch_counts reduce_in_place(const keyed_addition& addition, batch_results& results, const batch& groups,
                             const Key* keys) {
  const std::size_t count = groups.inputs.count();
  keyed_states states(results.loops());
  states.begin(0, groups.result_count);
  std::uint64_t outside = 0;
  const std::size_t first_outside = addition.add(states, keys, groups.inputs[0].data, count, outside);
  if (outside > 0 && !groups.drops_others) refuse_key(groups, first_outside);
  return {states.finish(results), outside};
}

/// If groups have fewer elements than this, a state of many lanes costs more than sorting the elements of a
/// bucket, which are in a cache.
constexpr std::size_t least_for_states = 32;

/// Folds the groups of a bucket as runs of its elements, which it sorts by key.
class sorted_bucket {
 public:
  template <class Key>
  std::uint64_t fold(batch_results& results, const Key* keys, const std::byte* x, std::size_t count,
                     std::size_t first, std::size_t groups) {
    ends_.assign(groups + 1, 0);
    for (std::size_t i = 0; i < count; ++i) ++ends_[static_cast<std::size_t>(keys[i]) - first + 1];
    for (std::size_t g = 0; g < groups; ++g) ends_[g + 1] += ends_[g];
    const std::size_t element_bytes = results.loops().element_bytes;
    std::byte* const sorted = copies_.get(count * element_bytes);
    with_word(element_bytes, [&]<class Word>(Word) {
      auto* const to = reinterpret_cast<Word*>(sorted);
      const auto* const from = reinterpret_cast<const Word*>(x);
      for (std::size_t i = 0; i < count; ++i) to[ends_[static_cast<std::size_t>(keys[i]) - first]++] = from[i];
    });
    collected_runs collected(results);
    std::uint64_t longest = 0;
    for (std::size_t g = 0, begin = 0; g < groups; begin = ends_[g++]) {
      const operands run{sorted + begin * element_bytes};
      const std::size_t n = ends_[g] - begin;
      longest = std::max<std::uint64_t>(longest, n);
      if (results.takes_runs_of(n)) {
        collected.add(first + g, run, n);
      } else {
        results.reduce(first + g, run, n, {});
      }
    }
    collected.fold();
    return longest;
  }

 private:
  std::vector<std::size_t> ends_;  ///< where the next element of each group goes, and in the end the group's end
  state_memory copies_;
};

/// From this number of groups on, elements that are not added by key are sorted in two steps. A counting sort to
/// so many places misses the caches, and the table of pages in the processor.
constexpr std::size_t least_for_two_steps = std::size_t{1} << 18;

/// Sorts elements and keys into buckets of neighbouring groups, whose states are small enough. Without an addition,
/// which may be null, the groups of each bucket are sorted.
template <class Key>
std::optional<batch_counts> reduce_in_buckets(const cpu_backend& backend, const keyed_addition* addition,
                                              batch_results& results, const request& request, const batch& groups,
                                              const Key* keys, unsigned shift) {
  const std::size_t in_groups = groups.result_count, count = groups.inputs.count();
  counting_sort<Key> sort(backend, request.threads, keys, count, in_groups, shift);
  std::vector<std::uint64_t> offsets(sort.buckets() + 1);
  sort.count(offsets.data());
  if (sort.first_outside() < count && !groups.drops_others) refuse_key(groups, sort.first_outside());
  const std::size_t kept = offsets.back(), element_bytes = results.loops().element_bytes;
  if (request.threads > 1 || addition == nullptr) {  // A bucket is a task for one thread, and sorted by itself.
    for (std::size_t b = 0; b < sort.buckets(); ++b) {
      if (offsets[b + 1] - offsets[b] > kept / (std::size_t{2} * request.threads)) return std::nullopt;
    }
  }
  state_memory x_memory, key_memory;
  std::byte* const sorted_x = x_memory.get(kept * element_bytes);
  auto* const sorted_keys = reinterpret_cast<Key*>(key_memory.get(kept * sizeof(Key)));
  with_word(element_bytes, [&]<class Word>(Word) {
    auto* const to = reinterpret_cast<Word*>(sorted_x);
    sort.place([=, x = static_cast<const Word*>(groups.inputs[0].data)](std::size_t i, std::size_t place) {
      to[place] = x[i];
      sorted_keys[place] = keys[i];
    });
  });
  std::atomic<std::uint64_t> longest = 0;
  run_in_shares(
      backend, request.threads, sort.buckets(),
      [&](std::size_t b) { return (offsets[b] * element_bytes) + (b << shift) * bytes_for_result; },
      [&](std::size_t first, std::size_t last) {
        keyed_states states(results.loops());
        sorted_bucket sorted;
        std::uint64_t longest_here = 0, outside = 0;
        for (std::size_t b = first; b < last; ++b) {
          const std::size_t group = b << shift;
          const std::size_t groups_here = std::min(in_groups - group, std::size_t{1} << shift);
          const std::size_t count_here = offsets[b + 1] - offsets[b];
          const Key* const keys_here = sorted_keys + offsets[b];
          const std::byte* const x_here = sorted_x + offsets[b] * element_bytes;
          if (addition == nullptr || count_here < groups_here * least_for_states) {
            longest_here =
                std::max(longest_here, sorted.fold(results, keys_here, x_here, count_here, group, groups_here));
            continue;
          }
          states.begin(group, groups_here);
          addition->add(states, keys_here, x_here, count_here, outside);
          longest_here = std::max(longest_here, states.finish(results));
        }
        for (std::uint64_t known = longest;
             known < longest_here && !longest.compare_exchange_weak(known, longest_here);) {
        }
      });
  return batch_counts{longest, count - kept};
}

}  // namespace

std::optional<batch_counts> reduce_keyed_groups(const cpu_backend& backend, batch_results& results,
                                                const request& request, const batch& groups) {
  const bool has_index = row_of(request.what).form == result_form::indexed;
  if (results.partial() || has_index || groups.inputs.size() == 2) return std::nullopt;
  const keyed_addition* const addition = find_functions(request.what, request.inputs.type(), request.method)->keyed;
  const std::size_t group_bytes = results.loops().state_bytes + sizeof(std::uint64_t);
  return with_index(
      groups.index, [&]<class Key>(const Key* keys, std::uint64_t largest) -> std::optional<batch_counts> {
        // Keys above `largest` are negative; groups beyond it have no elements.
        if (groups.result_count > largest) return std::nullopt;
        if (addition == nullptr) {
          if (groups.result_count < least_for_two_steps) return std::nullopt;
          const std::size_t in_bucket = std::bit_ceil(groups.result_count / most_buckets);
          return reduce_in_buckets(backend, nullptr, results, request, groups, keys,
                                   static_cast<unsigned>(std::countr_zero(in_bucket)));
        }
        const std::size_t most_groups = std::bit_floor(states_bytes / group_bytes);
        const std::size_t wanted_groups =
            std::min(std::bit_floor(most_states_bytes / group_bytes),
                     std::max(most_groups, std::bit_ceil(groups.result_count / most_buckets)));
        const bool alone =
            request.threads == 1 || groups.inputs.count() * results.loops().element_bytes < parallel_bytes;
        // Sorting and then adding takes three times as long as adding alone.
        if ((alone || request.threads < 4) && groups.result_count <= most_groups) {
          return reduce_in_place(*addition, results, groups, keys);
        }
        const std::size_t least_buckets = alone ? 1 : std::size_t{8} * request.threads;
        const std::size_t in_bucket =
            std::min(wanted_groups, std::bit_floor(std::max<std::size_t>(1, groups.result_count / least_buckets)));
        if (in_bucket < 16) return std::nullopt;
        return reduce_in_buckets(backend, addition, results, request, groups, keys,
                                 static_cast<unsigned>(std::countr_zero(in_bucket)));
      });
}

}  // namespace fanin::cpu
