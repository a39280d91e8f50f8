// SPDX-License-Identifier: Apache-2.0
// A communicator with a rank on each device, and a thread for each rank.
#pragma once

#include <doctest/doctest.h>

#include <exception>
#include <thread>
#include <vector>

#include <fanin/nccl.hpp>

#include "tests/cuda/device_memory.hpp"

namespace fanin::test {

/// What a rank's thread has.
struct rank_here {
  std::size_t rank, ranks;
  device_context& context;
  ncclComm_t comm;
  cudaStream_t stream() const { return static_cast<cudaStream_t>(context.stream()); }
};

class all_ranks {
 public:
  all_ranks() {
    int devices = 0;
    cuda::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    comms_.resize(static_cast<std::size_t>(devices));
    nccl::check(ncclCommInitAll(comms_.data(), devices, nullptr), "ncclCommInitAll");
  }
  ~all_ranks() {
    for (ncclComm_t comm : comms_) ncclCommDestroy(comm);
  }
  all_ranks(const all_ranks&) = delete;
  all_ranks& operator=(const all_ranks&) = delete;

  std::size_t count() const { return comms_.size(); }

  /// Calls f(rank_here) in a thread for each rank, with the rank's device as the current one, and waits for the work
  /// on its stream. Throws what the first rank that failed threw.
  template <class F>
  void run(F f) const {
    std::vector<std::exception_ptr> failures(count());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < count(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          cuda::check(cudaSetDevice(static_cast<int>(rank)), "cudaSetDevice");
          device_context context(static_cast<int>(rank));
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

/// The ranks of this process, which share one communicator for all tests.
inline const all_ranks& ranks() {
  static const all_ranks* const all = new all_ranks;  // Destroyed with the process.
  return *all;
}

}  // namespace fanin::test
