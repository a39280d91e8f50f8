// SPDX-License-Identifier: Apache-2.0
// Runs the learner's kernel through the trials of a puzzle on a GPU, and times its longest input. `fanin check`
// compiles this header by nvcc, with a kernel that is right on the CPU.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "cli/puzzles/report.hpp"

namespace fanin::puzzle {

inline void require(cudaError_t status) {
  if (status == cudaSuccess) return;
  finish("wrong: on the GPU: " + std::string(cudaGetErrorString(status)) + in_the_trial());
}

inline std::size_t input_bytes = 0;  ///< what the kernel of this trial reads

/// An array for a kernel, in the memory of the GPU.
template <class T>
class array {
 public:
  array(const char* name, const std::vector<T>& values) : array(name, values.size()) {
    require(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    input_bytes += count_ * sizeof(T);
  }
  array(const char* name, std::size_t count) : name_(name), count_(count) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(count, 1) * sizeof(T)));
    require(cudaMemset(data_, 0xa5, count * sizeof(T)));
  }
  ~array() { cudaFree(data_); }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> all(count_);
    require(cudaMemcpy(all.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return all;
  }
  T operator[](std::size_t i) const { return values()[i]; }
  std::size_t count() const { return count_; }
  const std::string& memory() const { return name_; }

 private:
  std::string name_;
  std::size_t count_;
  T* data_ = nullptr;
};

/// Takes the time of what is launched in its scope.
class stopwatch {
 public:
  stopwatch() {
    require(cudaEventCreate(&begin_));
    require(cudaEventCreate(&end_));
    require(cudaEventRecord(begin_));
  }
  ~stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  double seconds() const {
    float milliseconds = 0;
    require(cudaGetLastError());
    require(cudaEventRecord(end_));
    require(cudaEventSynchronize(end_));
    require(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds / 1000.0;
  }

 private:
  cudaEvent_t begin_, end_;
};

inline cudaLaunchConfig_t shape = {};  ///< of the next launch

[[noreturn]] inline void stop_launch(int) {
  finish("endless: on the GPU the kernel does not end within 20 s" + in_the_trial());
}

/// A kernel that is called like a function.
template <class... Parameters>
struct launched_kernel {
  void (*kernel)(Parameters...);
  void operator()(Parameters... given) const { require(cudaLaunchKernelEx(&shape, kernel, given...)); }
};
template <class... Parameters>
launched_kernel<Parameters...> launched(void (*kernel)(Parameters...)) {
  return {kernel};
}

class checker {
 public:
  void trial(const std::string& name) {
    trial_name = name;
    input_bytes = 0;
  }
  /// The sizes, and three times a long one, of 2^24 / `divisor` or less where the GPU has little memory.
  std::vector<int> and_long(std::vector<int> sizes, int divisor = 1) const {
    cudaDeviceProp device;
    require(cudaGetDeviceProperties(&device, 0));
    const auto length = std::min<std::size_t>(std::size_t{1} << 24, device.totalGlobalMem / 256);
    sizes.insert(sizes.end(), 3, static_cast<int>(length) / divisor);
    return sizes;
  }
  template <class Kernel>
  void launch(unsigned blocks, unsigned threads, Kernel kernel, unsigned = 0) {
    shape.gridDim = dim3(blocks);
    shape.blockDim = dim3(threads);
    const stopwatch watch;
    ::alarm(20);
    kernel();
    const double seconds = watch.seconds();
    ::alarm(0);
    ++trials_;
    if (input_bytes < bytes_) return;
    seconds_ = input_bytes > bytes_ ? seconds : std::min(seconds, seconds_);
    bytes_ = input_bytes;
  }
  template <class T>
  void expect(const array<T>& found, const std::vector<T>& expected, const std::vector<const std::string*>& = {}) {
    const std::vector<T> values = found.values();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::memcmp(&values[i], &expected[i], sizeof(T)) == 0) continue;
      finish("wrong: on the GPU " + found.memory() + "[" + std::to_string(i) + "] is " + std::to_string(values[i]) +
             ", and should be " + std::to_string(expected[i]) + in_the_trial());
    }
  }
  void compare_with_exact(bool) {}
  int number_of_trials() const { return trials_; }
  std::size_t bytes() const { return bytes_; }
  double seconds() const { return seconds_; }

 private:
  int trials_ = 0;
  std::size_t bytes_ = 0;  ///< of the longest input
  double seconds_ = 0;
};

struct alignas(16) four_words {
  unsigned word[4];
};

static __global__ void read_all(const four_words* x, std::size_t count, unsigned* found) {
  unsigned all = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
#pragma unroll 4
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const four_words one = x[i];
    all |= one.word[0] & one.word[1] & one.word[2] & one.word[3];
  }
  if (all != 0) *found = all;  // The compiler has to load all words.
}

/// The shortest time in which a kernel reads so many bytes.
inline double seconds_to_read(std::size_t bytes, unsigned multiprocessors) {
  const array<four_words> x("x", std::vector<four_words>(bytes / sizeof(four_words)));
  const array<unsigned> found("found", 1);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    shape.gridDim = dim3(8 * multiprocessors);
    shape.blockDim = dim3(256);
    const stopwatch watch;
    launched(read_all)(x.data(), x.count(), found.data());
    best = std::min(best, watch.seconds());
  }
  return best;
}

/// Checks the kernel by `trials`, which takes a checker and a kernel, and ends the program. The report of a kernel
/// that is right begins with blanks: it is a line of the report of the check on the CPU.
template <class Trials, class... Parameters>
[[noreturn]] void check_on_gpu(Trials trials, void (*kernel)(Parameters...)) {
  cudaDeviceProp device;
  if (const cudaError_t status = cudaGetDeviceProperties(&device, 0); status != cudaSuccess) {
    finish("  not run on a GPU: " + std::string(cudaGetErrorString(status)));
  }
  std::signal(SIGALRM, stop_launch);
  checker now;
  trials(now, launched(kernel));
  const double bytes = static_cast<double>(now.bytes());
  const double ceiling = seconds_to_read(now.bytes(), static_cast<unsigned>(device.multiProcessorCount));
  char text[300];
  std::snprintf(
      text, sizeof text,
      "  on %s: right in %d trials; the longest one reads %.1f MB in %.1f us, %.0f GB/s, which is %.1f %% of "
      "the fastest read",
      device.name, now.number_of_trials(), bytes / 1e6, now.seconds() * 1e6, bytes / now.seconds() / 1e9,
      100 * ceiling / now.seconds());
  finish(text);
}

}  // namespace fanin::puzzle
