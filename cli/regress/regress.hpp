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
  std::vector<double> a_again = {};  ///< of the second run of A, with --aa
  judgement judged = {};
};

struct regress_case {
  std::string name;
  std::map<quantity, paired_amounts> measured = {};  ///< wall_time is always among them
  double pair_seconds = 0;                           ///< what a further pair of this case takes

  const paired_amounts& wall() const { return measured.at(quantity::wall_time); }
  /// The quantity whose verdict is that of the case: the wall time if that is decided. Otherwise the first other one
  /// that is slower or faster. The others cannot tell that the wall time is the same.
  quantity deciding() const;
  verdict called() const { return measured.at(deciding()).judged.called; }
};

struct regress_result {
  std::string a, b;  ///< paths of two programs or two result files
  double threshold;  ///< as a fraction: 0.03 is 3 %
  bool from_files = false;
  bool interrupted = false;
  std::vector<regress_case> cases;              ///< never empty
  std::map<std::string, std::string> left_out;  ///< name of a case, and the reason why it is not compared
};

/// The largest number of pairs that a case has.
std::size_t most_pairs_of(const regress_result& all);

/// The reason of the verdict in one sentence. For an undecided case the sentence also says what would decide it.
std::string reason_of(const regress_result& all, const regress_case& one);

json as_json(const regress_result& all);
/// The text has no control characters but newlines, whatever the names of the cases contain.
std::string as_text(const regress_result& all);

}  // namespace fanin::cli
