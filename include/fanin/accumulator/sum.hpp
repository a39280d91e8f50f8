// Sums with one rounded addition per element, and their means.
#pragma once

#include <fanin/accumulator/accumulator.hpp>

namespace fanin::accumulator {

/// Sum of T in T. Error <= g(d) sum|x|, d = the longest chain of additions [Higham 2002, 4.2].
template <class T>
struct plain_sum {
  using element = T;
  using state = T;
  FANIN_HOST_DEVICE static constexpr state identity() { return additive_identity<T>(); }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s += x; }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s += other; }
  template <class R>
  FANIN_HOST_DEVICE static R finish(state s, std::uint64_t count) {
    return count == 0 ? R{0} : canonical(s);
  }
};

/// Sum of x^2 in T; one more rounding than plain_sum.
template <class T>
struct plain_square_sum : plain_sum<T> {
  FANIN_HOST_DEVICE static void add(T& s, T x) { s += x * x; }
};

/// The quotient of an accumulated sum by the count, formed in double and rounded to R once.
template <class Sum>
struct mean_of : Sum {
  template <class R>
  FANIN_HOST_DEVICE static R finish(const typename Sum::state& s, std::uint64_t count) {
    const auto total = Sum::template finish<double>(s, count);
    return canonical(static_cast<R>(total / static_cast<double>(count)));
  }
};

}  // namespace fanin::accumulator
