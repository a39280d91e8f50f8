#include "backends/cuda/runtime/host_fold.hpp"

#include <new>

#include "backends/cpu/bounds.hpp"
#include "backends/cuda/arithmetic.hpp"

namespace fanin::cuda {
namespace {

/// For sums in T: `sum`, `square_sum` and their means, plain or compensated. Adding to the identity does not round,
/// but is counted: a state may start with an element of another place.
template <class Reduction>
error_bound rounded_sum_bound(const chain& way, std::uint64_t count) {
  using T = typename Reduction::element;
  constexpr bool squares = Reduction::what == operation::sum_of_squares;
  const double into_sum = way.adds + way.merges + (squares ? 1 : 0);
  const double eta =
      squares ? static_cast<double>(count) * static_cast<double>(std::numeric_limits<T>::denorm_min()) : 0;
  if constexpr (Reduction::how == method::fast) {
    return {0, cpu::growth<T>(into_sum), eta};
  } else {
    const double into_error = way.adds + 1 + 2 * way.merges + (squares ? 1 : 0);
    return {cpu::unit_roundoff<T>, cpu::carried<T>(cpu::growth<T>(into_sum), into_error), 2 * eta};
  }
}

template <class Reduction>
error_bound bound(const chain& way, std::uint64_t count, element_type result) {
  using T = typename Reduction::element;
  if constexpr (Reduction::what == operation::mean && !std::is_floating_point_v<T>) {
    return cpu::rounded_bound<double>();
  } else if constexpr (Reduction::what == operation::product && std::is_floating_point_v<T>) {
    return cpu::product_bound<T>(count);
  } else if constexpr (Reduction::how == method::exact) {
    return result == element_type::f32 ? cpu::rounded_bound<float>() : cpu::rounded_bound<double>();
  } else if constexpr (Reduction::order_free) {
    return {};
  } else {
    const error_bound sum = rounded_sum_bound<Reduction>(way, count);
    return Reduction::what == operation::mean ? cpu::divided<T>(sum) : sum;
  }
}

template <class Reduction, class partial>
constexpr host_fold make() {
  using total = typename Reduction::total;
  using state = typename total::state;
  static_assert(sizeof(state) <= most_state_bytes && sizeof(partial) <= most_state_bytes);
  return {Reduction::order_free ? reproducibility::exact : reproducibility::run_to_run,
          Reduction::longest,
          [](void* into) { ::new (into) state(total::identity()); },
          [](void* into, const void* from) {
            total::merge(*static_cast<state*>(into), static_cast<state>(*static_cast<const partial*>(from)));
          },
          [](const void* from, std::uint64_t count, element_type result) {
            return with_result<Reduction>(result, [&]<class R>(R) -> scalar {
              return total::template finish<R>(*static_cast<const state*>(from), count);
            });
          },
          bound<Reduction>};
}

}  // namespace

const host_fold* find_fold(operation what, element_type type, method how, bool of_totals) noexcept {
  return with_reduction(what, type, how, [&]<class Reduction>(Reduction) -> const host_fold* {
    static constexpr host_fold of_partials = make<Reduction, typename Reduction::kernel::state>();
    static constexpr host_fold totals = make<Reduction, typename Reduction::total::state>();
    return of_totals ? &totals : &of_partials;
  });
}

}  // namespace fanin::cuda
