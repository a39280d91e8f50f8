// SPDX-License-Identifier: Apache-2.0
#include "oracle/truth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fanin/loop.hpp>
#include <fanin/recipe.hpp>

#include "oracle/log_sum_exp.hpp"

namespace fanin::oracle {

namespace {

struct exact_result {
  scalar rounded;
  exact_facts facts{};
};

/// The state of A after all elements, added one by one in their order.
template <class A>
typename A::state state_of(const fanin::detail::operands& data, std::size_t count) {
  auto state = A::identity();
  for (std::size_t i = 0; i < count; ++i) fanin::detail::add_element<A>(data, i, state);
  return state;
}

template <class T>
std::vector<T> magnitudes_of(const void* x, std::size_t count) {
  std::vector<T> magnitudes(count);
  std::transform(static_cast<const T*>(x), static_cast<const T*>(x) + count, magnitudes.begin(),
                 [](T v) { return static_cast<T>(std::fabs(v)); });
  return magnitudes;
}

/// The exact result, and the M of an error bound, which is the operation's result for the magnitudes of the elements.
template <class A, class T>
exact_facts facts_of(const fanin::detail::operands& data, std::size_t count, const typename A::state& state) {
  const std::vector<T> x = magnitudes_of<T>(data.x, count);
  const std::vector<T> y = magnitudes_of<T>(data.y, accumulator::inputs_of<A>() == 2 ? count : 0);
  return {A::template finish<double>(state, count),
          A::template finish<double>(state_of<A>({x.data(), y.data()}, count), count)};
}

template <class Recipe>
exact_result exact(const fanin::detail::operands& data, std::size_t count) {
  using A = typename Recipe::accumulator;
  using T = typename Recipe::element;
  const auto state = state_of<A>(data, count);
  exact_result found{A::template finish<typename Recipe::result>(state, count)};
  constexpr bool bounded = row_of(Recipe::what).of_floats.fast && !row_of(Recipe::what).unrounded;
  if constexpr (floating<T> && requires { A::measure; }) {
    found.facts = dispersion_facts(A::template finish<double>(state, count), state.squares.template round<double>(),
                                   static_cast<double>(count - A::measure.ddof), A::measure.root);
  } else if constexpr (floating<T> && bounded) {
    found.facts = facts_of<A, T>(data, count, state);
  }
  constexpr operation_row row = row_of(Recipe::what);
  if constexpr (row.adds == summand::squares && is_root(row.value)) {
    const double root = found.facts.result, squares = root * root * (is_quotient(row.value) ? count : 1);
    // The sum of the squares has to be in range, not its root.
    found.facts.of_magnitudes = std::max(squares, std::min(root, std::numeric_limits<double>::denorm_min()));
  }
  return found;
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
  const operation_row& row = row_of(what);
  const std::size_t count = x.count / static_cast<std::size_t>(row.inputs);
  const fanin::detail::operands data{x.data, static_cast<const std::byte*>(x.data) + count * byte_size(x.type)};
  const method how = row.of_floats.exact ? method::exact : method::fast;
  const auto found = with_recipe(what, x.type, how, [&]<class Recipe>(Recipe) -> std::optional<exact_result> {
    constexpr bool is_found_above = Recipe::what == operation::sum || Recipe::what == operation::log_sum_exp;
    if constexpr (complex_number<typename Recipe::element> || is_found_above) return {};
    if constexpr (!complex_number<typename Recipe::element> && !is_found_above) return exact<Recipe>(data, count);
  });
  if (!found) throw unsupported(std::string(row.name) + " of " + std::string(to_string(x.type)));
  rounded_ = found->rounded;
  facts_ = found->facts;
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
