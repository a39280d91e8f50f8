// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/run.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/interrupt.hpp"
#include "cli/kit/output.hpp"
#include "cli/regress/pairs.hpp"
#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

/// The number of pairs before the first look. The default grows with the number of cases, because p-values are
/// adjusted for it; see docs/regress.md.
std::size_t checked_pairs(std::uint64_t requested, std::size_t cases) {
  const std::size_t least = pairs_needed(cases);
  // With an even number A and B go first equally often.
  if (requested == 0) return std::max<std::size_t>(12, (least + 5) / 2 * 2);
  if (requested > most_pairs) throw usage_error(fmt::format("--pairs {}: {} at most", requested, most_pairs));
  if (requested >= least) return requested;
  throw usage_error(
      fmt::format("--pairs {}: to call one of {} cases slower takes {} at least", requested, cases, least));
}

void append(measured& all, const measured& more) {
  all.names.insert(all.names.end(), more.names.begin(), more.names.end());
  all.seconds.insert(more.seconds.begin(), more.seconds.end());
  all.problems.insert(more.problems.begin(), more.problems.end());
}

/// A run in progress.
class pair_run {
 public:
  pair_run(const side& a, const side& b, const run_plan& plan)
      : a_(a), b_(b), plan_(plan), requests_{all_cases(plan.process)} {
    all_.a = a.word;
    all_.b = b.word;
    all_.threshold = plan.threshold;
  }

  regress_result finish() {
    std::size_t looks = 0;
    while (run_pair()) {
      if (all_.pairs_done == 1) all_.pairs_wanted = checked_pairs(plan_.pairs, all_.cases.size());
      if (all_.pairs_done < all_.pairs_wanted && !(looks > 0 && is_over())) continue;
      if (is_over()) {
        all_.pairs_wanted = all_.pairs_done;
        break;
      }
      judge_cases(all_, error_of_look(++looks));
      const std::vector<std::string> left = undecided_names(all_);
      if (left.empty()) return all_;
      requests_ = arguments_for(plan_.process, left);
      all_.pairs_wanted = std::min(2 * all_.pairs_done, most_pairs);
    }
    if (all_.pairs_done == 0) throw bad_data("interrupted before the first pair was done");
    judge_cases(all_, plan_.until_decided_seconds ? error_of_last_look : error_rate);
    return all_;
  }

 private:
  /// Whether no pair is to be added to those that were wanted. That depends on time only, not on what the times say.
  bool is_over() const {
    const double next_end = measure::now_seconds() - start_ + pair_seconds_;
    return next_end > plan_.until_decided_seconds.value_or(0) || all_.pairs_done >= most_pairs;
  }

  /// Returns whether the pair was done and not interrupted.
  bool run_pair() {
    const double begin = measure::now_seconds();
    std::vector<measured> sides(plan_.floor ? 3 : 2);
    for (const arguments_list& arguments : requests_) {
      for (std::size_t i = 0; i < sides.size(); ++i) {
        const std::size_t turn = all_.pairs_done % 2 == 0 ? i : sides.size() - 1 - i;
        line_.set_task(story(turn == 1 ? 'B' : 'A'));
        try {
          append(sides[turn], run_side(plan_.process, turn == 1 ? b_ : a_, arguments));
        } catch (const bad_data&) {
          if (!watch_.seen()) throw;
        }
        if (watch_.seen()) return false;
      }
    }
    add_pair(all_, sides);
    pair_seconds_ = measure::now_seconds() - begin;
    return true;
  }

  std::string story(char turn) const {
    if (all_.pairs_done == 0) return fmt::format("first pair: {}", turn);
    const double left_to_look = pair_seconds_ * static_cast<double>(all_.pairs_wanted - all_.pairs_done);
    const double left = plan_.until_decided_seconds.value_or(0) - (measure::now_seconds() - start_);
    return fmt::format("pair {} of {}: {}, about {:.0f} s left", all_.pairs_done + 1, all_.pairs_wanted, turn,
                       std::max(left_to_look, left));
  }

  const side& a_;
  const side& b_;
  const run_plan& plan_;
  std::vector<arguments_list> requests_;
  regress_result all_ = {};
  double pair_seconds_ = 0;
  const double start_ = measure::now_seconds();
  const interrupt_watch watch_;
  progress line_{"regress"};
};

}  // namespace

regress_result run_pairs(const side& a, const side& b, const run_plan& plan) { return pair_run(a, b, plan).finish(); }

}  // namespace fanin::cli
