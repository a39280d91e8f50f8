// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/paired_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

/// The mid-ranks of the magnitudes, doubled so that they are whole numbers.
std::vector<std::size_t> doubled_ranks(std::span<const double> differences) {
  const auto magnitude = [&](std::size_t i) { return std::abs(differences[i]); };
  std::vector<std::size_t> order(differences.size()), ranks(differences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, magnitude);
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && magnitude(order[last]) == magnitude(order[first])) ++last;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = first + 1 + last;
  }
  return ranks;
}

/// The probability of each rank sum, if the sum contains every rank with probability 1/2.
std::vector<double> sum_probabilities(std::span<const std::size_t> ranks) {
  std::vector<double> probability(std::accumulate(ranks.begin(), ranks.end(), std::size_t{1}));
  probability[0] = 1;
  std::size_t most = 0;
  for (const std::size_t rank : ranks) {
    most += rank;
    for (std::size_t sum = most; sum >= rank; --sum) {
      probability[sum] = (probability[sum] + probability[sum - rank]) / 2;
    }
    for (std::size_t sum = 0; sum < rank; ++sum) probability[sum] /= 2;
  }
  return probability;
}

std::vector<double> sorted_pairwise_means(std::span<const double> x) {
  std::vector<double> means;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i; j < x.size(); ++j) means.push_back((x[i] + x[j]) / 2);
  }
  std::ranges::sort(means);
  return means;
}

/// The p-value of the hypothesis that the shift is not above `threshold`.
double p_above(std::span<const double> differences, double threshold) {
  std::vector<double> beyond(differences.begin(), differences.end());
  for (double& one : beyond) one -= threshold;
  return signed_rank_p(beyond);
}

std::vector<double> negated(std::vector<double> x) {
  for (double& one : x) one = -one;
  return x;
}

/// The number of pairs that would probably decide the case. The half width of the confidence interval is z standard
/// errors, and a standard error shrinks with the square root of the number of pairs. A normal tail of probability p
/// begins below sqrt(2 ln(1/p)) standard deviations; the difference is a reserve for the power of the test.
std::optional<double> pairs_to_decide(const judgement& one, double threshold, double error, std::size_t pairs,
                                      std::size_t cases) {
  constexpr double z = 2.326, most = most_pairs;
  const bool within = std::abs(one.moved.estimate) < threshold;
  const double distance = std::abs(std::abs(one.moved.estimate) - threshold);
  const double standard_error = (one.moved.high - one.moved.low) / (2 * z);
  const double tests = within ? 1 : static_cast<double>(cases);
  const double needed =
      static_cast<double>(pairs) * 2 * std::log(tests / error) * std::pow(standard_error / distance, 2);
  if (!(needed <= most)) return {};
  return std::max({std::ceil(needed), static_cast<double>(pairs + 1), static_cast<double>(pairs_needed(cases))});
}

judgement describe(const paired_case& one, double threshold, double error) {
  judgement found;
  found.moved = shift_of(one.b_over_a, error);
  if (!one.a_over_a.empty()) {
    const shift own = shift_of(one.a_over_a, error);
    found.floor = std::max(std::abs(own.low), std::abs(own.high));
  }
  const std::vector<double> a_over_b = negated(one.b_over_a);
  found.p_slower = p_above(one.b_over_a, threshold);
  found.p_faster = p_above(a_over_b, threshold);
  found.p_same = std::max(p_above(one.b_over_a, -threshold), p_above(a_over_b, -threshold));
  return found;
}

void adjust(std::vector<judgement>& all, double judgement::*p, std::size_t further) {
  std::vector<double> values(all.size());
  std::ranges::transform(all, values.begin(), p);
  values = holm(values, further);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].*p = values[i];
}

}  // namespace

double signed_rank_p(std::span<const double> differences) {
  const std::vector<std::size_t> ranks = doubled_ranks(differences);
  std::size_t reached = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (differences[i] > 0) reached += ranks[i];
  }
  const std::vector<double> probability = sum_probabilities(ranks);
  return std::accumulate(probability.begin() + static_cast<std::ptrdiff_t>(reached), probability.end(), 0.0);
}

// The test rejects every shift below the k-th smallest pairwise mean if a rank sum below k has a probability of at
// most `error`.
shift shift_of(std::span<const double> differences, double error) {
  const std::vector<double> means = sorted_pairwise_means(differences);
  const double estimate = measure::median(means);
  std::vector<std::size_t> ranks(differences.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const std::vector<double> probability = sum_probabilities(ranks);
  std::size_t k = 0;
  double tail = probability[0];
  while (tail <= error) tail += probability[++k];
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (k == 0) return {estimate, -infinity, infinity};
  return {estimate, means[k - 1], means[means.size() - k]};
}

std::vector<double> holm(std::span<const double> p, std::size_t further) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double before = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    before = std::max(before, std::min(1.0, static_cast<double>(order.size() + further - i) * p[order[i]]));
    adjusted[order[i]] = before;
  }
  return adjusted;
}

std::string_view to_string(verdict kind) {
  constexpr std::string_view names[] = {"SAME", "FASTER", "SLOWER", "UNDECIDED"};
  return names[static_cast<std::size_t>(kind)];
}

std::size_t pairs_needed(std::size_t cases) {
  std::size_t pairs = least_pairs;
  while (static_cast<double>(cases) * std::pow(0.5, static_cast<double>(pairs)) >= error_rate) ++pairs;
  return pairs;
}

std::vector<judgement> judge(std::span<const paired_case> cases, double threshold, double error,
                             std::size_t further) {
  std::vector<judgement> all;
  for (const paired_case& one : cases) all.push_back(describe(one, threshold, error));
  adjust(all, &judgement::p_slower, further);
  adjust(all, &judgement::p_faster, further);
  const double total = static_cast<double>(cases.size() + further);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    judgement& one = all[i];
    const std::size_t pairs = cases[i].b_over_a.size();
    if (pairs < least_pairs) continue;
    const bool slower = one.p_slower < error, beyond = slower || one.p_faster < error;
    one.hidden = beyond && one.floor && std::abs(one.moved.estimate) <= *one.floor;
    if (beyond && !one.hidden) one.called = slower ? verdict::slower : verdict::faster;
    if (one.p_same < error) one.called = verdict::same;
    if (one.called != verdict::undecided) continue;
    if (!one.hidden) one.pairs_to_decide = pairs_to_decide(one, threshold, error, pairs, cases.size() + further);
    // The true shift is in such an interval, and an interval of this width around it lies above the threshold.
    const shift sure = shift_of(cases[i].b_over_a, error / total);
    if (std::isfinite(sure.low)) one.visible = threshold + sure.high - sure.low;
  }
  return all;
}

}  // namespace fanin::cli
