// SPDX-License-Identifier: Apache-2.0
// The SIMD leaves, dispatched at run time to the best instruction set of this machine.
// All of them need round to nearest and no flushing of subnormals (environment.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/dispersion.hpp>
#include <fanin/accumulator/log_sum.hpp>
#include <fanin/accumulator/magnitude.hpp>
#include <fanin/accumulator/product.hpp>
#include <fanin/accumulator/sum.hpp>
#include <fanin/loop.hpp>

/// Calls the macro X(name, type) for each element type in which machines compute: Highway exports functions, not
/// templates.
#define FANIN_FOR_EACH_COMPUTABLE(X) \
  X(f32, float)                      \
  X(f64, double)                     \
  FANIN_FOR_EACH_INTEGER(X)
#define FANIN_FOR_EACH_INTEGER(X) \
  X(i32, std::int32_t)            \
  X(i64, std::int64_t)            \
  X(u32, std::uint32_t)           \
  X(u64, std::uint64_t)           \
  X(i8, std::int8_t)              \
  X(u8, std::uint8_t)             \
  X(i16, std::int16_t)            \
  X(u16, std::uint16_t)

namespace fanin::cpu {

template <class T>
using magnitude_sum = accumulator::plain_sum<T, accumulator::magnitude_term>;

/// The accumulators whose fold_to_states() and total_of_row() serve A. Only accumulators of float and double have
/// them.
template <class Fold, class Total = Fold>
struct simd_leaf_by {
  using fold = Fold;
  using total = Total;
};
template <class A>
struct simd_leaf {};
template <std::floating_point T>
struct simd_leaf<accumulator::plain_sum<T>> : simd_leaf_by<accumulator::plain_sum<T>> {};
template <std::floating_point T>
struct simd_leaf<magnitude_sum<T>> : simd_leaf_by<magnitude_sum<T>, accumulator::plain_sum<T>> {};
template <std::floating_point T>
struct simd_leaf<accumulator::plain_dot<T>> : simd_leaf_by<accumulator::plain_dot<T>, accumulator::plain_sum<T>> {};
template <std::floating_point T>
struct simd_leaf<accumulator::plain_square_sum<T>> : simd_leaf<accumulator::plain_dot<T>> {};
template <std::floating_point T>
struct simd_leaf<accumulator::plain_product<T>> : simd_leaf_by<accumulator::plain_product<T>> {};
template <std::floating_point T>
struct simd_leaf<accumulator::compensated_sum<T>> : simd_leaf_by<accumulator::compensated_sum<T>> {};
template <std::floating_point T>
struct simd_leaf<accumulator::compensated_dot<T>>
    : simd_leaf_by<accumulator::compensated_dot<T>, accumulator::compensated_sum<T>> {};
template <std::floating_point T>
struct simd_leaf<accumulator::compensated_square_sum<T>> : simd_leaf<accumulator::compensated_dot<T>> {};
template <class A>
concept has_simd_leaf = requires {
  typename simd_leaf<A>::fold;
};

/// The numbers of A's state.
template <class A>
using numbers_of = std::array<typename A::element, sizeof(typename A::state) / sizeof(typename A::element)>;

/// Folds any number of elements in the fixed order (fanin/loop.hpp) into a row of states. A row has row_bytes /
/// sizeof(T) numbers. For compensated accumulators a row has this many sums, and then this many errors.
template <class Accumulator>
void fold_to_states(const detail::operands& data, std::size_t count, typename Accumulator::element* state);
/// Merges the states of a row, state j with state j + size / 2 and so on.
template <class Accumulator>
numbers_of<Accumulator> total_of_row(const typename Accumulator::element* state);
/// fold_to_states() and total_of_row() in one, which saves the way through memory.
template <class Accumulator>
numbers_of<Accumulator> fold_whole(const detail::operands& data, std::size_t count);

/// Whether fold_each() serves A. The others are left out for the sake of the library's size.
template <class A>
constexpr bool has_fold_each = false;
template <class T>
constexpr bool has_fold_each<accumulator::plain_sum<T>> = true;
template <class T>
constexpr bool has_fold_each<magnitude_sum<T>> = true;
template <class T>
constexpr bool has_fold_each<accumulator::plain_dot<T>> = true;
template <class T>
constexpr bool has_fold_each<accumulator::plain_product<T>> = true;
template <class T>
constexpr bool has_fold_each<accumulator::compensated_sum<T>> = true;
/// Calls fold_whole() for each of several arrays.
template <class Accumulator>
void fold_each(const detail::operands* runs, const std::size_t* counts, std::size_t number,
               numbers_of<Accumulator>* totals);

/// Smallest or largest of count > 0 elements; NaN if an element is NaN; -0 is below +0. `prefetches`: whether what
/// follows them in memory is to be prefetched.
template <class T>
T smallest_leaf(const T* x, std::size_t count, bool prefetches);
template <class T>
T largest_leaf(const T* x, std::size_t count, bool prefetches);
/// The index of the first element with the bits of `value`, or if that is NaN, of the first NaN. There is one.
template <class T>
std::size_t find_leaf(const T* x, std::size_t count, T value);
/// The number of elements that are zero.
template <class T>
std::size_t zeros_leaf(const T* x, std::size_t count, bool prefetches);

/// Merges rows of states of log_sum into as many others as a row has. If that is no multiple of 32, up to a multiple
/// of 32 states are read and overwritten. `step` is the distance of the references. All rows have the same sums,
/// which are 1 if `sum` is null.
void merge_log_sums(const double* largest, const double* sum, std::size_t rows, std::ptrdiff_t step,
                    std::size_t row_width, double* into_largest, double* into_sum);
/// The bits of a magnitude of floats or doubles have the order of the magnitudes.
template <class T>
using magnitude_bits = std::conditional_t<sizeof(T) == sizeof(float), std::int32_t, std::int64_t>;
/// Whether elements are near, of which the largest magnitude has the bits `most`.
template <class T>
bool is_near(magnitude_bits<T> most) {
  return most <= std::bit_cast<magnitude_bits<T>>(T{accumulator::most_near});
}
/// Adds accumulator::exponential_of_near() of up to 32 rows of `row_width` numbers, `step` apart, to `sum`, and
/// raises `most` to the bits of the largest magnitudes: of each column of the rows, or if `together`, of columns with
/// equal numbers modulo 16. The arrays `sum` and `most` have a multiple of 16 numbers. Numbers `ahead` of these are
/// prefetched.
void add_near_rows(const float* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                   std::int32_t* most, bool together, std::ptrdiff_t ahead);
void add_near_rows(const double* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum,
                   std::int64_t* most, bool together, std::ptrdiff_t ahead);
/// Sets `total` to the merge of the states of a leaf, whose references are 0. The leaf has at least two elements.
/// Returns false if it is not near.
bool total_of_near_leaf(const float* x, std::size_t count, double& total);
bool total_of_near_leaf(const double* x, std::size_t count, double& total);
/// The merge of a row of 32 states whose references are 0.
double total_of_plain_row(const double* sum);
/// Writes the logarithms of states: accumulator::log_sum::finish() before the rounding to the type of the result.
/// Both arrays have room for a multiple of 8 numbers, and the other states are overwritten.
void log_sum_values(accumulator::scaled_sum* states, std::size_t count, double* out);
/// Merges states of log_sum as merge_log_sums() does. If they are `plain`, all references are 0, and any number of
/// sums are added.
void merge_states(bool plain, const double* largest, const double* sum, std::size_t row_width, double* into_largest,
                  double* into_sum);
/// Elements whose exponentials are formed together at most.
inline constexpr std::size_t exponentiated_together = 128;
/// Writes exponential_of_near() of each element to `out`, which has room for exponentiated_together numbers. Returns
/// false if an element is not near. Numbers of `out` may then be wrong.
bool exponentiate_block(const float* x, std::size_t count, double* out);
bool exponentiate_block(const double* x, std::size_t count, double* out);
/// The merge of the states of a row.
accumulator::scaled_sum total_of_log_sums(bool plain, const double* largest, const double* sum,
                                          std::size_t row_width);

/// A row of states of log_sum.
template <class T>
struct log_sum_row {
  using A = accumulator::log_sum<T>;
  static constexpr std::size_t row_width = detail::row_width_of<A>;
  bool plain;  ///< all references are 0
  double largest[row_width], sum[row_width];

  void reset() {
    plain = false;
    std::fill_n(largest, row_width, A::identity().largest);
    std::fill_n(sum, row_width, A::identity().sum);
  }
  /// Begins sums of exponentials.
  void make_plain() {
    plain = true;
    std::fill_n(largest, row_width, 0);
    std::fill_n(sum, row_width, 0);
  }
  void merge(const log_sum_row& from) {
    plain = plain && from.plain;
    merge_states(plain, from.largest, from.sum, row_width, largest, sum);
  }
  accumulator::scaled_sum total() const { return total_of_log_sums(plain, largest, sum, row_width); }
};
/// Folds any number of floats or doubles in the fixed order, with the bits of the general loop. Memory: 16 KiB of
/// stack for floats, and 1 KiB for each level of the tree.
template <class T>
void fold_log_sums(const T* x, std::size_t count, log_sum_row<T>& out);
/// The states of several arrays, as fold_log_sums() and total() form them.
template <class T>
void fold_log_sums_each(const detail::operands* runs, const std::size_t* counts, std::size_t number,
                        accumulator::scaled_sum* totals);

/// The number of states to which vectors merge a row of moments: at least a vector on every instruction set.
inline constexpr std::size_t moment_states_left = 8;
/// A row of states, which consist of doubles: a plane for each of these.
template <class A>
struct moment_row {
  using state = typename A::state;
  static constexpr std::size_t row_width = detail::row_width_of<A>, planes = sizeof(state) / sizeof(double);
  double plane[planes][row_width];

  void reset() {
    for (std::size_t i = 0; i < row_width; ++i) set(i, A::identity());
  }
  state state_of(std::size_t i) const {
    std::array<double, planes> numbers;
    for (std::size_t p = 0; p < planes; ++p) numbers[p] = plane[p][i];
    return std::bit_cast<state>(numbers);
  }
  void set(std::size_t i, const state& s) {
    const auto numbers = std::bit_cast<std::array<double, planes>>(s);
    for (std::size_t p = 0; p < planes; ++p) plane[p][i] = numbers[p];
  }
  void merge(const moment_row& from);
  /// The merge of all states, state j with state j + row_width / 2 and so on.
  state total() const;
};
/// Folds any number of elements into the sums for a variance, in the fixed order, with the bits of the general loop.
/// A is plain_moments<float>, compensated_moments or shifted_moments<double>. Memory: 8 KiB of stack, and up to 2 KiB
/// for each level of the tree.
template <class A>
void fold_moments(const typename A::element* x, std::size_t count, moment_row<A>& out);
/// The states of several arrays of floats, as fold_moments() and total() form them.
void fold_moments_each(const detail::operands* runs, const std::size_t* counts, std::size_t number,
                       accumulator::double_moments* totals);

/// Returns true for floating-point numbers of 8 or 16 bits, which become floats before they are folded.
constexpr bool is_widened(element_type type) { return !is_integer(type) && byte_size(type) < sizeof(float); }
/// Writes elements of 8 or 16 bits as floats.
void widen(const void* x, std::size_t count, element_type type, float* out);
/// Writes rows of elements of 8 or 16 bits, which begin `along` elements apart, one after another as floats.
void widen_rows(const void* x, std::ptrdiff_t along, std::size_t rows, std::size_t columns, element_type type,
                float* out);

/// Converts elements of 8 or 16 bits to floats, and folds these as `floats` does. Blocks of floats are on the
/// stack, and stay in the L1 cache. If `settled_by` is not null, the state is a count. settled_by() gets the count
/// of one block and the size of the block, and says whether these settle the answer. The following blocks are then
/// left out. Memory: 32 KiB of stack, and the memory of fold_blocks_in_order().
void fold_widened(const detail::arithmetic& floats, element_type type,
                  bool (*settled_by)(std::uint64_t, std::uint64_t), const detail::operands& data, std::size_t count,
                  void* state);

}  // namespace fanin::cpu
