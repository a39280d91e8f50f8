// What the references CUB and Thrust share: accumulators as the operators that they ask for.
#pragma once

#include "backends/cuda/arithmetic.hpp"
#include "backends/cuda/runtime/device_fold.hpp"

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
template <class A>
class any_order_fold : public cuda::device_fold {
 public:
  cuda::chain longest_chain(const cuda::execution&, std::uint64_t count) const final {
    return {0, static_cast<double>(count)};
  }
  bool leaves_totals() const final { return std::is_same_v<A, cuda::exact_sum<typename A::element, 1>>; }
};

/// Fold<A> for every reduction but exact ones of squares, whose state is so wide that compiling them takes minutes.
/// Exact sums and means are folded in the public accumulator.
template <template <class> class Fold, class T>
const cuda::device_fold* find_reference(operation what, method how) noexcept {
  return cuda::with_reduction<T>(what, how, []<class Reduction>(Reduction) -> const cuda::device_fold* {
    if constexpr (Reduction::how != method::exact) {
      static const Fold<typename Reduction::kernel> only;
      return &only;
    } else if constexpr (Reduction::what == operation::sum || Reduction::what == operation::mean) {
      static const Fold<cuda::exact_sum<typename Reduction::element, 1>> only;
      return &only;
    } else {
      return nullptr;
    }
  });
}

}  // namespace fanin::cub_backend
