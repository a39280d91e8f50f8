// SPDX-License-Identifier: Apache-2.0
// Exact tests on paired times, which decide for many cases at once whether one of two programs is slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fanin::cli {

/// The p-value of Wilcoxon's signed-rank test: the probability that the ranks of the positive differences have at
/// least this sum if each difference has either sign with probability 1/2. The p-value is small if the differences
/// lie above 0, and 1 if there are none. It counts every choice of signs, so it is exact, also for ties, which share
/// their mean rank. A zero counts as negative; p is never smaller than with zeros left out. Cost: about n^3
/// additions.
double signed_rank_p(std::span<const double> differences);

struct shift {
  double estimate, low, high;
};
/// The shift of the differences from 0. The estimate is the median of their pairwise means [Hodges and Lehmann 1963].
/// The interval from low to high contains the shifts that the signed-rank test does not reject: each end is wrong
/// with probability at most `error`, and infinite if there are too few differences. There is at least one difference.
shift shift_of(std::span<const double> differences, double error);

/// The adjusted p-values of Holm's method [1979]. If hypotheses with an adjusted p-value below a level are rejected,
/// the probability that a true hypothesis is among them is at most that level, also if the tests depend on each
/// other. `further` hypotheses, which are not rejected whatever their p-values, count in the adjustment.
std::vector<double> holm(std::span<const double> p, std::size_t further = 0);

enum class verdict : std::uint8_t { same, faster, slower, undecided };
std::string_view to_string(verdict kind);

/// A verdict needs least_pairs, and an adjusted p-value below error_rate. The first look is after default_pairs or
/// more.
constexpr std::size_t least_pairs = 8, default_pairs = 12, most_pairs = 1000;
constexpr double error_rate = 0.01;
/// The smallest number of pairs that can call one of `cases` cases slower.
std::size_t pairs_needed(std::size_t cases);

/// The logarithms of one case's ratios of times, one per pair.
struct paired_case {
  std::vector<double> b_over_a;
  std::vector<double> a_over_a;  ///< second run of A over the first; empty without a second run
};

struct judgement {
  verdict called = verdict::undecided;
  shift moved = {};                   ///< shift of b_over_a, with the error of the test
  std::optional<double> floor = {};   ///< largest magnitude that the shift of a_over_a may have, with that error
  double p_slower = 1, p_faster = 1;  ///< p-values of a shift beyond the threshold, adjusted for all cases
  double p_same = 1;                  ///< p-value of a shift within the threshold
  bool hidden = false;                ///< true if the shift is beyond the threshold but not above the floor
  std::optional<double> pairs_to_decide = {};  ///< estimate, for an undecided case that more pairs can decide
  /// Set for an undecided case with enough pairs. A shift of this size would have been called with a probability
  /// of at least 0.98.
  std::optional<double> visible = {};
};

/// Judges every case. A case is slower if its shift lies above the threshold, and above the floor if there is one. It
/// is faster if the same holds for the negated shift, and the same if the shift lies within the threshold on both
/// sides. The probability that any case is wrongly called slower is at most `error`, and likewise for faster. The
/// probability that a given case is wrongly called the same is at most `error`. `threshold` is a logarithm above 0.
/// `further` cases of the run are not judged now, because they are decided or have looks of their own.
std::vector<judgement> judge(std::span<const paired_case> cases, double threshold, double error = error_rate,
                             std::size_t further = 0);

/// A run that adds pairs until its cases are decided judges undecided cases several times. The first look is after
/// some pairs, further looks are whenever the number of pairs has doubled, and the last look is when the time is
/// over. The last look has three quarters of error_rate, and the k-th look before it has 1 / (k (k + 1)) of the
/// rest. So the errors of all looks sum to error_rate at most, and so do the probabilities of a false alarm. Cases
/// that are measured apart have looks of their own. A look at m of n cases, with the other n - m as further cases,
/// has a false alarm with probability at most m / n of its error, so the false alarms of all cases still sum to
/// error_rate at most.
constexpr double error_of_last_look = 0.75 * error_rate;
constexpr double error_of_look(std::size_t k) {
  return (error_rate - error_of_last_look) / static_cast<double>(k * (k + 1));
}

}  // namespace fanin::cli
