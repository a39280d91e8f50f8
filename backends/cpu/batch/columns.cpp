// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/columns.hpp"

#include <algorithm>
#include <new>

#include <fanin/loop.hpp>
#include <fanin/recipe.hpp>

namespace fanin::cpu {
namespace {

namespace acc = accumulator;

/// The states of a tile stay in an L2 cache, and those of one lane in an L1 cache.
constexpr std::size_t states_bytes = 262144, lane_bytes = 16384;

template <class A>
struct column_loop {
  using state = typename A::state;
  static constexpr std::size_t lanes = A::order_free ? 1 : detail::lanes_of<A>;
  static constexpr std::size_t width = std::min(states_bytes / lanes, lane_bytes) / sizeof(state);
  static constexpr std::size_t leaf = detail::leaf_of<A>;
  struct states {
    state lane[lanes][width];
  };

  static void fold(const void* x, std::ptrdiff_t along, std::size_t columns, std::size_t count, std::size_t used,
                   void* to) {
    auto& all = *::new (to) states;
    const auto* const rows = static_cast<const typename A::element*>(x);
    for (std::size_t j = 0; j < used; ++j) {
      state* const lane = all.lane[j];
      std::fill_n(lane, columns, A::identity());
      for (std::size_t i = j; i < count; i += lanes) {
        add_row(lane, rows + static_cast<std::ptrdiff_t>(i) * along, columns);
      }
    }
  }
  static void merge(void* into, const void* from, std::size_t columns, std::size_t used) {
    for (std::size_t j = 0; j < used; ++j) {
      merge_lane(static_cast<states*>(into)->lane[j], static_cast<const states*>(from)->lane[j], columns);
    }
  }
  static void collapse(void* to, std::size_t columns, std::size_t used) {
    auto& all = *static_cast<states*>(to);
    state none[width];
    std::fill_n(none, columns, A::identity());
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t j = 0; j < std::min(half, used); ++j) {
        merge_lane(all.lane[j], j + half < used ? all.lane[j + half] : none, columns);
      }
    }
  }

 private:
  // States and elements do not overlap: without that, the compiler writes each loop twice.
  [[gnu::noinline]] static void add_row(state* __restrict into, const typename A::element* __restrict row,
                                        std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) A::add(into[c], row[c]);
  }
  [[gnu::noinline]] static void merge_lane(state* __restrict into, const state* __restrict from,
                                           std::size_t columns) {
    for (std::size_t c = 0; c < columns; ++c) A::merge(into[c], from[c]);
  }
};

/// Where states are small, adding an element takes no longer than moving it. Types that few reduce by columns are
/// left out, for the sake of the library's size: numbers of 8 bits, integers of 16 bits and complex ones.
template <class A, class T = typename A::element>
constexpr bool folds_columns = sizeof(typename A::state) <= 16 && acc::inputs_of<A>() == 1 &&
                               !acc::wants_position<A>() && !complex_number<T> &&
                               (sizeof(T) >= 4 || (narrow_float<T> && sizeof(T) == 2));

}  // namespace

const column_arithmetic* find_column_arithmetic(operation what, element_type type, method how) {
  return with_recipe(what, type, how, []<class Recipe>(Recipe) -> const column_arithmetic* {
    using A = typename Recipe::accumulator;
    using folded = acc::folds_as_t<A>;
    if constexpr (folds_columns<folded>) {
      using loop = column_loop<folded>;
      static constexpr auto finish = [](const void* state, std::size_t column, std::uint64_t count,
                                        element_type result, void* out) {
        with_result<Recipe>(result, [&]<class R>(R) {
          const auto& all = *static_cast<const typename loop::states*>(state);
          *static_cast<R*>(out) = A::template finish<R>(all.lane[0][column], count);
        });
      };
      static constexpr column_arithmetic functions{
          loop::width, loop::lanes, loop::leaf,     sizeof(typename loop::states),
          loop::fold,  loop::merge, loop::collapse, finish};
      return &functions;
    } else {
      return nullptr;
    }
  });
}

}  // namespace fanin::cpu
