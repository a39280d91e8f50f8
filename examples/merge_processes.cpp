// SPDX-License-Identifier: Apache-2.0
// Several processes sum a slice each, and send the state of the sum, 292 bytes, through a pipe. The merge of these
// states is the sum of all slices.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/state.hpp>

using accumulator = fanin::exact_accumulator<double>;
using saved = std::array<std::byte, accumulator::saved_bytes>;

/// Starts a process that sums `slice`. Returns the pipe in which the saved sum will arrive, or -1.
int start_worker(std::span<const double> slice) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    accumulator sum;
    fanin::accumulate(sum, slice, {.backend = "serial"});
    const saved bytes = sum.save();  // fits into the pipe, so that it is written at once
    _exit(write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) ? 0 : 1);
  }
  close(ends[1]);
  if (child > 0) return ends[0];
  close(ends[0]);
  return -1;
}

int main() {
  constexpr std::size_t workers = 5;
  std::vector<double> x;
  for (int i = 0; i < 1'000'003; ++i) x.push_back(1e16 / (i - 500000.5) + 1.0 / (i + 1));

  std::vector<int> pipes;
  for (std::size_t i = 0; i < workers; ++i) {
    const std::size_t first = x.size() * i / workers, end = x.size() * (i + 1) / workers;
    pipes.push_back(start_worker(std::span<const double>(x).subspan(first, end - first)));
  }

  accumulator merged;
  for (const int pipe : pipes) {
    saved bytes;
    if (read(pipe, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return 1;
    close(pipe);
    merged.merge(accumulator::load(bytes));
  }
  while (wait(nullptr) > 0) continue;

  const double by_processes = merged.round();
  const double by_one = fanin::sum(x, {.method = fanin::exact}).value;
  std::printf("%.17g from %zu processes, %.17g from one\n", by_processes, workers, by_one);
  return std::bit_cast<std::uint64_t>(by_processes) == std::bit_cast<std::uint64_t>(by_one) ? 0 : 1;
}
