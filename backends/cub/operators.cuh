// Accumulators as the operators that CUB and Thrust ask for.
#pragma once

#include <fanin/export.hpp>

namespace fanin::cub_backend {

/// One element as a state.
template <class A>
struct to_state {
  FANIN_HOST_DEVICE typename A::state operator()(typename A::element x) const {
    auto s = A::identity();
    A::add(s, x);
    return s;
  }
};

template <class A>
struct merged {
  FANIN_HOST_DEVICE typename A::state operator()(typename A::state a, const typename A::state& b) const {
    A::merge(a, b);
    return a;
  }
};

}  // namespace fanin::cub_backend
