// SPDX-License-Identifier: Apache-2.0
// A reduction in whose midst one rank is killed: mpirun ends the others, which would wait for it.
#include <signal.h>

#include <vector>

#include <fanin/mpi.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::vector<double> x(1000, 0.1);
  for (int i = 0; i < 1000; ++i) {
    if (i == 500 && fanin::mpi::detail::rank_in(MPI_COMM_WORLD) == 1) raise(SIGKILL);
    if (fanin::mpi::sum(x, MPI_COMM_WORLD).value <= 0) return 0;
  }
  MPI_Finalize();
  return 0;
}
