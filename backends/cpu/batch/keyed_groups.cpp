// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/keyed_groups.hpp"

#include <atomic>
#include <bit>
#include <limits>
#include <vector>

#include <fanin/environment.hpp>

#include "backends/cpu/batch/counting_sort.hpp"
#include "backends/cpu/batch/exact_states.hpp"
#include "backends/cpu/batch/index.hpp"
#include "backends/cpu/batch/keyed_addition.hpp"
#include "backends/cpu/batch/log_sum_groups.hpp"
#include "backends/cpu/batch/runs.hpp"
#include "backends/cpu/batch/word.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/state_memory.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin::cpu {
namespace {

/// All states together take at most so many bytes, so that they stay in the caches.
constexpr std::size_t most_states_bytes = std::size_t{1} << 25;
/// The states of a bucket stay in an L2 cache, unless there would be more than `most_buckets` buckets: writing to so
/// many places costs more.
constexpr std::size_t bucket_states_bytes = std::size_t{1} << 19;
constexpr std::size_t most_buckets = 256;
/// Up to so many groups, a sort of the elements costs less than a copy of elements and groups to buckets.
constexpr std::size_t most_sorted = std::size_t{1} << 12;
/// From this number of groups on, elements that are not added by key are sorted in two steps. A counting sort to so
/// many places misses the caches, and the table of pages in the processor.
constexpr std::size_t least_for_two_steps = std::size_t{1} << 18;

group_states_factory states_for(const request& request, const batch_results& results, const batch& groups) {
  if (results.partial()) results.rule().require_stand_in();
  if (row_of(request.what).adds == summand::exponentials) return log_sum_states(request.inputs.type());
  group_states_factory exact = exact_group_states(request, groups.inputs[0]);
  const recipe_functions& functions = functions_of_groups(request);
  const bool is_too_long = functions.terms.sums > 0 && groups.inputs.count() >= too_many_for_short_sums;
  if (exact.make || functions.keyed == nullptr || is_too_long) return exact;
  return keyed_states(*functions.keyed, functions.terms, request.inputs.type());
}

/// Adds elements to the states of their groups, block by block.
class keyed_walk {
 public:
  keyed_walk(term_kind terms, const batch& groups, const batch_results& results)
      : terms_(terms, groups.inputs.type()),
        type_(groups.inputs.type()),
        mask_(groups.inputs.mask()),
        rule_(results.rule()),
        partial_(results.partial()) {}

  /// Adds elements begin, begin + 1, ..., end - 1 of x. Key k is for the group k - first.
  template <class Key>
  FANIN_NOINLINE void add(group_states& states, const index_entries<Key>& keys, const void* x, std::size_t begin,
                          std::size_t end, std::uint64_t first) const {
    constexpr std::size_t block = term_block;
    Key space[block];
    std::uint32_t group[block];
    alignas(64) std::byte terms[block * sizeof(std::int64_t)];
    for (std::size_t i = begin; i < end; i += block) {
      const std::size_t n = std::min(block, end - i);
      const auto* const x_here = static_cast<const std::byte*>(x) + i * byte_size(type_);
      const Key* const keys_here = keys.at(i, n, space);
      if (keys_here != space) {
        for (std::size_t line = 0; line < n; line += 64 / sizeof(Key)) prefetch_line(keys_here + line);
      }
      for (std::size_t line = 0; line < n * byte_size(type_); line += 64) prefetch_line(x_here + line);
      find_groups(keys_here, n, first, states.outside(), group);
      if (partial_) leave_out_absent(states, x_here, i, n, group);
      states.add(group, terms_.terms_of(x_here, n, terms), n, i);
    }
  }

 private:
  void leave_out_absent(const group_states& states, const std::byte* x, std::size_t first, std::size_t count,
                        std::uint32_t* group) const {
    with_word(byte_size(type_), [&]<class Word>(Word) {
      if constexpr (std::unsigned_integral<Word>) {
        constexpr auto without_sign = static_cast<Word>(std::numeric_limits<Word>::max() >> 1);
        for (std::size_t k = 0; k < count; ++k) {
          const bool is_number = (reinterpret_cast<const Word*>(x)[k] & without_sign) <= rule_.largest_number;
          const bool takes_part = is_number && fanin::takes_part(mask_, first + k);
          if (!takes_part && group[k] != states.outside()) group[k] = states.absent();
        }
      }
    });
  }

  term_form terms_;
  element_type type_;
  mask_view mask_;
  const presence_rule& rule_;
  bool partial_;
};

/// @throws invalid_argument if a key is no group number, and such elements are not to be dropped
template <class Key>
void check_outside(const batch& groups, const index_entries<Key>& keys, std::uint64_t outside) {
  if (outside == 0 || groups.drops_others) return;
  std::size_t i = 0;
  for (Key space; *keys.at(i, 1, &space) < groups.result_count;) ++i;
  refuse_key(groups, i);
}

/// Adds the elements where they lie. Each part of the input has its own states, which are merged at the end.
template <class Key>
batch_counts add_in_place(const cpu_backend& backend, const group_states_factory& factory, std::size_t parts,
                          batch_results& results, const request& request, const batch& groups,
                          const index_entries<Key>& keys) {
  std::vector<std::unique_ptr<group_states>> states(parts);
  struct job {
    const group_states_factory& factory;
    std::vector<std::unique_ptr<group_states>>& states;
    const batch& groups;
    const index_entries<Key>& keys;
    keyed_walk walk;
  } shared{factory, states, groups, keys, {factory.terms, groups, results}};
  const auto add_part = [](void* context, std::size_t part) {
    const job& j = *static_cast<job*>(context);
    const detail::environment_guard guard;
    const std::size_t count = j.groups.inputs.count(), length = count / j.states.size();
    auto& own = *(j.states[part] = j.factory.make());
    own.begin(j.groups.result_count);
    j.walk.add(own, j.keys, j.groups.inputs[0].data, length * part,
               part + 1 == j.states.size() ? count : length * (part + 1), 0);
  };
  if (parts == 1) {
    add_part(&shared, 0);
  } else {
    backend.run(startable_threads(static_cast<unsigned>(parts)), parts, {add_part, &shared});
  }
  batch_counts counts;
  std::uint64_t outside = 0;
  for (const auto& own : states) {
    outside += own->count(own->outside());
    counts.absent += own->count(own->absent());
  }
  check_outside(groups, keys, outside);
  counts.absent += outside;
  std::atomic<std::uint64_t> longest = 0;
  run_in_shares(
      backend, request.threads, groups.result_count,
      // A state that another core wrote costs as much as a result.
      [&](std::size_t g) { return g * (bytes_for_result + parts * (bytes_for_result + factory.state_bytes)); },
      [&](std::size_t first, std::size_t last) {
        raise(longest, states[0]->finish(results, 0, first, last, std::span(states).subspan(1)));
      });
  counts.longest = longest;
  return counts;
}

/// Folds the groups of a bucket as runs of its elements, which it sorts by key.
class sorted_bucket {
 public:
  std::uint64_t fold(batch_results& results, const std::uint32_t* keys, const std::byte* x, std::size_t count,
                     std::size_t first, std::size_t groups) {
    ends_.assign(groups + 1, 0);
    for (std::size_t i = 0; i < count; ++i) ++ends_[keys[i] - first + 1];
    for (std::size_t g = 0; g < groups; ++g) ends_[g + 1] += ends_[g];
    const std::size_t element_bytes = results.loops().element_bytes;
    std::byte* const sorted = copies_.get(count * element_bytes);
    with_word(element_bytes, [&]<class Word>(Word) {
      auto* const to = reinterpret_cast<Word*>(sorted);
      const auto* const from = reinterpret_cast<const Word*>(x);
      for (std::size_t i = 0; i < count; ++i) to[ends_[keys[i] - first]++] = from[i];
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

/// Sorts elements and their groups into buckets of 2^shift neighbouring groups. Without a factory, the groups of each
/// bucket are sorted. Without a result if one bucket has so many elements that a thread would end after the others.
template <class Key>
std::optional<batch_counts> reduce_in_buckets(const cpu_backend& backend, const group_states_factory& factory,
                                              batch_results& results, const request& request, const batch& groups,
                                              const index_entries<Key>& keys, unsigned shift) {
  const std::size_t in_groups = groups.result_count, count = groups.inputs.count();
  counting_sort<Key> sort(backend, request.threads, keys, count, in_groups, shift);
  std::vector<std::uint64_t> offsets(sort.buckets() + 1);
  sort.count(offsets.data());
  if (sort.first_outside() < count && !groups.drops_others) refuse_key(groups, sort.first_outside());
  const std::size_t kept = offsets.back(), element_bytes = results.loops().element_bytes;
  if (request.threads > 1 || !factory.make) {  // A bucket is a task for one thread, and sorted by itself.
    for (std::size_t b = 0; b < sort.buckets(); ++b) {
      if (offsets[b + 1] - offsets[b] > kept / (std::size_t{2} * request.threads)) return std::nullopt;
    }
  }
  state_memory x_memory, group_memory;
  std::byte* const sorted_x = x_memory.get(kept * element_bytes);
  auto* const sorted_groups = reinterpret_cast<std::uint32_t*>(group_memory.get(kept * sizeof(std::uint32_t)));
  with_word(element_bytes, [&]<class Word>(Word) {
    auto* const to = reinterpret_cast<Word*>(sorted_x);
    sort.place(
        [=, x = static_cast<const Word*>(groups.inputs[0].data)](std::size_t i, std::size_t place, std::size_t key) {
          to[place] = x[i];
          sorted_groups[place] = static_cast<std::uint32_t>(key);
        });
  });
  const keyed_walk walk(factory.terms, groups, results);
  const index_entries<std::uint32_t> walked(array_view(sorted_groups, kept, element_type::u32));
  std::atomic<std::uint64_t> longest = 0;
  run_in_shares(
      backend, request.threads, sort.buckets(),
      [&](std::size_t b) { return (offsets[b] * element_bytes) + (b << shift) * bytes_for_result; },
      [&](std::size_t first, std::size_t last) {
        const auto states = factory.make ? factory.make() : nullptr;
        sorted_bucket sorted;
        for (std::size_t b = first; b < last; ++b) {
          const std::size_t group = b << shift, groups_here = std::min(in_groups - group, std::size_t{1} << shift);
          if (states == nullptr) {
            raise(longest, sorted.fold(results, sorted_groups + offsets[b], sorted_x + offsets[b] * element_bytes,
                                       offsets[b + 1] - offsets[b], group, groups_here));
            continue;
          }
          states->begin(groups_here);
          walk.add(*states, walked, sorted_x, offsets[b], offsets[b + 1], group);
          raise(longest, states->finish(results, group, 0, groups_here, {}));
        }
      });
  return batch_counts{longest, count - kept};
}

/// The logarithm of the number of groups in a bucket of at most `most` groups, unless there would be too many
/// buckets.
unsigned bucket_shift(std::size_t groups, std::size_t most) {
  return static_cast<unsigned>(
      std::countr_zero(std::max(std::bit_floor(most), std::bit_ceil(groups / most_buckets))));
}

}  // namespace

std::optional<batch_counts> reduce_keyed_groups(const cpu_backend& backend, batch_results& results,
                                                const request& request, const batch& groups) {
  if (groups.inputs.size() == 2) return std::nullopt;
  const std::size_t in_groups = groups.result_count, count = groups.inputs.count();
  const bool has_index = row_of(request.what).form == result_form::indexed;
  const bool can_be_copied = !results.partial() && !has_index;
  return with_index(
      groups.index,
      [&]<class Key>(const index_entries<Key>& keys, std::uint64_t largest) -> std::optional<batch_counts> {
        // Keys above `largest` are negative; groups beyond it have no elements.
        if (in_groups > std::min<std::uint64_t>(largest, std::uint32_t(-3))) return std::nullopt;
        const group_states_factory factory = states_for(request, results, groups);
        if (!factory.make) {
          if (in_groups < least_for_two_steps || !can_be_copied) return std::nullopt;
          return reduce_in_buckets(backend, factory, results, request, groups, keys, bucket_shift(in_groups, 1));
        }
        const unsigned threads =
            count * results.loops().element_bytes < parallel_bytes ? 1 : std::min(request.threads, most_threads);
        const bool states_fit = in_groups * factory.state_bytes <= most_states_bytes;
        // Sorting and then adding takes three times as long as adding alone.
        if (states_fit && (threads < 4 || !can_be_copied) && results.loops().one_by_one) {
          return add_in_place(backend, factory, 1, results, request, groups, keys);
        }
        // To merge the states of a group takes as long as to add some elements to it.
        const std::size_t parts = std::clamp<std::size_t>(count / (4 * in_groups + 1), 1, threads);
        if (states_fit && (parts == threads || threads < 4) && !results.loops().one_by_one) {
          return add_in_place(backend, factory, parts, results, request, groups, keys);
        }
        if (!can_be_copied || (results.loops().one_by_one && in_groups <= most_sorted)) return std::nullopt;
        const std::size_t in_bucket =
            std::min(bucket_states_bytes / factory.state_bytes, in_groups / (std::size_t{8} * threads) + 1);
        return reduce_in_buckets(backend, factory, results, request, groups, keys,
                                 bucket_shift(in_groups, in_bucket));
      });
}

}  // namespace fanin::cpu
