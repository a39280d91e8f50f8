// SPDX-License-Identifier: Apache-2.0
// A sum and a norm of numbers that lie on many ranks: mpirun -n 7 sum_over_ranks prints the same digits for any
// number.
#include <cmath>
#include <cstdio>
#include <vector>

#include <fanin/mpi.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  std::vector<double> x;  // every rank has some of a million numbers
  for (int i = rank; i < 1'000'000; i += ranks) x.push_back(std::exp(std::sin(i) * 40));
  const double sum = fanin::mpi::sum(x, MPI_COMM_WORLD).value;
  auto norm = fanin::mpi::start_norm2(x, {MPI_COMM_WORLD, 0});  // goes on while the program does something else
  const double on_root = norm.wait().value;
  if (rank == 0) std::printf("sum %.17g, norm %.17g\n", sum, on_root);

  std::vector<double> all;
  for (int i = 0; i < 1'000'000; ++i) all.push_back(std::exp(std::sin(i) * 40));
  const bool same = sum == fanin::sum(all, {.method = fanin::exact}).value;
  MPI_Finalize();
  return same ? 0 : 1;
}
