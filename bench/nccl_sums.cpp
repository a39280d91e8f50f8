// SPDX-License-Identifier: Apache-2.0
// Measures sums over the ranks of an NCCL communicator, a rank on each device of this machine, beside what NCCL does
// with plain sums in the same process. Prints a line of JSON for each contestant of each row: the median of several
// rounds, in which contestants take turns, of the microseconds of a call on the slowest rank.
//
//   fanin_nccl_sums [LOG2_OF_LONG_ARRAY]     30 by default; a rank's array of floats then takes 4 GiB
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

#include <fanin/nccl.hpp>

#include "base/cuda/handles.hpp"

namespace fanin::bench {
namespace {

namespace gpu = fanin::cuda;
using gpu::check;

constexpr int rounds = 9;

/// How the calls of a round are made and timed.
enum class timing { enqueued, in_graph, to_host };
constexpr const char* names[] = {"enqueued", "in a graph", "to the host"};

struct contestant {
  std::string name;
  std::function<void()> enqueue;
  bool lands_on_host = false;
};

/// A rank, in its own thread. Every rank measures the same rows in the same order.
class rank_bench {
 public:
  rank_bench(int rank, int ranks, ncclComm_t comm, std::barrier<>& all, std::vector<double>& seconds)
      : rank_(rank), ranks_(ranks), comm_(comm), all_(all), seconds_(seconds), context_(rank) {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }

  /// Sums of `count` floats of each rank.
  void values(std::size_t count) {
    const gpu::device_memory memory = gpu::allocate_device(count * sizeof(float));
    auto* const x = reinterpret_cast<float*>(memory.get());
    fill(x, count);
    const gpu::device_memory results = gpu::allocate_device(2 * sizeof(device_result<float>));
    auto* const exact = reinterpret_cast<device_result<float>*>(results.get());
    auto* const plain = exact + 1;
    const device_span<float> span(x, count);
    const std::vector<contestant> all{
        {"enqueue_all_reduce", [&] { nccl::enqueue_all_reduce(span, exact, context_, comm_); }},
        {"enqueue_all_reduce to pinned memory",
         [&] {
           nccl::enqueue_all_reduce(span, reinterpret_cast<device_result<float>*>(pinned_.get()), context_, comm_);
         },
         true},
        {"fast sum and ncclAllReduce of a float",
         [&] {
           enqueue<operation::sum>(span, plain, context_, {.method = method::fast});
           nccl::check(ncclAllReduce(plain, plain, 1, ncclFloat, ncclSum, comm_, stream()), "ncclAllReduce");
         }},
        {"fast sum alone", [&] { enqueue<operation::sum>(span, plain, context_, {.method = method::fast}); }},
        {"exact sum alone", [&] { enqueue<operation::sum>(span, exact, context_, {.method = method::exact}); }},
        {"ncclAllReduce of a float alone",
         [&] { nccl::check(ncclAllReduce(plain, plain, 1, ncclFloat, ncclSum, comm_, stream()), "ncclAllReduce"); }},
    };
    const int calls = count > std::size_t{1} << 24 ? 10 : 200;
    for (const timing how : {timing::enqueued, timing::in_graph, timing::to_host}) {
      measure("sum of f32", count, how, calls, all, [] {});
    }
  }

  /// Vectors of `bytes` bytes, summed element by element.
  template <class T>
  void vectors(const char* type, ncclDataType_t nccl_type, std::size_t bytes) {
    const std::size_t count = bytes / sizeof(T);
    const gpu::device_memory memory = gpu::allocate_device(bytes), source = gpu::allocate_device(bytes);
    auto* const x = reinterpret_cast<T*>(memory.get());
    fill(reinterpret_cast<T*>(source.get()), count);
    const std::vector<contestant> all{
        {"all_reduce_each", [&] { nccl::all_reduce_each(x, count, context_, comm_); }},
        {"ncclAllReduce",
         [&] { nccl::check(ncclAllReduce(x, x, count, nccl_type, ncclSum, comm_, stream()), "ncclAllReduce"); }},
        {"reduce_scatter_each",
         [&] {
           const std::size_t part = count / static_cast<std::size_t>(ranks_);
           nccl::reduce_scatter_each(x, x + static_cast<std::size_t>(rank_) * part, part, context_, comm_);
         }},
        {"ncclReduceScatter",
         [&] {
           const std::size_t part = count / static_cast<std::size_t>(ranks_);
           nccl::check(ncclReduceScatter(x, x + static_cast<std::size_t>(rank_) * part, part, nccl_type, ncclSum,
                                         comm_, stream()),
                       "ncclReduceScatter");
         }},
    };
    const auto refill = [&] {
      check(cudaMemcpyAsync(x, source.get(), bytes, cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
    };
    for (const timing how : {timing::enqueued, timing::in_graph}) {
      measure(std::string("vectors of ") + type, bytes, how, 20, all, refill);
    }
  }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(context_.stream()); }
  void wait() const { check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize"); }

  /// Random numbers, small enough to be doubled 60 times.
  template <class T>
  void fill(T* x, std::size_t count) {
    std::mt19937_64 random(static_cast<unsigned>(rank_) + 1);
    std::vector<T> some(std::min(count, std::size_t{1} << 22));
    const float scale = std::is_same_v<T, f16> ? 0x1p-12f : 0x1p-40f;
    for (T& v : some) v = T((static_cast<float>(random() >> 40) * 0x1p-24f - 0.5f) * scale);
    for (std::size_t i = 0; i < count; i += some.size()) {
      check(cudaMemcpy(x + i, some.data(), std::min(some.size(), count - i) * sizeof(T), cudaMemcpyHostToDevice),
            "cudaMemcpy");
    }
  }

  /// The seconds of `calls` calls.
  double seconds(const contestant& one, timing how, int calls) {
    using clock = std::chrono::steady_clock;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    if (how == timing::in_graph) {
      check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
      for (int i = 0; i < calls; ++i) one.enqueue();
      check(cudaStreamEndCapture(stream(), &graph), "cudaStreamEndCapture");
      check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
      check(cudaGraphUpload(ready, stream()), "cudaGraphUpload");
    }
    wait();
    all_.arrive_and_wait();
    const auto start = clock::now();
    check(cudaEventRecord(begin_, stream()), "cudaEventRecord");
    if (how == timing::in_graph) {
      check(cudaGraphLaunch(ready, stream()), "cudaGraphLaunch");
    } else {
      for (int i = 0; i < calls; ++i) {
        one.enqueue();
        if (how != timing::to_host) continue;
        if (!one.lands_on_host) {
          check(cudaMemcpyAsync(pinned_.get(), one_value_.get(), 4, cudaMemcpyDeviceToHost, stream()),
                "cudaMemcpyAsync");
        }
        wait();
      }
    }
    check(cudaEventRecord(end_, stream()), "cudaEventRecord");
    wait();
    const double on_host = std::chrono::duration<double>(clock::now() - start).count();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    if (ready != nullptr) check(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy");
    if (graph != nullptr) check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return how == timing::to_host ? on_host : milliseconds * 1e-3;
  }

  template <class Prepare>
  void measure(const std::string& row, std::size_t size, timing how, int calls, const std::vector<contestant>& all,
               Prepare prepare) {
    std::vector<std::vector<double>> slowest(all.size());
    for (int round = -1; round < rounds; ++round) {  // The first one warms up.
      for (std::size_t i = 0; i < all.size(); ++i) {
        prepare();
        if (round < 0) one_call(all[i]);
        seconds_[static_cast<std::size_t>(rank_)] = seconds(all[i], how, calls) / calls;
        all_.arrive_and_wait();
        if (round >= 0) slowest[i].push_back(*std::max_element(seconds_.begin(), seconds_.end()));
        all_.arrive_and_wait();
      }
    }
    if (rank_ > 0) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::sort(slowest[i].begin(), slowest[i].end());
      std::printf(
          "{\"row\": \"%s\", \"size\": %zu, \"ranks\": %d, \"timing\": \"%s\", \"contestant\": \"%s\", "
          "\"us\": %.2f, \"least_us\": %.2f}\n",
          row.c_str(), size, ranks_, names[static_cast<int>(how)], all[i].name.c_str(), slowest[i][rounds / 2] * 1e6,
          slowest[i][0] * 1e6);
    }
    std::fflush(stdout);
  }
  /// Prepares what a first call has to.
  void one_call(const contestant& one) const {
    one.enqueue();
    wait();
  }

  int rank_, ranks_;
  ncclComm_t comm_;
  std::barrier<>& all_;
  std::vector<double>& seconds_;  ///< one for each rank
  device_context context_;
  gpu::device_memory one_value_ = gpu::allocate_device(16);
  gpu::pinned_memory pinned_ = gpu::allocate_pinned(16);
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

int run(int log2_of_long) {
  int ranks = 0;
  check(cudaGetDeviceCount(&ranks), "cudaGetDeviceCount");
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  nccl::check(ncclCommInitAll(comms.data(), ranks, nullptr), "ncclCommInitAll");
  std::barrier<> all(ranks);
  std::vector<double> seconds(comms.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        check(cudaSetDevice(rank), "cudaSetDevice");
        rank_bench bench(rank, ranks, comms[static_cast<std::size_t>(rank)], all, seconds);
        bench.values(std::size_t{1} << 20);
        bench.values(std::size_t{1} << log2_of_long);
        bench.vectors<float>("f32", ncclFloat, std::size_t{1} << 28);
        bench.vectors<bf16>("bf16", ncclBfloat16, std::size_t{1} << 28);
        bench.vectors<double>("f64", ncclDouble, std::size_t{1} << 28);
        bench.vectors<float>("f32", ncclFloat, std::size_t{1} << 20);
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "fanin_nccl_sums: rank %d: %s\n", rank, failure.what());
        std::_Exit(1);  // The other ranks wait for this one.
      }
    });
  }
  for (std::thread& one : threads) one.join();
  for (ncclComm_t comm : comms) ncclCommDestroy(comm);
  return 0;
}

}  // namespace
}  // namespace fanin::bench

int main(int arguments, char** values) {
  try {
    return fanin::bench::run(arguments > 1 ? std::atoi(values[1]) : 30);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "fanin_nccl_sums: %s\n", failure.what());
    return 1;
  }
}
