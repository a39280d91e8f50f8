// SPDX-License-Identifier: Apache-2.0
// fanin_mpi: a reduction of a file over the ranks that mpirun starts. After each step the ranks agree whether it
// has succeeded. If it has not, one of the ranks that failed says why, and all ranks end with the status of this
// rank.
#include <mpi.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <fanin/mpi/place.hpp>
#include <fanin/version.hpp>

#include "cli/about.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/mpi/request.hpp"

namespace fanin::cli::mpi {

namespace {

struct problem {
  int status = 0;
  std::string message = {};
};

/// Runs a step. A rank that stopped because of another rank has no problem of its own.
problem problem_of(const std::function<void()>& step) {
  try {
    step();
    return {};
  } catch (const fanin::mpi::other_rank_failed&) {
    return {};
  } catch (const usage_error& error) {
    return {bad_usage, error.what()};
  } catch (const invalid_argument& error) {
    return {bad_usage, error.what()};
  } catch (const unsupported& error) {
    return {bad_usage, error.what()};
  } catch (const backend_unavailable& error) {
    return {backend_not_usable, error.what()};
  } catch (const std::exception& error) {
    return {failed, error.what()};
  }
}

/// Runs steps on all ranks, one step after another.
class team {
 public:
  team() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  bool is_first() const { return rank_ == 0; }
  int size() const { return ranks_; }

  /// Whether the step succeeded on every rank. If not, the first rank that failed has said why.
  bool succeeds(const std::function<void()>& step) {
    const problem own = problem_of(step);
    struct {
      int status, rank;
    } first{own.status != 0 ? 1 : 0, rank_};
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (first.status == 0) return true;
    status_ = own.status;
    MPI_Bcast(&status_, 1, MPI_INT, first.rank, MPI_COMM_WORLD);
    if (rank_ == first.rank) write_stderr(ranks_ > 1 ? fmt::format("rank {}: {}", rank_, own.message) : own.message);
    return false;
  }
  int status() const { return status_; }

  void add_up(std::uint64_t& number) const {
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }

  /// @throws usage_error or bad_data, on every rank alike, if they are asked for different things or see different
  /// files
  void check_same(const opened_request& own) const {
    std::int64_t both[] = {own.fingerprint(), -own.fingerprint(), static_cast<std::int64_t>(own.count()),
                           -static_cast<std::int64_t>(own.count())};
    MPI_Allreduce(MPI_IN_PLACE, both, 4, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (both[0] != -both[1]) throw usage_error("the ranks were given different operations, types or options");
    if (both[2] != -both[3]) {
      throw bad_data(fmt::format("the input has {} elements on one rank, and {} on another", -both[3], both[2]));
    }
  }

 private:
  int rank_ = 0, ranks_ = 1, status_ = 0;
};

int run(int argc, char** argv) {
  team all;
  std::optional<request> asked;
  std::optional<opened_request> opened;
  std::optional<finished_reduction> done;
  std::string text;
  const auto open = [&] {
    try {
      asked = parse(argc, argv);
      opened.emplace(*asked);
    } catch (const CLI::CallForVersion&) {
      text = "fanin_mpi " FANIN_VERSION "\n";
    } catch (const CLI::CallForHelp&) {
      text = help();
    }
  };
  const auto write = [&] {
    if (done) {
      json values = to_json(*done);
      values["ranks"] = all.size();
      text = asked->json ? printed(values) + "\n" : line_of(*done, false);
    }
    if (all.is_first()) write_stdout(text);
  };
  if (!all.succeeds(open)) return all.status();
  if (text.empty()) {
    const auto check = [&] { all.check_same(*opened); };
    const auto reduce = [&] { done = opened->reduce(); };
    if (!all.succeeds(check) || !all.succeeds(reduce)) return all.status();
    all.add_up(done->reached.report.absent);
  }
  return all.succeeds(write) ? 0 : all.status();
}

}  // namespace

}  // namespace fanin::cli::mpi

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = fanin::cli::mpi::run(argc, argv);
  MPI_Finalize();
  return status;
}
