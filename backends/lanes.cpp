// SPDX-License-Identifier: Apache-2.0
// The lanes behind fanin/lanes.hpp: those of the state, then the number of elements with which the value is finished.
#include <fanin/lanes.hpp>

#include <array>
#include <string>

#include <fanin/state.hpp>

#include "backends/checks.hpp"
#include "backends/cpu/fold.hpp"
#include "backends/presence_rule.hpp"

namespace fanin {
namespace {

/// The lanes of a recipe, behind function pointers over untyped states.
struct merging {
  lane_format format;
  std::size_t state_bytes;
  void (*write)(const void* state, std::int64_t* out);
  void (*finish)(const std::int64_t* lanes, std::uint64_t count, element_type result, void* out);
};

/// The words in the middle of the exponent range, of sums with many words.
template <class Lanes>
constexpr lane_format format_of() {
  constexpr std::size_t usual = 20;
  lane_format format{Lanes::count + 1, Lanes::how};
  if constexpr (requires { Lanes::words; }) {
    if (Lanes::words > 2 * usual) {
      constexpr int middle = -Lanes::lowest_exponent / 32;
      format.words = Lanes::words;
      format.first_usual = static_cast<std::size_t>(middle) - usual / 2;
      format.usual = usual;
    }
  }
  return format;
}

template <class Recipe>
constexpr merging merging_of() {
  using A = typename Recipe::accumulator;
  using state = typename A::state;
  using state_lanes = accumulator::lanes<A>;
  static_assert(sizeof(state) <= sizeof(cpu::state_buffer) && state_lanes::count + 1 <= most_lanes);
  return {format_of<state_lanes>(), sizeof(state),
          [](const void* from, std::int64_t* out) { state_lanes::write(*static_cast<const state*>(from), out); },
          [](const std::int64_t* lanes, std::uint64_t count, element_type result, void* out) {
            with_result<Recipe>(result, [&]<class R>(R) {
              *static_cast<R*>(out) = A::template finish<R>(state_lanes::read(lanes), count);
            });
          }};
}

template <class Recipe>
constexpr merging merging_functions = merging_of<Recipe>();

using merging_table = std::array<std::array<const merging*, element_count>, operation_count>;

/// The merging of each operation and element type, or null.
merging_table all_mergings() {
  merging_table all;
  for (const operation what : all_operations) {
    for (const element_type type : all_element_types) {
      all[static_cast<std::size_t>(what)][static_cast<std::size_t>(type)] =
          with_recipe(what, type, method::exact, []<class Recipe>(Recipe) -> const merging* {
            if constexpr (accumulator::has_lanes<typename Recipe::accumulator>) return &merging_functions<Recipe>;
            return nullptr;
          });
    }
  }
  return all;
}

const merging& find_merging(operation what, element_type type) {
  static const merging_table all = all_mergings();
  const bool exists = row_of(what).what == what && size_of(type) > 0;  // or they throw
  const merging* const found = exists ? all[static_cast<std::size_t>(what)][static_cast<std::size_t>(type)] : nullptr;
  if (found != nullptr) return *found;
  throw unsupported("partial results of " + std::string(to_string(what)) + " of " + std::string(to_string(type)) +
                    " do not merge as lanes");
}

void check_lanes(const merging& m, std::size_t count) {
  if (count == m.format.count) return;
  throw invalid_argument("the reduction has " + std::to_string(m.format.count) + " lanes, and there are " +
                         std::to_string(count));
}

}  // namespace

lane_format lanes_of(operation what, element_type type) { return find_merging(what, type).format; }

report to_lanes(operation what, const input_views& inputs, std::span<std::int64_t> out, const options& chosen) {
  const element_type type = inputs.type();
  const merging& m = find_merging(what, type);
  check_lanes(m, out.size());
  options exactly = chosen;
  if (arithmetic_method(what, type, method::fast) == arithmetic_method(what, type, method::exact)) exactly.how = {};
  cpu::state_buffer state;
  report done = detail::exact_state(what, type, inputs, state.bytes, m.state_bytes, exactly);
  m.write(state.bytes, out.data());
  const std::uint64_t count = inputs.count();
  out.back() = static_cast<std::int64_t>(finished_count(row_of(what).absent, count, count - done.absent));
  return done;
}

void from_lanes(operation what, element_type type, std::span<const std::int64_t> merged, const result_view& value) {
  const merging& m = find_merging(what, type);
  check_lanes(m, merged.size());
  check_result(what, value, {});
  if (!is_result(what, type, method::exact, value.type)) {
    throw invalid_argument("the memory for the result is of another type than the result");
  }
  const auto count = static_cast<std::uint64_t>(merged.back());
  check_count(what, count);
  m.finish(merged.data(), count, value.type, value.data);
}

}  // namespace fanin
