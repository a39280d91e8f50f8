// Is one of two programs slower? Exact tests on paired measurements, for many cases at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fanin::cli {

/// Wilcoxon's signed-rank test: the probability of a sum of the positive differences' ranks as large as this one, if
/// each difference had either sign with probability 1/2. Small where the differences lie above 0; 1 for no
/// differences. Exact, also for ties, which share their mean rank: every choice of signs is counted. A zero counts as
/// negative: it speaks against a shift above 0, and p is never smaller than with zeros left out of the sums. Cost:
/// about n^3 additions.
double signed_rank_p(std::span<const double> differences);

struct shift {
  double estimate, low, high;
};
/// By how much the differences are shifted from 0: the median of their pairwise means [Hodges and Lehmann 1963], and
/// what the same test does not reject: either end is wrong with probability `error` at most, and infinite if there
/// are too few differences for that. There is at least one.
shift shift_of(std::span<const double> differences, double error);

/// Adjusted p-values [Holm 1979]: of all the hypotheses for which they fall below a level, one that holds is among
/// them with no more than that probability, however the tests depend on one another.
std::vector<double> holm(std::span<const double> p);

enum class verdict : std::uint8_t { same, faster, slower, undecided };
std::string_view to_string(verdict kind);

/// No verdict from fewer pairs, and no test passes at this probability or above.
constexpr std::size_t least_pairs = 8, most_pairs = 1000;
constexpr double error_rate = 0.01;
/// The fewest pairs that can call one of so many cases slower.
std::size_t pairs_needed(std::size_t cases);

/// One case's logarithms of ratios of times, one for each pair.
struct paired_case {
  std::vector<double> b_over_a;
  std::vector<double> a_over_a;  ///< another run of A over the run of A; empty if there was none
};

struct judgement {
  verdict called = verdict::undecided;
  shift moved = {};                       ///< of b_over_a, at error_rate
  std::optional<double> floor;            ///< what a_over_a may be shifted by, either way, at error_rate
  double p_slower = 1, p_faster = 1;      ///< that the shift lies beyond the threshold; adjusted for all the cases
  double p_same = 1;                      ///< that it lies within, either way
  bool hidden = false;                    ///< beyond the threshold, but the shift is not above the floor
  std::optional<double> pairs_to_decide;  ///< roughly, for an undecided case that more pairs can decide
};

/// Slower: the shift lies beyond the threshold, and is above the floor if there is one. Faster: the same for -shift.
/// Same: it lies within the threshold on both sides. Of all cases without such a shift one is called slower with
/// probability error_rate at most, or faster; each case is called same wrongly with that probability at most.
/// The threshold is a logarithm as well, and above 0.
std::vector<judgement> judge(std::span<const paired_case> cases, double threshold);

}  // namespace fanin::cli
