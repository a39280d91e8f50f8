// SPDX-License-Identifier: Apache-2.0
// Measures exact dot products of device memory by the backend `cuda`, and rounded ones by cuBLAS, in one process. The
// results stay on the device. Prints a line for each length: microseconds of both, and cuBLAS's time divided by the
// time of the exact product.
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <cublas_v2.h>

#include <fanin/device.hpp>

#include "bench/contestants.hpp"
#include "bench/hashed.hpp"
#include "measure/device.hpp"

namespace fanin::bench {
namespace {

constexpr int rounds = 9;
constexpr double budget_seconds = 0.02;  ///< for each contestant and round
constexpr std::size_t shortest = std::size_t{1} << 16, longest = std::size_t{1} << 20;

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

/// The handle writes results to device memory.
std::shared_ptr<cublasContext> cublas_on(cudaStream_t stream) {
  cublasHandle_t handle = nullptr;
  check_cublas(cublasCreate(&handle));
  const std::shared_ptr<cublasContext> owner(handle, cublasDestroy);
  check_cublas(cublasSetStream(handle, stream));
  check_cublas(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  return owner;
}
cublasStatus_t cublas_dot(cublasHandle_t handle, int count, const float* x, const float* y, float* result) {
  return cublasSdot(handle, count, x, 1, y, 1, result);
}
cublasStatus_t cublas_dot(cublasHandle_t handle, int count, const double* x, const double* y, double* result) {
  return cublasDdot(handle, count, x, 1, y, 1, result);
}

/// The dot product of two arrays in device memory, which take turns with copies of them.
template <class T>
class dot_case {
 public:
  dot_case(std::span<const T> x, std::span<const T> y, device_context& context, cublasHandle_t handle)
      : x_(x), y_(y), count_(x.size()), context_(context), handle_(handle) {}

  void enqueue_exact(std::size_t i) {
    enqueue(operation::dot, input_views(x_.at(i), y_.at(i)), result_.get(), context_, {.method = method::exact});
  }
  void enqueue_cublas(std::size_t i) {
    check_cublas(cublas_dot(handle_, static_cast<int>(count_), static_cast<const T*>(x_.at(i).data),
                            static_cast<const T*>(y_.at(i).data), reinterpret_cast<T*>(result_.get())));
  }
  /// The result of an enqueued call.
  T value() const {
    T found;
    cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    cuda::check(cudaMemcpy(&found, result_.get(), sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return found;
  }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(context_.stream()); }

 private:
  measure::rotated_input x_, y_;
  std::size_t count_;
  device_context& context_;
  cublasHandle_t handle_;
  cuda::device_memory result_ = cuda::allocate_device(256);
};

struct contestant {
  std::function<double()> seconds;
};

/// @throws std::runtime_error if a value is wrong
template <class T>
void race(const std::vector<T>& x, const std::vector<T>& y, std::size_t count, device_context& context,
          cublasHandle_t handle) {
  const std::span<const T> some_x(x.data(), count), some_y(y.data(), count);
  dot_case<T> one(some_x, some_y, context, handle);
  one.enqueue_exact(0);
  const T exact = one.value();
  if (exact != dot(some_x, some_y, {.backend = "serial", .method = method::exact}).value) {
    throw std::runtime_error("an exact dot product is wrong");
  }
  one.enqueue_cublas(0);
  const double most = static_cast<double>(count + 1) * std::numeric_limits<T>::epsilon() / 2 * exact;
  if (!(std::abs(one.value() - exact) <= most)) throw std::runtime_error("cuBLAS's dot product is wrong");

  const auto timed = [&](auto enqueue) {
    return contestant{
        [&one, enqueue] { return measure::device_median_seconds(one.stream(), enqueue, budget_seconds); }};
  };
  const auto seconds = take_turns(std::vector{timed([&](std::size_t i) { one.enqueue_exact(i); }),
                                              timed([&](std::size_t i) { one.enqueue_cublas(i); })},
                                  rounds);
  const double ours = measure::median(seconds[0]), cublas = measure::median(seconds[1]);
  std::printf("dot of %7zu %s: exact %6.2f us, cuBLAS %6.2f us, quotient %.2f\n", count,
              std::string(to_string(type_of<T>)).c_str(), ours * 1e6, cublas * 1e6, cublas / ours);
}

/// The elements lie between 0 and 1, so that the error of a rounded product is a share of the product.
template <class T>
void race_all(device_context& context, cublasHandle_t handle) {
  std::vector<T> x(longest), y(longest);
  for (std::size_t i = 0; i < longest; ++i) {
    x[i] = static_cast<T>(hashed(i) >> 40) * static_cast<T>(0x1p-24);
    y[i] = static_cast<T>(hashed(i + longest) >> 40) * static_cast<T>(0x1p-24);
  }
  for (std::size_t count = shortest; count <= longest; count *= 2) race(x, y, count, context, handle);
}

}  // namespace
}  // namespace fanin::bench

int main() try {
  fanin::device_context context;
  const auto handle = fanin::bench::cublas_on(static_cast<cudaStream_t>(context.stream()));
  fanin::bench::race_all<double>(context, handle.get());
  fanin::bench::race_all<float>(context, handle.get());
} catch (const std::exception& failure) {
  std::fprintf(stderr, "fanin_device_dots: %s\n", failure.what());
  return 1;
}
