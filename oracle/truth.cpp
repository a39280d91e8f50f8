#include "oracle/truth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <type_traits>

#include <fanin/accumulator/dot.hpp>
#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/moments.hpp>
#include <fanin/error.hpp>

#include "cli/kit/typed.hpp"

namespace fanin::oracle {

namespace {

struct exact_result {
  scalar rounded;
  exact_facts facts{};
};

/// `Result`: what integers widen to.
template <class Result, class T>
exact_result exact_product(std::span<const T> x) {
  return {std::accumulate(x.begin(), x.end(), Result{1}, [](Result a, T b) { return a * static_cast<Result>(b); })};
}

template <class Result, class T>
exact_result exact_sum_of_squares(std::span<const T> x) {
  if constexpr (std::is_floating_point_v<T>) {
    exact_square_accumulator<T> sum;
    sum.add(x);
    const double wide = sum.template round<double>();
    return {sum.round(), {wide, wide}};
  } else {
    const auto add_square = [](Result a, T b) { return a + static_cast<Result>(b) * static_cast<Result>(b); };
    return {std::accumulate(x.begin(), x.end(), Result{0}, add_square)};
  }
}

/// Integers of up to 32 bits are exact in double.
template <class T>
exact_result exact_mean(std::span<const T> x) {
  exact_accumulator<double> sum, magnitudes;
  for (const T v : x) {
    sum.add(static_cast<double>(v));
    magnitudes.add(std::fabs(static_cast<double>(v)));
  }
  const double wide = sum.mean(x.size());
  if constexpr (std::is_same_v<T, float>) return {sum.mean<float>(x.size()), {wide, magnitudes.mean(x.size())}};
  return {wide, {wide, magnitudes.mean(x.size())}};
}

template <class T>
exact_result exact_variance(std::span<const T> x) {
  exact_moments_accumulator<T> moments;
  for (const T v : x) moments.add(v);
  return {moments.variance(x.size())};
}

template <class T>
exact_result exact_norm(std::span<const T> x) {
  exact_square_accumulator<T> squares;
  squares.add(x);
  return {squares.root()};
}

template <class T>
exact_result exact_dot(std::span<const T> x, std::span<const T> y) {
  exact_dot_accumulator<T> sum;
  for (std::size_t i = 0; i < x.size(); ++i) sum.add(x[i], y[i]);
  return {sum.round()};
}

template <class T>
exact_result exact(operation what, std::span<const T> x) {
  using wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                  std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  if (what == operation::product) return exact_product<wide>(x);
  if (what == operation::min) return {*std::ranges::min_element(x)};
  if (what == operation::max) return {*std::ranges::max_element(x)};
  if (what == operation::sum_of_squares) return exact_sum_of_squares<wide>(x);
  if (what == operation::mean) return exact_mean(x);
  if constexpr (std::is_floating_point_v<T>) {
    if (what == operation::norm2) return exact_norm(x);
    if (what == operation::variance) return exact_variance(x);
    return exact_dot(x.first(x.size() / 2), x.last(x.size() / 2));
  }
  throw unsupported(std::string(to_string(what)) + " of integers");
}

}  // namespace

truth::truth(operation what, const array_view& x, unsigned threads) {
  if (what == operation::sum) {
    sum_.emplace(x, threads);
    return;
  }
  const auto found = cli::with_type(
      x.type, [&]<class T>(T) { return exact(what, std::span<const T>(static_cast<const T*>(x.data), x.count)); });
  rounded_ = found.rounded;
  facts_ = found.facts;
}

promise truth::judge(const scalar& value, const report& how) const {
  if (sum_) return sum_->judge(value, how);
  const bool bounded = facts_.of_magnitudes != 0 && how.how != method::exact && value.index() == rounded_.index();
  if (!bounded) return value == rounded_ ? promise::kept : promise::broken;
  error_bound bound = how.bound;
  bound.of_result += 0x1p-53;  // what is known of the exact result
  const double got = as_double(value);
  return oracle::judge(bound, type_of_scalar(value), got, facts_, [&] { return std::fabs(got - facts_.result); });
}

std::optional<double> truth::error_ulps(const scalar& value) const {
  if (!sum_ || !is_floating(type_of_scalar(value))) return std::nullopt;
  return sum_->error_ulps(value);
}

}  // namespace fanin::oracle
