// What `fanin regress` found out, and how it is shown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/kit/json.hpp"
#include "cli/regress/paired_test.hpp"

namespace fanin::cli {

/// A case's times, in seconds. The i-th numbers belong to one pair; files give one number each.
struct regress_case {
  std::string name;
  std::vector<double> a, b;
  std::vector<double> a_again;  ///< with --aa
  judgement judged = {};
};

struct regress_result {
  std::string a, b;  ///< programs, or result files
  double threshold;  ///< 0.03: 3 %
  bool from_files = false;
  std::size_t pairs_done = 0, pairs_wanted = 0;
  std::vector<regress_case> cases;              ///< at least one
  std::map<std::string, std::string> left_out;  ///< a case's name, and why it is not compared
};

/// Why the case was called so, in a sentence, and what would decide it if it is undecided.
std::string reason_of(const regress_result& all, const regress_case& one);

json as_json(const regress_result& all);
std::string as_text(const regress_result& all);

}  // namespace fanin::cli
