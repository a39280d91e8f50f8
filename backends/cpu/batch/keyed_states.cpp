// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/keyed_states.hpp"

#include <algorithm>

#include "backends/cpu/loops.hpp"

namespace fanin::cpu {

void keyed_states::begin(std::uint64_t first, std::size_t groups) {
  first_ = first;
  counts_.assign(groups, 0);
  if (loops_.fixed_order()) leaves_.resize(groups);
  states_ = memory_.get(groups * loops_.state_bytes);
  if (groups == 0) return;
  loops_.reset(states_);
  for (std::size_t g = 1; g < groups; ++g) std::copy_n(states_, loops_.state_bytes, state(g));
}

void keyed_states::take_last(std::vector<std::byte>& leaves, std::byte* into) const {
  std::copy_n(leaves.end() - static_cast<std::ptrdiff_t>(loops_.state_bytes), loops_.state_bytes, into);
  leaves.resize(leaves.size() - loops_.state_bytes);
}

/// Merges `later` into the last of the leaves, and takes that.
void keyed_states::prepend_last(std::vector<std::byte>& leaves, std::byte* later) const {
  state_buffer both;
  take_last(leaves, both.bytes);
  loops_.merge(both.bytes, later);
  std::copy_n(both.bytes, loops_.state_bytes, later);
}

void keyed_states::close_leaf(std::size_t group) {
  std::vector<std::byte>& leaves = leaves_[group];
  std::byte* const leaf = state(group);
  for (std::uint64_t n = counts_[group] / loops_.leaf_elements; n % 2 == 0; n /= 2) prepend_last(leaves, leaf);
  leaves.insert(leaves.end(), leaf, leaf + loops_.state_bytes);
  loops_.reset(leaf);
}

std::uint64_t keyed_states::finish(batch_results& results) {
  std::uint64_t longest = 0;
  for (std::size_t g = 0; g < groups(); ++g) {
    const std::uint64_t count = counts_[g];
    if (loops_.fixed_order()) {
      std::vector<std::byte>& leaves = leaves_[g];
      if (count % loops_.leaf_elements == 0 && !leaves.empty()) take_last(leaves, state(g));
      while (!leaves.empty()) prepend_last(leaves, state(g));
    }
    results.finish(static_cast<std::size_t>(first_) + g, count, count, state(g));
    longest = std::max(longest, count);
  }
  return longest;
}

namespace {

template <class A>
constexpr bool is_added_by_key = false;
template <std::floating_point T>
constexpr bool is_added_by_key<acc::plain_sum<T>> = true;
template <std::floating_point T>
constexpr bool is_added_by_key<acc::compensated_sum<T>> = true;
template <std::integral T>
constexpr bool is_added_by_key<acc::integer_sum<T>> = sizeof(T) >= 4;
template <computable T, bool Largest>
constexpr bool is_added_by_key<acc::extremum<T, Largest>> = sizeof(T) >= 4;

/// Adds x to lane `lane` of a state as the loops of A have it.
template <class A>
void add_to_lane(std::byte* state, std::uint64_t lane, typename A::element x) {
  if constexpr (A::order_free) {
    A::add(*reinterpret_cast<typename A::state*>(state), x);
  } else {
    auto& row = *reinterpret_cast<plane_row<A>*>(state);
    auto one = row.state_of(lane);
    A::add(one, x);
    row.set(lane, one);
  }
}

template <class A, class Key>
std::size_t add_by_key(keyed_states& to, const Key* keys, const void* data, std::size_t count,
                       std::uint64_t& outside) {
  constexpr std::size_t state_bytes = loop<A>::functions.state_bytes;
  const auto* const x = static_cast<const typename A::element*>(data);
  const std::uint64_t first = to.first(), groups = to.groups();
  std::byte* const states = to.states();
  std::uint64_t* const counts = to.counts();
  std::size_t first_outside = count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t g = std::uint64_t{keys[i]} - first;
    if (g >= groups) {
      first_outside = std::min(first_outside, i);
      ++outside;
      continue;
    }
    const std::uint64_t n = counts[g]++;
    add_to_lane<A>(states + g * state_bytes, n % detail::row_width_of<A>, x[i]);
    if constexpr (!A::order_free) {
      if (n % detail::leaf_of<A> == detail::leaf_of<A> - 1) to.close_leaf(g);
    }
  }
  return first_outside;
}

}  // namespace

const keyed_addition* find_keyed_addition(operation what, element_type type, method how) {
  return with_recipe(what, type, how, []<class Recipe>(Recipe) -> const keyed_addition* {
    using A = acc::folds_as_t<typename Recipe::accumulator>;
    if constexpr (is_added_by_key<A>) {
      static constexpr keyed_addition functions{add_by_key<A, std::uint32_t>, add_by_key<A, std::uint64_t>};
      return &functions;
    } else {
      return nullptr;
    }
  });
}

}  // namespace fanin::cpu
