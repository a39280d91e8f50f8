// Products of floating-point numbers.
#pragma once

#include <fanin/accumulator/accumulator.hpp>

namespace fanin::accumulator {

/// Product of T in T. Error <= g(n - 1) |P| unless an intermediate product over- or underflows [Higham 2002, 3.1].
template <class T>
struct plain_product {
  using element = T;
  using state = T;
  FANIN_HOST_DEVICE static constexpr state identity() { return T{1}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s *= x; }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s *= other; }
  template <class R>
  FANIN_HOST_DEVICE static R finish(state s, std::uint64_t) {
    return canonical(s);
  }
};

}  // namespace fanin::accumulator
