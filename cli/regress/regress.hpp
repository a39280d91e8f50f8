// SPDX-License-Identifier: Apache-2.0
// The results of `fanin regress`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/kit/json.hpp"
#include "cli/regress/paired_test.hpp"
#include "cli/regress/read.hpp"

namespace fanin::cli {

/// The amounts of one quantity. The i-th amounts of A and B belong to the i-th pair. A result file gives one amount.
struct paired_amounts {
  std::vector<double> a, b;
  std::vector<double> a_again = {};  ///< the times of the second run of A, with --aa
  judgement judged = {};
};

struct regress_case {
  std::string name;
  std::map<quantity, paired_amounts> measured = {};  ///< wall_time is always among them
  bool control = false;                              ///< whether the change cannot touch the case
  double pair_seconds = 0;                           ///< the time of a further pair of this case

  const paired_amounts& wall() const { return measured.at(quantity::wall_time); }
  /// The quantity whose verdict is the verdict of the case. It is the wall time if the wall time is decided.
  /// Otherwise it is the first other quantity that is slower or faster. Other quantities cannot tell that the wall
  /// time is the same.
  quantity deciding() const;
  verdict called() const { return measured.at(deciding()).judged.called; }
};

struct regress_result {
  std::string a, b;  ///< paths of two programs or two result files
  double threshold;  ///< as a fraction: 0.03 is 3 %
  bool from_files = false;
  bool interrupted = false;
  std::size_t layouts = 0;          ///< the i-th pair has layout i % layouts; 0 if all pairs have the same
  std::vector<regress_case> cases;  ///< never empty
  std::map<std::string, std::string> left_out;  ///< name of a case, and the reason why it is not compared
};

/// A control that is slower or faster, which makes the run void; nullptr if there is none.
const regress_case* moved_control(const regress_result& all);

/// The largest number of pairs that a case has.
std::size_t most_pairs_of(const regress_result& all);

/// The reason of the verdict in one sentence. For an undecided case the sentence also says what would decide it.
std::string reason_of(const regress_result& all, const regress_case& one);

json as_json(const regress_result& all);
/// The table of the results as CSV, and as Markdown with the verdicts.
std::string as_csv(const regress_result& all);
std::string as_markdown(const regress_result& all);
/// The text has no control characters but newlines, whatever the names of the cases contain.
std::string as_text(const regress_result& all);

}  // namespace fanin::cli
