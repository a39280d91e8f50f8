// SPDX-License-Identifier: Apache-2.0
// Counts of the elements that are not zero. A NaN is not zero. -0 is zero.
#pragma once

#include <fanin/accumulator/accumulator.hpp>

namespace fanin {
namespace accumulator {

/// The number of elements that are not zero.
template <class T>
struct nonzero_count {
  using element = T;
  using state = std::uint64_t;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return 0; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s += x != T{0} ? 1 : 0; }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s += other; }
  template <class R>
  FANIN_HOST_DEVICE static R finish(state s, std::uint64_t) {
    return s;
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return {};
  }
};

/// Whether at least one element is not zero, or with All, whether no element is zero. The state is the number of
/// elements that are not zero. Elements that come after the answer is settled need not be counted.
template <class T, bool All>
struct nonzero_test : nonzero_count<T> {
  /// Whether `count` elements settle the answer, if `nonzero` of them are not zero.
  static bool settled_by(std::uint64_t nonzero, std::uint64_t count) { return All ? nonzero < count : nonzero > 0; }
  template <class R>
  FANIN_HOST_DEVICE static R finish(std::uint64_t s, std::uint64_t count) {
    return (All ? s == count : s > 0) ? 1 : 0;
  }
};

}  // namespace accumulator

template <computable T>
struct recipe_for<operation::count_nonzero, method::fast, T> : accumulator::uses<accumulator::nonzero_count<T>> {};
template <computable T>
struct recipe_for<operation::any, method::fast, T> : accumulator::uses<accumulator::nonzero_test<T, false>> {};
template <computable T>
struct recipe_for<operation::all, method::fast, T> : accumulator::uses<accumulator::nonzero_test<T, true>> {};

}  // namespace fanin
