// SPDX-License-Identifier: Apache-2.0
// Replaces the header of this name: a communicator whose ranks are threads that share one device, as NCCL's cannot.
// So one device tests any number of ranks. It has what fanin/nccl.hpp calls, and waits on the host, so that nothing
// can be captured.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#define NCCL_VERSION_CODE 0

enum ncclResult_t { ncclSuccess, ncclUnhandledCudaError, ncclInvalidUsage };
enum ncclDataType_t { ncclUint8, ncclInt64, ncclUint64 };
enum ncclRedOp_t { ncclSum, ncclMin, ncclMax };

namespace fanin::test {

struct message {
  bool sends;
  void* memory;
  std::size_t bytes;
  int peer;
  cudaStream_t stream;
};
/// The memory that all ranks see.
struct stand_in_world {
  explicit stand_in_world(int ranks) : all(ranks), posted(static_cast<std::size_t>(ranks)), integers(posted.size()) {}
  std::barrier<> all;
  struct group {
    std::vector<message> messages;
    cudaEvent_t ready, received;
  };
  std::vector<group> posted;
  std::vector<std::vector<std::int64_t>> integers;
};

}  // namespace fanin::test

struct stand_in_comm {
  int rank, ranks;
  std::shared_ptr<fanin::test::stand_in_world> world;
};
using ncclComm_t = stand_in_comm*;

namespace fanin::test {

inline thread_local ncclComm_t comm_of_thread = nullptr;
inline thread_local std::vector<message> group_of_thread;

/// Copies the messages that other ranks have sent to the caller. Every rank calls the function.
inline ncclResult_t exchange_messages(stand_in_world& world, stand_in_world::group& mine) {
  bool failed = false;
  const auto check = [&](cudaError_t code) { failed = failed || code != cudaSuccess; };
  mine.messages.swap(group_of_thread);
  const cudaStream_t stream = mine.messages.empty() ? nullptr : mine.messages[0].stream;
  const bool busy = !mine.messages.empty();
  check(cudaEventCreateWithFlags(&mine.ready, cudaEventDisableTiming));
  check(cudaEventCreateWithFlags(&mine.received, cudaEventDisableTiming));
  if (busy) check(cudaEventRecord(mine.ready, stream));
  world.all.arrive_and_wait();

  std::map<int, std::size_t> taken;  // messages taken from each peer
  for (const message& one : mine.messages) {
    if (one.sends) continue;
    const auto& other = world.posted[static_cast<std::size_t>(one.peer)];
    std::size_t& next = taken[one.peer];
    const auto is_for_me = [&](const message& m) {
      return m.sends && &world.posted[static_cast<std::size_t>(m.peer)] == &mine;
    };
    while (next < other.messages.size() && !is_for_me(other.messages[next])) ++next;
    failed = failed || next == other.messages.size() || other.messages[next].bytes != one.bytes;
    if (failed) break;
    check(cudaStreamWaitEvent(stream, other.ready));
    check(cudaMemcpyAsync(one.memory, other.messages[next++].memory, one.bytes, cudaMemcpyDeviceToDevice, stream));
  }
  if (busy) check(cudaEventRecord(mine.received, stream));
  world.all.arrive_and_wait();

  for (const message& one : mine.messages) {
    if (one.sends) check(cudaStreamWaitEvent(stream, world.posted[static_cast<std::size_t>(one.peer)].received));
  }
  world.all.arrive_and_wait();
  check(cudaEventDestroy(mine.ready));
  check(cudaEventDestroy(mine.received));
  mine.messages.clear();
  return failed ? ncclInvalidUsage : ncclSuccess;
}

}  // namespace fanin::test

inline const char* ncclGetErrorString(ncclResult_t) { return "messages do not match, or the device failed"; }
inline ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ranks, const int*) {
  const auto world = std::make_shared<fanin::test::stand_in_world>(ranks);
  for (int rank = 0; rank < ranks; ++rank) comms[rank] = new stand_in_comm{rank, ranks, world};
  return ncclSuccess;
}
inline ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}
inline ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  *count = comm->ranks;
  return ncclSuccess;
}
inline ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  *rank = comm->rank;
  fanin::test::comm_of_thread = comm;  // A group may have no message that names it.
  return ncclSuccess;
}
inline ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t, int peer, ncclComm_t,
                             cudaStream_t stream) {
  fanin::test::group_of_thread.push_back({true, const_cast<void*>(from), count, peer, stream});
  return ncclSuccess;
}
inline ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t, int peer, ncclComm_t, cudaStream_t stream) {
  fanin::test::group_of_thread.push_back({false, to, count, peer, stream});
  return ncclSuccess;
}
inline ncclResult_t ncclGroupStart() { return ncclSuccess; }
inline ncclResult_t ncclGroupEnd() {
  const ncclComm_t comm = fanin::test::comm_of_thread;
  return fanin::test::exchange_messages(*comm->world, comm->world->posted[static_cast<std::size_t>(comm->rank)]);
}
namespace fanin::test {

/// Makes the 64-bit integers at `from` known to all ranks. Sets the integers at `to` to the results of make(the
/// integers of all ranks).
template <class Make>
ncclResult_t reduce_on_host(const void* from, void* to, std::size_t count, ncclComm_t comm, cudaStream_t stream,
                            Make make) {
  auto& all = comm->world->integers;
  auto& mine = all[static_cast<std::size_t>(comm->rank)];
  mine.resize(count);
  const auto copy = [&](void* into, const void* those, std::size_t number, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(into, those, number * sizeof(std::int64_t), kind, stream) == cudaSuccess &&
           cudaStreamSynchronize(stream) == cudaSuccess;
  };
  bool done = copy(mine.data(), from, count, cudaMemcpyDeviceToHost);
  comm->world->all.arrive_and_wait();
  const std::vector<std::int64_t> made = make(all);
  comm->world->all.arrive_and_wait();
  done = copy(to, made.data(), made.size(), cudaMemcpyHostToDevice) && done;
  return done ? ncclSuccess : ncclUnhandledCudaError;
}

}  // namespace fanin::test

/// Reduces 64-bit integers. Integers without a sign have to be below 2^63.
inline ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t, ncclRedOp_t what,
                                  ncclComm_t comm, cudaStream_t stream) {
  return fanin::test::reduce_on_host(
      from, to, count, comm, stream, [=](const std::vector<std::vector<std::int64_t>>& all) {
        std::vector<std::int64_t> total = all[0];
        for (std::size_t rank = 1; rank < all.size(); ++rank) {
          for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t x = total[i], y = all[rank][i];
            total[i] = what == ncclSum ? x + y : what == ncclMin ? std::min(x, y) : std::max(x, y);
          }
        }
        return total;
      });
}
/// Gathers 64-bit integers.
inline ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t, ncclComm_t comm,
                                  cudaStream_t stream) {
  return fanin::test::reduce_on_host(from, to, count, comm, stream,
                                     [](const std::vector<std::vector<std::int64_t>>& all) {
                                       std::vector<std::int64_t> joined;
                                       for (const auto& one : all)
                                         joined.insert(joined.end(), one.begin(), one.end());
                                       return joined;
                                     });
}
