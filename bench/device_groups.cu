// SPDX-License-Identifier: Apache-2.0
// Measures sums of groups of device memory by the backend `cuda`, and by CUB's radix sort and reduction by key, in
// one process. Prints a line for each number of groups and kind of keys: billions of elements in a second.
//
//   fanin_device_groups [ELEMENTS]     2^28 by default; 8 GiB of device memory then
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <fanin/device.hpp>

#include "bench/hashed.hpp"
#include "measure/device.hpp"

namespace fanin::bench {
namespace {

namespace gpu = fanin::cuda;
using gpu::check;

constexpr double budget_seconds = 0.05;
constexpr unsigned blocks = 1024, threads = 256;

enum class key_kind { uniform, zipf, equal, sorted };
constexpr const char* names[] = {"uniform keys", "keys by Zipf, 1.1", "equal keys", "sorted keys"};

template <class T>
__global__ void fill(T* x, std::uint64_t count) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += blocks * threads) {
    x[i] = static_cast<T>(static_cast<double>(hashed(i) >> 11) * 0x1p-53 - 0.5);
  }
}
/// Writes keys of that kind below `groups`, which is a power of two.
__global__ void fill_keys(std::int32_t* keys, std::uint64_t count, std::uint32_t groups, key_kind kind) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += blocks * threads) {
    const std::uint64_t bits = hashed(~i);
    auto key = static_cast<std::uint32_t>(bits >> 20);
    if (kind == key_kind::zipf) {
      const double tail = 1 - pow(groups + 1.0, -0.1);  // the rest of the integral of x^-1.1 from 1 on
      key =
          static_cast<std::uint32_t>(pow(1 - static_cast<double>(bits >> 11) * 0x1p-53 * tail, -10.0)) * 2654435761u;
    }
    if (kind == key_kind::equal) key = groups / 2;
    if (kind == key_kind::sorted) key = static_cast<std::uint32_t>(i / ((count - 1) / groups + 1));
    keys[i] = static_cast<std::int32_t>(key & (groups - 1));
  }
}

template <class T>
class groups_bench {
 public:
  explicit groups_bench(std::size_t count)
      : count_(count),
        stream_(static_cast<cudaStream_t>(context_.stream())),
        memory_{gpu::allocate_device(count * sizeof(T)), gpu::allocate_device(count * sizeof(T)),
                gpu::allocate_device(count * 4),         gpu::allocate_device(count * 4),
                gpu::allocate_device(count * 4),         gpu::allocate_device(count * sizeof(T))} {
    fill<<<blocks, threads, 0, stream_>>>(at<T>(0), count);
  }
  void run(std::uint32_t groups, key_kind kind) {
    fill_keys<<<blocks, threads, 0, stream_>>>(at<std::int32_t>(2), count_, groups, kind);
    const batch many = fanin::groups(array_view(at<T>(0), count_, type_of<T>, memory::device),
                                     array_view(at<void>(2), count_, element_type::i32, memory::device), groups);
    const results_view out(at<void>(5), groups, type_of<T>, result_form::number, memory::device);
    for (const operation what : {operation::sum, operation::mean, operation::max}) {
      if (what != operation::sum && kind != key_kind::uniform) continue;
      for (const method how : {method::fast, method::exact}) {
        if (what == operation::max && how == method::exact) continue;
        line(std::string(to_string(what)) + ", " + std::string(to_string(how)), groups, kind,
             [&](std::size_t) { enqueue(what, many, out, context_, {.method = how}); });
      }
    }
    std::size_t sort_bytes = 0, reduce_bytes = 0;
    const auto sort = [&](void* scratch) {
      check(cub::DeviceRadixSort::SortPairs(scratch, sort_bytes, at<std::uint32_t>(2), at<std::uint32_t>(3), at<T>(0),
                                            at<T>(1), count_, 0, std::bit_width(groups - 1), stream_),
            "cub");
    };
    const bool sorts = kind != key_kind::sorted;
    const auto reduce = [&](void* scratch) {
      check(cub::DeviceReduce::ReduceByKey(scratch, reduce_bytes, at<std::uint32_t>(sorts ? 3 : 2),
                                           at<std::uint32_t>(4), at<T>(sorts ? 1 : 0), at<T>(5), runs_,
                                           ::cuda::std::plus<>(), count_, stream_),
            "cub");
    };
    sort(nullptr);
    reduce(nullptr);
    const auto scratch = gpu::allocate_device(std::max(sort_bytes, reduce_bytes));
    line(sorts ? "sum, CUB's sort and ReduceByKey" : "sum, CUB's ReduceByKey", groups, kind, [&](std::size_t) {
      if (sorts) sort(scratch.get());
      reduce(scratch.get());
    });
  }

 private:
  template <class E>
  E* at(int i) const {
    return reinterpret_cast<E*>(memory_[i].get());
  }
  template <class Run>
  void line(const std::string& work, std::uint32_t groups, key_kind kind, const Run& run) {
    const double seconds = measure::device_median_seconds(stream_, run, budget_seconds);
    std::printf("%-4s %-32s %8u groups, %-18s %7.1f G/s\n", std::string(to_string(type_of<T>)).c_str(), work.c_str(),
                groups, names[static_cast<int>(kind)], static_cast<double>(count_) / seconds * 1e-9);
    std::fflush(stdout);
  }

  std::size_t count_;
  device_context context_;
  cudaStream_t stream_;
  gpu::device_memory memory_[6];  ///< elements, sorted ones, keys, sorted ones, each key once, results
  gpu::device_memory run_count_ = gpu::allocate_device(sizeof(std::uint64_t));
  std::uint64_t* runs_ = reinterpret_cast<std::uint64_t*>(run_count_.get());
};

template <class T>
void run(std::size_t count) {
  groups_bench<T> bench(count);
  for (const key_kind kind : {key_kind::uniform, key_kind::zipf, key_kind::equal, key_kind::sorted}) {
    for (const int bits : {4, 10, 16, 22}) bench.run(1u << bits, kind);
  }
}

}  // namespace
}  // namespace fanin::bench

int main(int arguments, char** values) {
  try {
    const std::size_t count = arguments > 1 ? std::strtoull(values[1], nullptr, 10) : std::size_t{1} << 28;
    fanin::bench::run<float>(count);
    fanin::bench::run<double>(count);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fanin_device_groups: %s\n", error.what());
    return 1;
  }
}
