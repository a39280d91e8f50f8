// SPDX-License-Identifier: Apache-2.0
// Measures rows and segments of device memory by the backend `cuda`, and by CUB where it has the same, next to the
// read ceiling, in one process. Prints a line for each: the elements' bytes by the time, and its share of the
// ceiling.
//
//   fanin_device_batches [ELEMENTS]     2^28 by default; 2 GiB and more of device memory
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <cub/device/device_segmented_reduce.cuh>

#include <fanin/device.hpp>

#include "bench/hashed.hpp"
#include "measure/device.hpp"

namespace fanin::bench {
namespace {

namespace gpu = fanin::cuda;
using gpu::check;

constexpr double budget_seconds = 0.05;

template <class T>
class array_bench {
 public:
  explicit array_bench(std::size_t count)
      : count_(count),
        x_(array_view(std::span<const T>(values(count)))),
        stream_(static_cast<cudaStream_t>(context_.stream())),
        out_(gpu::allocate_device(count / 16 * 16 + 1024)),
        ceiling_(measure::device_read_seconds(x_, stream_, budget_seconds)) {
    line("read ceiling", "", ceiling_);
  }

  void rows_of(std::size_t rows, std::size_t columns) {
    const std::string shape = std::to_string(rows) + " x " + std::to_string(columns);
    for (const int axis : {1, 0}) {
      const std::string along = ", axis " + std::to_string(axis) + ", ";
      for (const operation what : {operation::sum, operation::max, operation::argmax}) {
        for (const method how : {method::fast, method::exact}) {
          if (what != operation::sum && how == method::exact) continue;
          const std::size_t results = axis == 1 ? rows : columns;
          ours(std::string(to_string(what)) + along + std::string(to_string(how)), shape, what, how, results,
               [&](std::size_t i) {
                 const std::size_t extents[] = {rows, columns};
                 const int reduced[] = {axis};
                 return fanin::rows(x_.at(i), extents, reduced);
               });
        }
      }
    }
  }

  /// Segments of lengths from 0 to twice the mean, at random.
  void segments_of(std::size_t mean, bool one_huge) {
    std::vector<std::int32_t> offsets{0};
    std::uint64_t at = one_huge ? count_ / 2 : 0;
    if (one_huge) offsets.push_back(static_cast<std::int32_t>(at));
    for (std::uint64_t i = 0; at < count_; ++i) {
      at = std::min<std::uint64_t>(count_, at + hashed(i) % (2 * mean + 1));
      offsets.push_back(static_cast<std::int32_t>(at));
    }
    const std::size_t segments = offsets.size() - 1;
    auto there = gpu::allocate_device(4 * offsets.size());
    check(cudaMemcpy(there.get(), offsets.data(), 4 * offsets.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    const array_view index(there.get(), offsets.size(), element_type::i32, memory::device);
    const std::string shape = "mean " + std::to_string(mean) + (one_huge ? ", and one of half" : "");
    for (const method how : {method::fast, method::exact}) {
      ours("sum of segments, " + std::string(to_string(how)), shape, operation::sum, how, segments,
           [&](std::size_t i) { return fanin::segments(x_.at(i), index); });
    }
    const auto* const begin = reinterpret_cast<const std::int32_t*>(there.get());
    std::size_t bytes = 0;
    if constexpr (std::is_same_v<T, float>) {
      const auto run = [&](void* scratch, std::size_t i) {
        check(cub::DeviceSegmentedReduce::Sum(scratch, bytes, static_cast<const T*>(x_.at(i).data),
                                              reinterpret_cast<T*>(out_.get()), static_cast<int>(segments), begin,
                                              begin + 1, stream_),
              "cub");
      };
      run(nullptr, 0);
      auto scratch = gpu::allocate_device(bytes + 1);
      line("sum of segments, CUB", shape,
           measure::device_median_seconds(
               stream_, [&](std::size_t i) { run(scratch.get(), i); }, budget_seconds));
    }
  }

 private:
  static std::vector<T> values(std::size_t count) {
    std::vector<T> x(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = hashed(i);
      x[i] = static_cast<T>(static_cast<float>(static_cast<std::int32_t>(bits >> 32)) * 0x1p-31f *
                            (static_cast<float>(bits & 0xffffff) * 0x1p-24f));
    }
    return x;
  }
  template <class Make>
  void ours(const std::string& work, const std::string& shape, operation what, method how, std::size_t results,
            Make make) {
    const options chosen{.method = how};
    const results_view out(out_.get(), results, default_result(what, type_of<T>), row_of(what).form, memory::device);
    try {
      const double seconds = measure::device_median_seconds(
          stream_, [&](std::size_t i) { enqueue(what, make(i), out, context_, chosen); }, budget_seconds);
      line(work, shape, seconds);
    } catch (const error& e) {
      std::printf("%-6s %-34s %-28s %s\n", std::string(to_string(type_of<T>)).c_str(), work.c_str(), shape.c_str(),
                  e.what());
    }
    std::fflush(stdout);
  }
  void line(const std::string& work, const std::string& shape, double seconds) {
    const double bytes = static_cast<double>(count_) * sizeof(T);
    std::printf("%-6s %-34s %-28s %8.1f GB/s  %.3f\n", std::string(to_string(type_of<T>)).c_str(), work.c_str(),
                shape.c_str(), bytes / seconds * 1e-9, ceiling_ > 0 ? ceiling_ / seconds : 1.0);
  }

  std::size_t count_;
  measure::rotated_input x_;
  device_context context_;
  cudaStream_t stream_;
  gpu::device_memory out_;
  double ceiling_ = 0;
};

template <class T>
void run(std::size_t count) {
  array_bench<T> bench(count);
  for (const std::size_t columns : {std::size_t{16}, std::size_t{32}, std::size_t{256}, std::size_t{4096},
                                    std::size_t{65536}, std::size_t{1} << 20, count / 16}) {
    if (columns <= count) bench.rows_of(count / columns, columns);
  }
  for (const std::size_t mean : {16, 64, 256, 4096, 1 << 20}) bench.segments_of(mean, false);
  bench.segments_of(32, true);
}

}  // namespace
}  // namespace fanin::bench

int main(int arguments, char** values) {
  try {
    const std::size_t count = arguments > 1 ? std::strtoull(values[1], nullptr, 10) : std::size_t{1} << 28;
    fanin::bench::run<float>(count);
    fanin::bench::run<double>(count / 2);
    fanin::bench::run<fanin::bf16>(count);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fanin_device_batches: %s\n", error.what());
    return 1;
  }
}
