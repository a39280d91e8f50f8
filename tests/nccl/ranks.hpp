// SPDX-License-Identifier: Apache-2.0
// A communicator with a rank on each device, and a thread for each rank. Where stand_in/nccl.h replaces NCCL's
// header, FANIN_STAND_IN_RANKS ranks share the first device.
#pragma once

#include <doctest/doctest.h>

#include <exception>
#include <thread>
#include <vector>

#include <fanin/nccl.hpp>

#include "tests/cuda/device_memory.hpp"

namespace fanin::test {

inline constexpr bool is_stand_in = NCCL_VERSION_CODE == 0;
#if defined(FANIN_STAND_IN_RANKS)
#define FANIN_SUITES "nccl_stand_in/"
#else
#define FANIN_STAND_IN_RANKS 0
#define FANIN_SUITES "nccl/"
#endif

/// The objects of a rank's thread.
struct rank_here {
  std::size_t rank, ranks;
  device_context& context;
  ncclComm_t comm;
  cudaStream_t stream() const { return static_cast<cudaStream_t>(context.stream()); }
};

class all_ranks {
 public:
  explicit all_ranks(int ranks) : comms_(static_cast<std::size_t>(ranks)) {
    nccl::check(ncclCommInitAll(comms_.data(), ranks, nullptr), "ncclCommInitAll");
  }
  ~all_ranks() {
    for (ncclComm_t comm : comms_) ncclCommDestroy(comm);
  }
  all_ranks(const all_ranks&) = delete;
  all_ranks& operator=(const all_ranks&) = delete;

  std::size_t count() const { return comms_.size(); }

  /// Calls f(rank_here) in a thread for each rank, with the rank's device as the current one, and waits for the work
  /// on its stream. Throws the error of the first rank that failed.
  template <class F>
  void run(F f) const {
    std::vector<std::exception_ptr> failures(count());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < count(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          const int device = is_stand_in ? 0 : static_cast<int>(rank);
          cuda::check(cudaSetDevice(device), "cudaSetDevice");
          device_context context(device);
          f(rank_here{rank, count(), context, comms_[rank]});
          wait_for(context);
        } catch (...) {
          failures[rank] = std::current_exception();
        }
      });
    }
    for (std::thread& one : threads) one.join();
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

 private:
  std::vector<ncclComm_t> comms_;
};

inline int device_count() {
  int devices = 0;
  cuda::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  return devices;
}
/// The ranks of this process, which share one communicator for all tests.
inline const all_ranks& ranks() {
  static const all_ranks* const all = new all_ranks(is_stand_in ? FANIN_STAND_IN_RANKS : device_count());
  return *all;
}

/// Runs what call() enqueues to the rank's stream as a CUDA graph, or where nothing can be captured, at once.
template <class F>
void run_as_graph(cudaStream_t stream, F call) {
  if (is_stand_in) return call();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  call();
  cuda::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  cuda::check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  cuda::check(cudaGraphLaunch(ready, stream), "cudaGraphLaunch");
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

}  // namespace fanin::test
