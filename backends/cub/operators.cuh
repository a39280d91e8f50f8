// What the references CUB and Thrust share: accumulators as the operators that they ask for.
#pragma once

#include "backends/cuda/arithmetic.hpp"
#include "backends/cuda/device_fold.hpp"

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

/// A fold whose order nobody states: no order has a longer chain.
class any_order_fold : public cuda::device_fold {
 public:
  cuda::chain longest_chain(const cuda::execution&, std::uint64_t count) const final {
    return {0, static_cast<double>(count)};
  }
};

/// Fold<A> for every reduction that is not exact.
template <template <class> class Fold, class T>
const cuda::device_fold* find_reference(operation what, method how) noexcept {
  return cuda::with_reduction<T>(what, how, []<class Reduction>(Reduction) -> const cuda::device_fold* {
    if constexpr (Reduction::how == method::exact) {
      return nullptr;
    } else {
      static const Fold<typename Reduction::kernel> only;
      return &only;
    }
  });
}

}  // namespace fanin::cub_backend
