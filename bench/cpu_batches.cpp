// SPDX-License-Identifier: Apache-2.0
// Times batches of floats in host memory, one for each line of the input, for batches.py, which times the same work
// by NumPy in turn. A line and the answer to it:
//
//   LAYOUT OPERATION METHOD RESULTS COUNT THREADS     COUNT elements in all; the layout is rows (along axis 1 of
//                                                     RESULTS x n), columns (along axis 0 of n x RESULTS), segments
//                                                     (of random lengths) or groups (of random keys)
//   SECONDS                                           of the faster of two calls
//
// The operation `read` reads the elements and does nothing with them: the read ceiling.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "bench/hashed.hpp"
#include "measure/ceiling.hpp"

namespace fanin::bench {
namespace {

struct batch_case {
  std::string layout, operation, how;
  std::size_t results, count;
  unsigned threads;
};

/// The member of `all` with that name.
template <class All>
auto named(const std::string& name, const All& all) {
  const auto found = std::ranges::find_if(all, [&](const auto one) { return to_string(one) == name; });
  if (found == std::ranges::end(all)) throw invalid_argument("no such name: " + name);
  return *found;
}

class batch_bench {
 public:
  double seconds(const batch_case& wanted) {
    prepare(wanted);
    if (wanted.operation == "read") {
      measure::reader reader(wanted.threads);
      return fastest([&] { static_cast<void>(reader.read(x_.data(), x_.size() * sizeof(float))); });
    }
    out_.resize(wanted.results);
    const options chosen{.backend = wanted.threads == 1 ? "serial" : "openmp",
                         .method = named(wanted.how, all_methods),
                         .threads = wanted.threads};
    const auto what = named(wanted.operation, all_operations);
    const batch many = batch_of(wanted);
    return fastest([&] { reduce(what, many, results_view(out_), chosen); });
  }

 private:
  /// Elements, and offsets or keys, are kept for the next case of the same layout and sizes.
  void prepare(const batch_case& wanted) {
    if (x_.size() != wanted.count) {
      x_.resize(wanted.count);
      for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = static_cast<float>(hashed(i) >> 40) * 0x1p-24f;
      indexed_ = {};
    }
    if (indexed_.layout == wanted.layout && indexed_.results == wanted.results) return;
    indexed_ = wanted;
    if (wanted.layout == "groups") {
      index_.resize(wanted.count);
      for (std::size_t i = 0; i < wanted.count; ++i) {
        index_[i] = static_cast<std::int32_t>(hashed(i) % wanted.results);
      }
    } else if (wanted.layout == "segments") {
      index_.resize(wanted.results + 1);
      for (std::size_t i = 0; i < wanted.results; ++i) {
        index_[i] = static_cast<std::int32_t>(hashed(i) % wanted.count);
      }
      index_[0] = 0;
      index_[wanted.results] = static_cast<std::int32_t>(wanted.count);
      std::sort(index_.begin(), index_.end());
    }
  }

  batch batch_of(const batch_case& wanted) const {
    const std::size_t n = wanted.count / wanted.results;
    if (wanted.layout == "rows") return rows(x_, {wanted.results, n}, 1);
    if (wanted.layout == "columns") return rows(x_, {n, wanted.results}, 0);
    if (wanted.layout == "segments") return segments(x_, index_);
    return groups(x_, index_, wanted.results);
  }

  template <class Call>
  static double fastest(const Call& call) {
    double best = 0;
    for (int i = 0; i < 2; ++i) {
      const double start = measure::now_seconds();
      call();
      const double took = measure::now_seconds() - start;
      if (i == 0 || took < best) best = took;
    }
    return best;
  }

  std::vector<float> x_, out_;
  std::vector<std::int32_t> index_;
  batch_case indexed_{};
};

}  // namespace
}  // namespace fanin::bench

int main() try {
  fanin::bench::batch_bench bench;
  for (std::string line; std::getline(std::cin, line);) {
    fanin::bench::batch_case wanted;
    std::istringstream words(line);
    words >> wanted.layout >> wanted.operation >> wanted.how >> wanted.results >> wanted.count >> wanted.threads;
    if (!words) throw fanin::invalid_argument("not a case: " + line);
    std::cout << bench.seconds(wanted) << std::endl;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "fanin_cpu_batches: " << error.what() << '\n';
  return 1;
}
