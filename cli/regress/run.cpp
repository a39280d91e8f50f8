// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/run.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/interrupt.hpp"
#include "cli/kit/output.hpp"
#include "cli/regress/commands.hpp"
#include "cli/regress/pairs.hpp"
#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

/// The number of pairs before the first look. The default grows with the number of verdicts, because p-values are
/// adjusted for it; see docs/regress.md.
std::size_t checked_pairs(std::uint64_t requested, std::size_t verdicts) {
  const std::size_t least = pairs_needed(verdicts);
  // If the number is even, A and B go first equally often.
  if (requested == 0) return std::max(default_pairs, (least + 5) / 2 * 2);
  if (requested > most_pairs)
    throw usage_error(fmt::format("--pairs {} is too large; the most is {}", requested, most_pairs));
  if (requested >= least) return requested;
  throw usage_error(
      fmt::format("--pairs {} is too small; {} verdicts need at least {} pairs", requested, verdicts, least));
}

/// Pairs of one layout count once, so there have to be as many layouts as a first look has pairs.
void check_layouts(std::uint64_t layouts, std::size_t verdicts) {
  const std::size_t least = checked_pairs(0, verdicts);
  if (layouts == 0 || layouts >= least) return;
  throw usage_error(
      fmt::format("--layouts {} is too small; {} verdicts need at least {} layouts", layouts, verdicts, least));
}

/// Cases that one process measures, and the looks at them.
struct case_group {
  process_cases process;
  std::size_t pairs = 0, next_look = 0, looks = 0;
  double pair_seconds = 0;

  double seconds_to_look() const { return pair_seconds * static_cast<double>(next_look - pairs); }
};

/// A variable whose length moves the stack. The stack begins at a multiple of 16 bytes, somewhere in a page of 4096.
std::string layout_variable(std::size_t layout) {
  constexpr std::size_t step = 16, places = 4096 / step;
  // 157 has no factor in common with the number of places, so places far apart come first and all come once.
  return "FANIN_LAYOUT=" + std::string(layout * 157 % places * step, '.');
}

/// A run in progress.
class pair_run {
 public:
  pair_run(std::span<const side> a, std::span<const side> b, const run_plan& plan) : a_(a), b_(b), plan_(plan) {
    all_.threshold = plan.threshold;
    all_.layouts = plan.layouts;
  }

  regress_result finish() {
    case_group first{.process = {all_cases(plan_.process), {}}};
    prepare(first.process);
    if (!run_pair(first)) throw bad_data("interrupted before the first pair was done");
    mark_controls(all_, plan_.controls);
    first.next_look = checked_pairs(plan_.pairs, hypotheses_of(all_));
    check_layouts(plan_.layouts, hypotheses_of(all_));
    groups_ = plan_.pairs > 0 ? std::vector{first} : apart(first);
    while (case_group* const next = next_group()) {
      if (!run_pair(*next)) {
        all_.interrupted = true;
        break;
      }
      if (plan_.pairs == 0 && next->pairs == next->next_look) look(*next);
    }
    for (const case_group& one : groups_) {
      judge_cases(all_, one.looks == 0 ? error_rate : error_of_last_look, one.process.cases);
      for (regress_case& slow : all_.cases) {
        if (is_of(one, slow.name)) slow.pair_seconds = one.pair_seconds;
      }
    }
    return all_;
  }

 private:
  void prepare(const process_cases& all) const {
    for (const command_case& one : command_cases(plan_.process)) run_shell(plan_.setup, one, plan_.process);
    if (plan_.compare_output) check_outputs(plan_.process, a_.front(), b_.front());
    for (std::uint64_t i = 0; i < plan_.warmups; ++i) {
      for (const side* one : {&a_.front(), &b_.front()}) run_side(plan_.process, *one, all);
    }
  }

  static bool is_of(const case_group& group, const std::string& name) {
    return !group.process.cases || std::ranges::find(*group.process.cases, name) != group.process.cases->end();
  }

  /// The cases of the first pair, in as many processes as the program can be told to run.
  std::vector<case_group> apart(const case_group& together) const {
    std::vector<case_group> all;
    std::vector<process_cases> processes = processes_for(plan_.process, undecided_names(all_));
    for (process_cases& one : processes) {
      all.push_back(together);
      all.back().process = std::move(one);
      all.back().pair_seconds /= static_cast<double>(processes.size());
    }
    return all;
  }

  /// The group whose next look takes the least time, or nullptr if all are done or no pair fits into the time. A
  /// group's time does not depend on which of A and B is faster.
  case_group* next_group() {
    const double left = plan_.at_most_seconds - (measure::now_seconds() - start_);
    case_group* found = nullptr;
    for (case_group& one : groups_) {
      const bool fits = plan_.pairs > 0 || one.pair_seconds <= left;
      if (one.pairs == one.next_look || !fits) continue;
      if (found == nullptr || one.seconds_to_look() < found->seconds_to_look()) found = &one;
    }
    return found;
  }

  /// Judges the cases of the group. The next look at cases that stay undecided is after twice the pairs.
  void look(case_group& group) {
    judge_cases(all_, error_of_look(++group.looks), group.process.cases);
    const std::vector<std::string> left = undecided_names(all_, group.process.cases);
    if (left.empty()) return;
    if (group.process.cases) group.process = processes_for(plan_.process, left).front();
    group.next_look = std::min(2 * group.pairs, most_pairs);
  }

  /// Returns whether the pair was done and not interrupted.
  bool run_pair(case_group& group) {
    const double begin = measure::now_seconds();
    std::vector<measured> sides(plan_.floor ? 3 : 2);
    process_request process = plan_.process;
    const std::size_t layout = plan_.layouts > 0 ? group.pairs % plan_.layouts : 0;
    if (plan_.layouts > 0) process.variables.push_back(layout_variable(layout));
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const std::size_t turn = group.pairs % 2 == 0 ? i : sides.size() - 1 - i;
      line_.set_task(story(group, turn == 1 ? 'B' : 'A'));
      try {
        const std::span<const side> programs = turn == 1 ? b_ : a_;
        sides[turn] = run_side(process, programs[layout % programs.size()], group.process);
      } catch (const bad_data&) {
        if (!watch_.seen()) throw;
      }
      if (watch_.seen()) return false;
    }
    if (measures_others(group, sides.front())) join(group);
    add_pair(all_, sides, group.process.cases);
    ++group.pairs;
    // A disturbed pair shall not put the group off. What the first pair says holds for all cases together.
    const double seconds = measure::now_seconds() - begin;
    group.pair_seconds = group.pairs <= 2 ? seconds : std::min(group.pair_seconds, seconds);
    return true;
  }

  /// Whether the program ignores which cases it is asked for.
  bool measures_others(const case_group& group, const measured& side) const {
    return group.pairs == 1 && std::ranges::any_of(all_.cases, [&](const regress_case& one) {
             return !is_of(group, one.name) && std::ranges::find(side.names, one.name) != side.names.end();
           });
  }

  /// Lets the group have the cases of all groups, which must have as many pairs.
  void join(case_group& group) {
    if (!std::ranges::all_of(groups_, [](const case_group& one) { return one.pairs == 1; })) return;
    group.process = {all_cases(plan_.process), {}};
    for (case_group& other : groups_) {
      if (&other == &group) continue;
      other.process.cases.emplace();
      other.pairs = other.next_look;
    }
  }

  std::string story(const case_group& group, char turn) const {
    if (all_.cases.empty()) return fmt::format("first pair: {}", turn);
    const double left =
        plan_.pairs > 0 ? group.seconds_to_look() : plan_.at_most_seconds - (measure::now_seconds() - start_);
    return fmt::format("pair {} of {}: {}, {} of {} cases undecided, {} {:.0f} s left", group.pairs + 1,
                       group.next_look, turn, undecided_names(all_).size(), all_.cases.size(),
                       plan_.pairs > 0 ? "about" : "at most", left);
  }

  const std::span<const side> a_, b_;
  const run_plan& plan_;
  std::vector<case_group> groups_;
  regress_result all_ = {};
  const double start_ = measure::now_seconds();
  const interrupt_watch watch_;
  progress line_{"regress"};
};

}  // namespace

regress_result run_pairs(std::span<const side> a, std::span<const side> b, const run_plan& plan) {
  return pair_run(a, b, plan).finish();
}

}  // namespace fanin::cli
