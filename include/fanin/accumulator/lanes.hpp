// SPDX-License-Identifier: Apache-2.0
// States as lanes, which are numbers of type int64. A transport, such as MPI or NCCL, adds the lanes of many
// states lane by lane, or takes the largest lane by lane. The result is the lanes of the merged state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/accumulator/ordered.hpp>
#include <fanin/recipe.hpp>

namespace fanin {

/// How a transport merges each lane of all participants.
enum class lane_merge : std::uint8_t {
  sum,  ///< add up
  max,  ///< take the largest
};

namespace accumulator {

/// The rank of x is an integer. The transport finds the largest rank, and so the element that is looked for. If
/// the largest element is looked for, the rank is ordered(x). Otherwise a smaller x has a larger rank. NaN has the
/// largest rank in both cases.
template <bool Largest, class T>
std::int64_t rank_of(T x) {
  const bool is_nan = x != x;
  return Largest || is_nan ? ordered(x) : ~ordered(x);
}
template <bool Largest, class T>
T of_rank(std::int64_t rank) {
  const bool is_nan = std::is_floating_point_v<T> && rank == std::numeric_limits<std::int64_t>::max();
  return of_ordered<T>(Largest || is_nan ? rank : ~rank);
}

/// The lanes of a state. There are `count` lanes, and `how` says how they are merged. read() takes lanes of
/// write(), or merged lanes of several states. Some states have no specialisation and no lanes: states whose order
/// matters, as in fast sums, and products.
template <class A, class State = typename A::state>
struct lanes {};

/// States of exact sums have member functions for their lanes.
template <class A, class State>
requires requires { State::lane_count; }
struct lanes<A, State> {
  static constexpr lane_merge how = lane_merge::sum;
  static constexpr std::size_t count = State::lane_count;
  /// The number of lanes that are words of one sum, and the exponent of the first of them. Both are 0 for two
  /// sums.
  static constexpr std::size_t words = [] {
    if constexpr (requires { State::sum_type::limb_count; }) return State::sum_type::limb_count;
    return 0;
  }();
  static constexpr int lowest_exponent = [] {
    if constexpr (requires { State::sum_type::lowest_exponent; }) return State::sum_type::lowest_exponent;
    return 0;
  }();
  static void write(const State& s, std::int64_t* out) { s.write_lanes(out); }
  static State read(const std::int64_t* in) { return State::read_lanes(in); }
};

/// A state of complex numbers has the lanes of the real parts, then the lanes of the imaginary parts.
template <class A, class Part>
requires requires { Part::lane_count; }
struct lanes<A, part_states<Part>> {
  using part = lanes<A, Part>;
  static constexpr lane_merge how = lane_merge::sum;
  static constexpr std::size_t count = 2 * part::count;
  static void write(const part_states<Part>& s, std::int64_t* out) {
    part::write(s.re, out);
    part::write(s.im, out + part::count);
  }
  static part_states<Part> read(const std::int64_t* in) { return {part::read(in), part::read(in + part::count)}; }
};
template <class A, class State>
requires requires(State s) { s.re[0].lane_count; }
struct lanes<A, State> {
  using part = lanes<A, std::remove_cvref_t<decltype(State::re[0])>>;
  static constexpr lane_merge how = lane_merge::sum;
  static constexpr std::size_t count = 2 * part::count;
  static void write(const State& s, std::int64_t* out) {
    part::write(s.re[0], out);
    part::write(s.im[0], out + part::count);
  }
  static State read(const std::int64_t* in) { return {{part::read(in)}, {part::read(in + part::count)}}; }
};

/// An integer has digits of 32 bits as lanes, least significant first. The last lane has the sign.
template <class A>
requires(!requires { A::largest; }) struct lanes<A, int128> {
  static constexpr lane_merge how = lane_merge::sum;
  static constexpr std::size_t count = 4;
  static void write(int128 s, std::int64_t* out) {
    for (int i = 0; i < 3; ++i) out[i] = static_cast<std::uint32_t>(s >> 32 * i);
    out[3] = static_cast<std::int64_t>(s >> 96);
  }
  static int128 read(const std::int64_t* in) {
    uint128 s = 0;
    for (int i = 3; i >= 0; --i) s = (s << 32) + static_cast<uint128>(static_cast<int128>(in[i]));
    return static_cast<int128>(s);
  }
};

/// A sum of squares that has reached its limit stays there, since no further square makes it smaller.
template <class A>
struct lanes<A, uint128> {
  static constexpr lane_merge how = lane_merge::sum;
  static constexpr std::size_t count = 4;
  static void write(uint128 s, std::int64_t* out) {
    for (int i = 0; i < 4; ++i) out[i] = static_cast<std::uint32_t>(s >> 32 * i);
  }
  static uint128 read(const std::int64_t* in) {
    uint128 low = 0;
    for (int i = 2; i >= 0; --i) low = (low << 32) + static_cast<std::uint64_t>(in[i]);
    const uint128 high = static_cast<std::uint64_t>(in[3]) + (low >> 96);
    constexpr uint128 digits = (uint128{1} << 96) - 1;
    return high >> 31 != 0 ? A::limit : high << 96 | (low & digits);
  }
};

template <class A>
struct lanes<A, integer_moments> {
  static constexpr lane_merge how = lane_merge::sum;
  static constexpr std::size_t count = 4 + 6;
  static void write(const integer_moments& s, std::int64_t* out) {
    lanes<A, int128>::write(s.sum, out);
    for (int i = 0; i < 4; ++i) out[4 + i] = static_cast<std::uint32_t>(s.squares >> 32 * i);
    for (int i = 0; i < 2; ++i) out[8 + i] = static_cast<std::uint32_t>(s.squares_high >> 32 * i);
  }
  static integer_moments read(const std::int64_t* in) {
    integer_moments s{lanes<A, int128>::read(in), 0, 0};
    uint128 carry = 0;
    for (int i = 0; i < 6; ++i) {
      carry += static_cast<std::uint64_t>(in[4 + i]);
      const auto digit = static_cast<std::uint32_t>(carry);
      if (i < 4) {
        s.squares |= static_cast<uint128>(digit) << 32 * i;
      } else {
        s.squares_high |= static_cast<std::uint64_t>(digit) << 32 * (i - 4);
      }
      carry >>= 32;
    }
    return s;
  }
};

template <class A>
struct lanes<A, integer_products> {
  static constexpr lane_merge how = lane_merge::sum;
  static constexpr std::size_t count = 6;
  static void write(const integer_products& s, std::int64_t* out) {
    for (int i = 0; i < 4; ++i) out[i] = static_cast<std::uint32_t>(s.low >> 32 * i);
    out[4] = static_cast<std::uint32_t>(s.high);
    out[5] = s.high >> 32;
  }
  static integer_products read(const std::int64_t* in) {
    uint128 low = 0;
    int128 carry = 0;
    for (int i = 0; i < 4; ++i) {
      carry += in[i];
      low |= static_cast<uint128>(static_cast<std::uint32_t>(carry)) << 32 * i;
      carry >>= 32;
    }
    return {low, static_cast<std::int64_t>(carry + in[4] + static_cast<int128>(in[5]) * (std::int64_t{1} << 32))};
  }
};

template <class A>
requires requires(const A& a) {
  []<class T>(const nonzero_count<T>&) {}(a);
}
struct lanes<A, std::uint64_t> {
  static constexpr lane_merge how = lane_merge::sum;
  static constexpr std::size_t count = 1;
  static void write(std::uint64_t s, std::int64_t* out) { *out = static_cast<std::int64_t>(s); }
  static std::uint64_t read(const std::int64_t* in) { return static_cast<std::uint64_t>(*in); }
};

/// The lane of a smallest or largest element is its rank.
template <class T, bool Largest>
struct extremum_lanes {
  static constexpr lane_merge how = lane_merge::max;
  static constexpr std::size_t count = 1;
  static void write(T s, std::int64_t* out) { *out = rank_of<Largest>(s); }
  static T read(const std::int64_t* in) { return of_rank<Largest, T>(*in); }
};
template <class A, class T>
requires std::derived_from<A, extremum<T, true>>
struct lanes<A, T> : extremum_lanes<T, true> {
};
template <class A, class T>
requires std::derived_from<A, extremum<T, false>>
struct lanes<A, T> : extremum_lanes<T, false> {
};
template <class A, class T>
struct lanes<A, extremes<T>> {
  static constexpr lane_merge how = lane_merge::max;
  static constexpr std::size_t count = 2;
  static void write(const extremes<T>& s, std::int64_t* out) {
    out[0] = rank_of<false>(s.min);
    out[1] = rank_of<true>(s.max);
  }
  static extremes<T> read(const std::int64_t* in) { return {of_rank<false, T>(in[0]), of_rank<true, T>(in[1])}; }
};

/// Whether states of A have lanes.
template <class A>
concept has_lanes = requires {
  lanes<A>::count;
};

}  // namespace accumulator
}  // namespace fanin
