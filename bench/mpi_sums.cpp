// SPDX-License-Identifier: Apache-2.0
// Exact sums over MPI ranks beside what a program does without fanin: a plain sum and an MPI_Allreduce of one double,
// and a reproducible sum in two passes, a bound of all magnitudes and then sums of equally rounded parts. Prints
// microseconds for each call, of the slowest rank: the least of many turns, in which the sums follow each other.
//   mpirun -n 2 mpi_sums [SECONDS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include <fanin/mpi.hpp>

namespace {

double reduced(double own, MPI_Op op) {
  double all;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return all;
}

/// A sum in eight chains, which compilers vectorise.
template <class Term>
double plain(std::size_t n, Term term) {
  double sum[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sum[j] += term(i + j);
  }
  for (; i < n; ++i) sum[0] += term(i);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

double plain_sum(const std::vector<double>& x) {
  return reduced(plain(x.size(), [&](std::size_t i) { return x[i]; }), MPI_SUM);
}
double plain_dot(const std::vector<double>& x, const std::vector<double>& y) {
  return reduced(plain(x.size(), [&](std::size_t i) { return x[i] * y[i]; }), MPI_SUM);
}

/// Every element is cut at two bit positions, which are the same on all ranks. The parts are added without
/// rounding, so the order does not matter; the bits below the second cut are lost.
double two_pass_sum(const std::vector<double>& x, double total_count) {
  double own = 0;
  for (const double v : x) own = std::max(own, std::fabs(v));
  const double largest = reduced(own, MPI_MAX);
  if (largest == 0) return 0;
  const double high = 1.5 * std::ldexp(1, std::ilogb(largest) + 2 + std::ilogb(total_count) + 1);
  const double low = std::ldexp(high, std::ilogb(total_count) + 2 - 52);
  double parts[2] = {}, all[2];
  double sum[2][4] = {};
  std::size_t i = 0;
  const auto add = [&](std::size_t j, double v) {
    const double first = (v + high) - high, rest = v - first;
    sum[0][j] += first;
    sum[1][j] += (rest + low) - low;
  };
  for (; i + 4 <= x.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) add(j, x[i + j]);
  }
  for (; i < x.size(); ++i) add(0, x[i]);
  for (int part = 0; part < 2; ++part) parts[part] = sum[part][0] + sum[part][1] + sum[part][2] + sum[part][3];
  MPI_Allreduce(parts, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all[0] + all[1];
}

double sink = 0;

/// The least microseconds of a call of each function, each in its turn, within about `seconds` in all.
std::vector<double> times_of(const std::vector<std::function<double()>>& functions, double seconds) {
  std::vector<double> best(functions.size(), 1e30);
  std::vector<int> calls(functions.size(), 1);
  const auto time = [&](std::size_t f) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls[f]; ++i) sink += functions[f]();
    return reduced(MPI_Wtime() - begin, MPI_MAX) / calls[f];
  };
  for (std::size_t f = 0; f < functions.size(); ++f) {
    time(f);
    calls[f] = std::max(1, static_cast<int>(500e-6 / time(f)));
  }
  const double begin = MPI_Wtime();
  do {
    for (std::size_t f = 0; f < functions.size(); ++f) best[f] = std::min(best[f], time(f));
  } while (reduced(MPI_Wtime() - begin, MPI_MAX) < seconds);
  for (double& time : best) time *= 1e6;
  return best;
}

/// An iteration of a solver on a chain of n unknowns: a product with its matrix, three updates, two dot products. It
/// goes on for ever: each residual is formed from the first one, so that no number grows or vanishes.
struct solver {
  std::vector<double> x, b, r, p, q;
  explicit solver(std::size_t n) : x(n), b(n), r(n), p(n), q(n) {
    for (std::size_t i = 0; i < n; ++i) b[i] = r[i] = p[i] = std::sin(static_cast<double>(i));
  }
  template <class Dot>
  double iterate(Dot dot) {
    const std::size_t n = x.size();
    for (std::size_t i = 0; i < n; ++i) q[i] = 4 * p[i] - (i > 0 ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
    const double along = dot(p, q), before = dot(r, r);
    const double step = along == 0 ? 0 : 1e-3 * before / along;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = x[i] / 2 + step * p[i];
      r[i] = b[i] - step * q[i];
      p[i] = r[i] + 1e-3 * p[i];
    }
    return along;
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = fanin::mpi::detail::rank_in(MPI_COMM_WORLD),
            ranks = fanin::mpi::detail::rank_count(MPI_COMM_WORLD);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  const fanin::options alone{.backend = "serial"};

  const auto bare_lanes = [](int count) {
    return [count] {
      std::int64_t lanes[79], merged[79];
      std::fill_n(lanes, count, 1);
      MPI_Allreduce(lanes, merged, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      return static_cast<double>(merged[0]);
    };
  };
  const auto bare = times_of({[] { return reduced(1, MPI_SUM); }, bare_lanes(31), bare_lanes(79)}, seconds);
  if (rank == 0) {
    std::printf("# us for each call      elements     plain     exact  two-pass  exact/plain  exact/two-pass\n");
    std::printf("ranks %d\n", ranks);
    std::printf("MPI_Allreduce of 8, 248, 632 bytes %9.2f %9.2f %9.2f\n", bare[0], bare[1], bare[2]);
  }
  for (const std::size_t n : {1, 16, 128, 1024, 8192, 65536, 1048576}) {
    std::vector<double> x(n);
    std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
    for (double& v : x) v = std::uniform_real_distribution<double>(-1, 1)(random);
    const auto t =
        times_of({[&] { return plain_sum(x); }, [&] { return fanin::mpi::sum(x, MPI_COMM_WORLD, alone).value; },
                  [&] { return two_pass_sum(x, static_cast<double>(n) * ranks); }},
                 seconds);
    if (rank == 0) {
      std::printf("sum                 %12zu %9.2f %9.2f %9.2f %12.2f %15.2f\n", n, t[0], t[1], t[2], t[1] / t[0],
                  t[1] / t[2]);
    }
  }
  for (const std::size_t n : {1024, 16384, 262144}) {
    solver one(n), other(n);
    const auto t = times_of({[&] { return one.iterate(plain_dot); },
                             [&] {
                               return other.iterate([&](const auto& x, const auto& y) {
                                 return fanin::mpi::dot(x, y, MPI_COMM_WORLD, alone).value;
                               });
                             }},
                            seconds);
    if (rank == 0) std::printf("solver, two dots    %12zu %9.2f %9.2f %9s %12.2f\n", n, t[0], t[1], "", t[1] / t[0]);
  }
  MPI_Finalize();
  return sink == 0.5 ? 1 : 0;
}
