// SPDX-License-Identifier: Apache-2.0
// States of exact sums in the C interface.
#include <algorithm>
#include <span>
#include <variant>

#include <fanin/state.hpp>

#include "backends/c/convert.hpp"

namespace {

using namespace fanin;
using c::guarded, c::required;

using any_accumulator = std::variant<exact_accumulator<float>, exact_accumulator<double>,
                                     exact_square_accumulator<float>, exact_square_accumulator<double>>;

/// The value of `what` as R. @throws invalid_argument if the state has none, unsupported for other operations
template <class R, class T, int Power>
R value_of(const basic_exact_accumulator<T, Power>& state, operation what) {
  constexpr operation own = detail::operation_of_power<Power>;
  const operation_row& row = row_of(what);
  if (row.adds == row_of(own).adds) {
    if (row.value == sum_value::total) return state.template round<R>();
    if constexpr (Power == 1) {
      if (row.value == sum_value::mean) return state.template mean<R>();
    } else {
      if (row.value == sum_value::root) return state.template root<R>();
    }
  }
  throw unsupported("the state of a " + std::string(to_string(own)) + " has no " + std::string(to_string(what)));
}

/// Sets `made` to the state of no elements whose operation and type these are. Returns false if there is none.
template <class T, int Power>
bool is_made(basic_exact_accumulator<T, Power> none, operation what, element_type type, any_accumulator& made) {
  if (what != detail::operation_of_power<Power> || type != type_of<T>) return false;
  made = none;
  return true;
}
template <class... A>
bool make_one_of(operation what, element_type type, std::variant<A...>& made) {
  return (is_made(A(), what, type, made) || ...);
}

any_accumulator made_for(operation what, element_type type) {
  any_accumulator made;
  if (!make_one_of(what, type, made)) {
    throw unsupported("a state is one of sum or sum_of_squares of f32 or f64, not of " +
                      std::string(to_string(what)) + " of " + std::string(to_string(type)));
  }
  return made;
}

/// A state of no elements, of the same kind as the saved state. @throws invalid_argument if `saved` is no saved
/// state
any_accumulator kind_of(std::span<const std::byte> saved) {
  any_accumulator made;
  if (saved.size() < 8) return made;  // load() says what is wrong
  const auto of = [&](std::size_t i) { return std::to_integer<int>(saved[i]); };
  make_one_of(of(5) == 2 ? detail::operation_of_power<2> : detail::operation_of_power<1>,
              of(4) == 4 ? element_type::f32 : element_type::f64, made);
  return made;
}

}  // namespace

struct fanin_state {
  any_accumulator sum;
};

fanin_status fanin_state_create(fanin_operation what, fanin_type type, fanin_state** made) {
  return guarded([&] {
    *required(made, "the place for the state") = nullptr;
    *made = new fanin_state{made_for(c::operation_of(what), c::type_from(type))};
  });
}

fanin_status fanin_state_accumulate(fanin_state* state, const fanin_input* input, const fanin_options* given,
                                    fanin_context* context, fanin_report* report) {
  return guarded([&] {
    const options chosen = c::options_of(given);
    const input_views inputs = c::inputs_of(operation::sum, input);
    std::visit(
        [&](auto& sum) {
          c::write_report(
              context != nullptr ? accumulate(sum, inputs, context->work, chosen) : accumulate(sum, inputs, chosen),
              report);
        },
        required(state, "the state")->sum);
  });
}

fanin_status fanin_state_merge(fanin_state* state, const fanin_state* other) {
  return guarded([&] {
    required(other, "the other state");
    std::visit(
        [&]<class A>(A& sum) {
          const A* const same = std::get_if<A>(&other->sum);
          if (same == nullptr)
            throw invalid_argument("the states differ in operation or type, so they cannot be merged");
          sum.merge(*same);
        },
        required(state, "the state")->sum);
  });
}

uint64_t fanin_state_count(const fanin_state* state) {
  return state == nullptr ? 0 : std::visit([](const auto& sum) { return sum.count(); }, state->sum);
}

fanin_status fanin_state_finish(const fanin_state* state, fanin_operation what, fanin_type result_type,
                                void* result) {
  return guarded([&] {
    const operation op = c::operation_of(what);
    required(result, "the result");
    std::visit(
        [&]<class A>(const A& sum) {
          with_element(c::result_type_of(result_type).value_or(type_of<typename A::value_type>), [&]<class R>() {
            if constexpr (floating<R>) {
              *static_cast<R*>(result) = value_of<R>(sum, op);
            } else {
              throw unsupported("the type of the result has to be a floating-point type");
            }
          });
        },
        required(state, "the state")->sum);
  });
}

size_t fanin_state_saved_bytes(const fanin_state* state) {
  return state == nullptr ? 0 : std::visit([](const auto& sum) { return sum.saved_bytes; }, state->sum);
}

fanin_status fanin_state_save(const fanin_state* state, void* saved, size_t bytes) {
  return guarded([&] {
    required(saved, "the memory for the bytes");
    std::visit(
        [&](const auto& sum) {
          if (bytes != sum.saved_bytes) {
            throw invalid_argument("this saved state has " + std::to_string(sum.saved_bytes) + " bytes, not " +
                                   std::to_string(bytes));
          }
          const auto all = sum.save();
          std::memcpy(saved, all.data(), all.size());
        },
        required(state, "the state")->sum);
  });
}

fanin_status fanin_state_load(const void* saved, size_t bytes, fanin_state** made) {
  return guarded([&] {
    *required(made, "the place for the state") = nullptr;
    const std::span<const std::byte> all(static_cast<const std::byte*>(required(saved, "the saved state")), bytes);
    any_accumulator sum = kind_of(all);
    std::visit([&]<class A>(A& one) { one = A::load(all); }, sum);
    *made = new fanin_state{sum};
  });
}

size_t fanin_state_lane_count(const fanin_state* state) {
  return state == nullptr ? 0 : std::visit([](const auto& sum) { return sum.lane_count; }, state->sum);
}

fanin_status fanin_state_lanes(const fanin_state* state, int64_t* lanes) {
  return guarded([&] {
    required(lanes, "the memory for the lanes");
    std::visit(
        [&]<class A>(const A& sum) { sum.to_lanes(std::span<std::int64_t, A::lane_count>(lanes, A::lane_count)); },
        required(state, "the state")->sum);
  });
}

fanin_status fanin_state_from_lanes(fanin_state* state, const int64_t* lanes) {
  return guarded([&] {
    required(lanes, "the lanes");
    std::visit(
        [&]<class A>(A& sum) {
          sum = A::from_lanes(std::span<const std::int64_t, A::lane_count>(lanes, A::lane_count));
        },
        required(state, "the state")->sum);
  });
}

void fanin_state_destroy(fanin_state* state) { delete state; }
