// SPDX-License-Identifier: Apache-2.0
#include "oracle/truth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>

#include <fanin/loop.hpp>
#include <fanin/recipe.hpp>

#include "oracle/log_sum_exp.hpp"
#include "oracle/wide_numbers.hpp"

namespace fanin::oracle {

namespace {

struct exact_result {
  scalar rounded;
  exact_facts facts{};
};

/// The elements of an operation: element i of the second input, if there is one, is x[count + i].
struct operation_input {
  array_view x;
  std::size_t count;
};

/// The state of A after all elements, or after their magnitudes, added one by one in their order.
template <class A>
typename A::state state_of(const operation_input& input, bool magnitudes = false) {
  using W = typename A::element;
  constexpr std::size_t inputs = accumulator::inputs_of<A>();
  std::array<std::array<W, piece_size>, inputs> pieces;
  auto state = A::identity();
  for (std::size_t begin = 0; begin < input.count; begin += piece_size) {
    const std::size_t size = std::min(piece_size, input.count - begin);
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::span<W> piece(pieces[i].data(), size);
      read(input.x, i * input.count + begin, piece);
      if constexpr (std::same_as<W, double>) {
        if (magnitudes) std::ranges::transform(piece, piece.begin(), [](double x) { return std::fabs(x); });
      }
    }
    const fanin::detail::operands data{pieces[0].data(), pieces[inputs - 1].data(), begin};
    for (std::size_t i = 0; i < size; ++i) fanin::detail::add_element<A>(data, i, state);
  }
  return state;
}

/// The number of the result as a number of type `to`, which holds it.
template <class W>
scalar narrowed(const scalar& wide, element_type to) {
  return with_element(to, [&]<class T>() -> scalar {
    if constexpr (!complex_number<T> && floating<T> == floating<W>) {
      const auto number = [](W x) { return T(static_cast<computed_as<T>>(x)); };
      if (const auto* const found = get_if<indexed<W>>(&wide)) return indexed<T>{number(found->value), found->index};
      if (const auto* const found = get_if<extremes<W>>(&wide))
        return extremes<T>{number(found->min), number(found->max)};
      if (const auto* const found = get_if<W>(&wide)) return number(*found);
    }
    return wide;
  });
}

/// The exact result of the recipe for the elements, as a number of type `to`.
template <class Recipe>
exact_result exact(const operation_input& input, element_type to) {
  using A = typename Recipe::accumulator;
  using W = typename Recipe::element;
  using sums = accumulator::folds_as_t<A>;
  constexpr operation_row row = row_of(Recipe::what);
  const std::size_t count = input.count;
  const auto state = state_of<sums>(input);
  if constexpr (row.unrounded || !floating<W>) {
    return {narrowed<W>(A::template finish<typename Recipe::result>(state, count), to)};
  } else {
    const auto value = A::template finish<double>(state, count);
    exact_result found{value};
    if (to == element_type::f32) {
      if constexpr (requires { A::rounds_once; }) {
        found.rounded = A::template finish<float>(state, count);
      } else {
        found.rounded = static_cast<float>(value);
      }
    }
    if constexpr (requires { A::measure; }) {
      found.facts = dispersion_facts(value, state.squares.template round<double>(),
                                     static_cast<double>(count - A::measure.ddof), A::measure.root);
    } else {
      // M, of an error bound, is the operation's result for the magnitudes of the elements.
      found.facts = {value, A::template finish<double>(state_of<sums>(input, true), count)};
    }
    if constexpr (row.adds == summand::squares && is_root(row.value)) {
      const double squares = value * value * (is_quotient(row.value) ? count : 1);
      // The sum of the squares has to be in range, not its root.
      found.facts.of_magnitudes = std::max(squares, std::min(value, std::numeric_limits<double>::denorm_min()));
    }
    return found;
  }
}

using exact_function = exact_result (*)(const operation_input& input, element_type to);

/// The strictest method of the operation for elements that are read as W.
template <class W>
constexpr method strictest(operation what) {
  return arithmetic_method(what, type_of<W>, default_method(what, type_of<W>));
}

/// The instance of exact() for elements that are read as W. Null if the operation has no such elements.
template <class W>
exact_function find_exact(operation what) {
  return with_recipe<W>(what, strictest<W>(what), []<class Recipe>(Recipe) -> exact_function {
    constexpr bool is_found_elsewhere = Recipe::what == operation::sum || Recipe::what == operation::log_sum_exp;
    if constexpr (is_found_elsewhere || Recipe::method != strictest<W>(Recipe::what)) {
      return nullptr;
    } else {
      return &exact<Recipe>;
    }
  });
}

}  // namespace

truth::truth(operation what, const array_view& x, unsigned threads) {
  if (is_complex(x.type)) {
    complex_.emplace(what, x);
    rounded_ = complex_->rounded();
    return;
  }
  if (what == operation::sum) {
    sum_.emplace(x, threads);
    rounded_ = sum_->rounded(default_result(what, x.type));
    return;
  }
  if (what == operation::log_sum_exp) {
    const long double exact = log_sum_exp(x);
    facts_ = {static_cast<double>(exact), 1};  // M is not in the bound
    facts_error_ = log_sum_exp_error;
    rounded_ = default_result(what, x.type) == element_type::f32 ? scalar(static_cast<float>(exact))
                                                                 : scalar(static_cast<double>(exact));
    return;
  }
  const exact_function compute = with_wide_number(x.type, [&]<class W>() { return find_exact<W>(what); });
  const operation_row& row = row_of(what);
  if (compute == nullptr) throw unsupported(std::string(row.name) + " of " + std::string(to_string(x.type)));
  const std::size_t count = x.count / static_cast<std::size_t>(row.inputs);
  const exact_result found = compute({x, count}, default_result(what, x.type));
  rounded_ = found.rounded;
  facts_ = found.facts;
}

promise truth::judge(const scalar& value, const report& how) const {
  if (complex_) return complex_->judge(value, how);
  if (sum_) return sum_->judge(value, how);
  const bool bounded = facts_.of_magnitudes != 0 && how.method != method::exact && are_alike(value, rounded_);
  if (!bounded) return value == rounded_ ? promise::kept : promise::broken;
  error_bound bound = how.bound;
  bound.of_result += 0x1p-53;  // facts_.result is the exact result rounded once to double.
  bound.absolute += facts_error_;
  const double got = as_double(value);
  return oracle::judge(bound, value.type(), got, facts_, [&] { return std::fabs(got - facts_.result); });
}

std::optional<double> truth::error_ulps(const scalar& value) const {
  if (!sum_ || !is_floating(value.type())) return std::nullopt;
  return sum_->error_ulps(value);
}

}  // namespace fanin::oracle
