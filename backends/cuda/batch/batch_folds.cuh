// SPDX-License-Identifier: Apache-2.0
// Launching the kernels of batches, for every recipe.
#pragma once

#include "backends/cuda/batch/batch_launches.cuh"
#include "backends/cuda/batch/refold_kernel.cuh"

namespace fanin::cuda {

/// The accumulator whose states kernels of batches form. Only exact sums have another accumulator here than in
/// other kernels.
template <class Recipe>
struct batch_form : shared_form<typename Recipe::element, accumulator::folds_as_t<typename Recipe::accumulator>> {};
template <class Recipe>
requires requires { device_accumulator_of<Recipe>::identity(); }
struct batch_form<Recipe> {
  using type = device_accumulator_of<Recipe>;
};

/// Whether a recipe ends states of a thread that take too many registers for the end of a kernel: those of a
/// dispersion or a norm of integers of 64 bits.
template <class Recipe>
inline constexpr bool ends_long =
    std::is_same_v<typename batch_form<Recipe>::type::state, accumulator::integer_moments>;

/// The accumulator that kernels of batches fold, the accumulator that folds elements again if their sum does not
/// fit, and the use of states.
template <class Recipe>
struct batch_kernels {
  using exact = void;
  using accumulator = typename batch_form<Recipe>::type;
  static constexpr bool wide = is_wide_state(sizeof(typename accumulator::state));
  using writer = std::conditional_t<wide || ends_long<Recipe>, state_writer<accumulator>,
                                    batch_writer<accumulator, method_of_end<Recipe>>>;
};
template <class Recipe>
requires has_scaled_form<typename batch_form<Recipe>::type>
struct batch_kernels<Recipe> {
  using exact = typename batch_form<Recipe>::type;
  using accumulator = scaled_form_t<exact>;
  static constexpr bool wide = false;
  using writer = std::conditional_t<ends_sums<accumulator>, scaled_writer<accumulator>, state_writer<accumulator>>;
};

/// The kernel that folds again what does not fit into states of P. All operations with these states share it.
template <class P, class A>
constexpr auto refold_by = refold_kernel<P, A>;
template <class Word, class A>
constexpr auto refold_by<scaled_products<Word>, A> =
    refold_kernel<scaled_products<Word>, by_word<Word, accumulator::exact_dot<typename A::number>>,
                  by_word<Word, accumulator::exact_square_sum<typename A::number>>>;

/// Adds the kernels for batches of a recipe to Fold, the fold of its arrays.
template <class Recipe, class Fold>
class with_batches final : public Fold {
  using kernels = batch_kernels<Recipe>;
  using A = typename kernels::accumulator;
  using state = typename A::state;
  using launches = batch_launches<A, typename kernels::writer>;
  static constexpr bool wide = kernels::wide;
  static constexpr bool may_not_fit = !std::is_void_v<typename kernels::exact>;
  static constexpr unsigned size = vector<typename A::element>::size;
  static constexpr std::uint64_t least_chunk = least_chunk_of(sizeof(state));
  static constexpr std::uint64_t most_chunk = [] {
    if constexpr (folds_terms<A>) return std::uint64_t{A::sums::most_of_group};
    return least_chunk;
  }();

 public:
  using Fold::Fold;
  batch_fold batches() const override {
    constexpr bool finishes = !wide && !ends_long<Recipe> &&
                              (!folds_terms<A> || (ends_sums<A> && row_of(Recipe::what).value == sum_value::total));
    batch_fold fold{sizeof(state),
                    least_chunk,
                    most_chunk,
                    finishes,
                    finishes && may_not_fit && is_rounded_in_batches<typename Recipe::element>,
                    !wide};
    if constexpr (launches::uses_vector_kernels) fold.most_short = most_short_segment<typename A::element>;
    if constexpr (may_not_fit) fold.exact_state_bytes = sizeof(typename kernels::exact::state);
    return fold;
  }
  void launch_each(const execution& where, const batch_elements& all, const batch_output& out,
                   bool lines) const override {
    launches::each(where, all, typename kernels::writer{out}, lines);
  }
  void launch_refold(const execution& where, const batch_elements& all, const batch_output& out) const override {
    if constexpr (may_not_fit) {
      launch_overlapped(where, 4 * static_cast<unsigned>(where.multiprocessors), tuning::refold_threads, 0,
                        refold_by<A, typename kernels::exact>, all, out);
    }
  }
  rounding_chain chain_of_result(std::uint64_t length) const override {
    if constexpr (wide || may_not_fit) return {};
    const std::uint64_t vectors = (std::min(length, chunk_elements(length, least_chunk)) + size - 1) / size;
    const std::uint64_t chunks = chunk_count(length, least_chunk);
    constexpr double levels = 5;
    return {static_cast<double>((vectors + chunk_slots - 1) / chunk_slots * size),
            levels + (chunks > 1 ? static_cast<double>((chunks - 1) / chunk_slots + 1) + levels : 0)};
  }
};

}  // namespace fanin::cuda
