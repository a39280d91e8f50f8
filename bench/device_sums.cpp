// SPDX-License-Identifier: Apache-2.0
// Measures sums of device memory by the backend `cuda` and by CUB and Thrust, the time until a value is on the host,
// sums of host memory, and the ceilings, in one process. Prints JSON in Google Benchmark's schema, from which
// scripts/bench-gpu makes tables. Needs up to 12 GiB of host memory and 9 GiB of device memory.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include <fanin/device.hpp>

#include "bench/contestants.hpp"
#include "bench/device_peers.hpp"
#include "bench/hashed.hpp"
#include "measure/device.hpp"
#include "measure/timing.hpp"
#include "oracle/families.hpp"

namespace {

using fanin::cuda::check;
using fanin::measure::device_median_seconds;
using fanin::measure::host_median_seconds;
using json = nlohmann::ordered_json;

constexpr int rounds = 5;
constexpr double budget_seconds = 0.01;  ///< budget per contestant and round
constexpr std::size_t most_bytes = std::size_t{1} << 32;
constexpr auto sum = fanin::operation::sum, squares = fanin::operation::sum_of_squares;

/// The group of a row, and the input that its contestants reduce.
struct input_case {
  std::string_view group;
  fanin::element_type type;
  std::size_t count;
  bool misaligned = false;
};

struct contestant {
  std::string_view backend;
  std::string_view method;
  std::function<double()> seconds;
};

json row(const input_case& query, const contestant& who, double seconds) {
  std::string name = std::string(query.group) + "/" + std::string(to_string(query.type)) + "/" +
                     std::string(who.backend) + "/" + std::string(who.method) + "/" + std::to_string(query.count);
  if (query.misaligned) name += "/misaligned";
  const auto bytes = static_cast<double>(query.count * byte_size(query.type));
  return {{"name", name},
          {"run_type", "iteration"},
          {"real_time", seconds * 1e6},
          {"time_unit", "us"},
          {"bytes_per_second", bytes / seconds},
          {"group", query.group},
          {"type", to_string(query.type)},
          {"backend", who.backend},
          {"method", who.method},
          {"count", query.count},
          {"misaligned", query.misaligned}};
}

/// Adds a row with the median of several rounds for each contestant.
void race(json& rows, const input_case& query, const std::vector<contestant>& all) {
  const auto seconds = fanin::bench::take_turns(all, rounds);
  for (std::size_t i = 0; i < all.size(); ++i) {
    rows.push_back(row(query, all[i], fanin::measure::median(seconds[i])));
  }
}

/// Fills x with floats uniform in [0, 1), or with integers of 32 random bits.
template <class T>
void fill(T* x, std::size_t count) {
  const std::size_t threads = fanin::default_threads();
  std::vector<std::jthread> crew;
  for (std::size_t t = 0; t < threads; ++t) {
    crew.emplace_back([=] {
      for (std::size_t i = count * t / threads; i < count * (t + 1) / threads; ++i) {
        if constexpr (std::is_integral_v<T>) {
          x[i] = static_cast<T>(fanin::bench::hashed(i) >> 32);
        } else {
          x[i] = static_cast<T>(fanin::bench::hashed(i) >> 40) * static_cast<T>(0x1p-24);
        }
      }
    });
  }
}

const fanin::options plainly{.method = fanin::method::fast};

template <class T>
using exact_type = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
template <class T>
using sum_type = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

template <class T>
exact_type<T> exact_sum(const T* x, std::size_t count) {
  const fanin::options chosen{
      .backend = "openmp,tbb,serial", .method = fanin::method::exact, .result = fanin::type_of<exact_type<T>>};
  return fanin::get<exact_type<T>>(fanin::reduce(sum, std::span<const T>(x, count), chosen).value);
}

/// Checks a sum of elements that are not negative. `exact` is correctly rounded, so the check adds 2^-53 to the
/// relative bound. @throws std::runtime_error
template <class Value, class Exact>
void require(const char* contestant_name, Value value, Exact exact, const fanin::error_bound& bound) {
  bool right = false;
  if constexpr (std::is_integral_v<Value>) {
    right = value == static_cast<Value>(exact);
  } else {
    right = std::abs(value - exact) <= (bound.of_result + bound.of_magnitudes + 0x1p-53) * exact + bound.absolute;
  }
  if (!right) {
    throw std::runtime_error(std::string(contestant_name) + " gave " + std::to_string(value) + "; right is " +
                             std::to_string(exact));
  }
}

/// One array in device memory and the contestants that sum it.
template <class T>
class device_case {
 public:
  device_case(const T* x, std::size_t count, bool misaligned, fanin::device_context& context)
      : input_(std::span<const T>(x, count), misaligned ? 1 : 0),
        count_(count),
        misaligned_(misaligned),
        context_(context),
        stream_(static_cast<cudaStream_t>(context.stream())),
        cub_(count) {}

  void verify(exact_type<T> exact) {
    for (const fanin::method how : fanin::all_methods) verify_cuda(how, exact);
    const double any_order = static_cast<double>(count_) * std::numeric_limits<T>::epsilon() / 2;
    require("cub", cub_on_host(0), exact, {0, any_order, 0});
    require("thrust", fanin::bench::thrust_sum(place(0), count_, stream_), exact, {0, any_order, 0});
  }

  void race_back_to_back(json& rows) {
    std::vector<contestant> all = {cuda(fanin::method::fast), cub(), thrust()};
    const bool every_method = std::is_floating_point_v<T> && !misaligned_;
    if (every_method) {
      all.push_back(cuda(fanin::method::compensated));
      all.push_back(cuda(fanin::method::exact));
    }
    if (count_ >= 1u << 20) {
      all.push_back({"ceiling", "read",
                     [this] { return fanin::measure::device_read_seconds(input_, stream_, budget_seconds); }});
    }
    race(rows, case_of("sum"), all);
  }

  /// Compares exact sums and exact sums of squares with CUB's plain sum, on data of one family.
  /// @throws std::runtime_error unless the exact values are equal to cpu(operation)
  template <class Cpu>
  void race_exact(json& rows, std::string_view family, Cpu cpu) {
    for (const fanin::operation what : {sum, squares}) {
      const auto found = fanin::reduce(what, input_.at(0), context_, {.method = fanin::method::exact}).value;
      if (found != cpu(what)) throw std::runtime_error("an exact sum of " + std::string(family) + " is wrong");
    }
    contestant exact_squares = cuda(fanin::method::exact, squares);
    exact_squares.method = "exact squares";
    race(rows, case_of(family), {cuda(fanin::method::exact), exact_squares, cub()});
  }

  void race_to_the_host(json& rows) {
    const auto on_host = [](auto call) { return [=] { return host_median_seconds(call, budget_seconds); }; };
    race(rows, case_of("latency"),
         {{"cuda", "fast",
           on_host([this](std::size_t i) { return fanin::reduce(sum, input_.at(i), context_, plainly); })},
          {"cub", "fast", on_host([this](std::size_t i) { cub_on_host(i); })},
          thrust()});
  }

 private:
  input_case case_of(std::string_view group) const { return {group, fanin::type_of<T>, count_, misaligned_}; }
  const T* place(std::size_t i) const { return static_cast<const T*>(input_.at(i).data); }

  contestant cuda(fanin::method how, fanin::operation what = sum) {
    const auto enqueue = [this, how, what](std::size_t i) {
      fanin::enqueue(what, input_.at(i), result_.get(), context_, {.method = how});
    };
    return {"cuda", to_string(how),
            [this, enqueue] { return device_median_seconds(stream_, enqueue, budget_seconds); }};
  }
  contestant cub() {
    return {"cub", "fast", [this] {
              return device_median_seconds(
                  stream_, [this](std::size_t i) { enqueue_cub(i); }, budget_seconds);
            }};
  }
  contestant thrust() {
    return {"thrust", "fast", [this] {
              return host_median_seconds(
                  [this](std::size_t i) { fanin::bench::thrust_sum(place(i), count_, stream_); }, budget_seconds);
            }};
  }

  void enqueue_cub(std::size_t i) { cub_.enqueue(place(i), count_, reinterpret_cast<T*>(result_.get()), stream_); }
  T cub_on_host(std::size_t i) {
    enqueue_cub(i);
    check(cudaMemcpyAsync(host_result_.get(), result_.get(), sizeof(T), cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return *reinterpret_cast<const T*>(host_result_.get());
  }

  void verify_cuda(fanin::method how, exact_type<T> exact) {
    const auto answer = fanin::reduce(sum, input_.at(0), context_, {.method = how});
    const auto value = fanin::get<sum_type<T>>(answer.value);
    require("cuda", value, exact, answer.report.bound);
    fanin::enqueue(sum, input_.at(0), result_.get(), context_, {.method = how});
    fanin::device_result<sum_type<T>> enqueued{};
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    check(cudaMemcpy(&enqueued, result_.get(), sizeof enqueued, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (enqueued.value != value || enqueued.overflowed != 0) throw std::runtime_error("enqueue() gave another value");
  }

  fanin::measure::rotated_input input_;
  std::size_t count_;
  bool misaligned_;
  fanin::device_context& context_;
  cudaStream_t stream_;
  fanin::bench::cub_sum<T> cub_;
  fanin::cuda::device_memory result_ = fanin::cuda::allocate_device(256);
  fanin::cuda::pinned_memory host_result_ = fanin::cuda::allocate_pinned(256);
};

template <class T>
void race_on_device(json& rows, void* memory, std::size_t bytes, fanin::device_context& context) {
  auto* const x = static_cast<T*>(memory);
  fill(x, bytes / sizeof(T));
  for (std::size_t count = 1u << 4; count <= bytes / sizeof(T); count *= count < 1u << 10 ? 4 : 2) {
    std::fprintf(stderr, "sums of %zu elements of %s\n", count, to_string(fanin::type_of<T>).data());
    const auto exact = exact_sum(x, count);
    for (const bool misaligned : {false, true}) {
      device_case<T> one(x, count, misaligned, context);
      one.verify(exact);
      one.race_back_to_back(rows);
      const bool show_latency = count == 1u << 10 || (count >= 1u << 14 && count <= 1u << 22);
      if (std::is_same_v<T, float> && !misaligned && show_latency) one.race_to_the_host(rows);
    }
  }
}

/// Measures exact sums of families of data. The elements of a family repeat with a period of 2^22.
template <class T>
void race_families(json& rows, void* memory, fanin::device_context& context) {
  constexpr std::size_t period = std::size_t{1} << 22, longest = std::size_t{1} << 28;
  auto* const x = static_cast<T*>(memory);
  for (const char* family :
       {"constant", "uniform", "normal", "lognormal:10", "lognormal:100", "wide", "condition:1e30"}) {
    std::fprintf(stderr, "exact sums of %s, %s\n", family, to_string(fanin::type_of<T>).data());
    const std::vector<T> once = fanin::oracle::generate<T>(family, period, 1);
    for (std::size_t i = 0; i < longest; i += period) std::copy(once.begin(), once.end(), x + i);
    for (std::size_t count = 1u << 16; count <= longest; count <<= 4) {
      device_case<T>(x, count, false, context).race_exact(rows, family, [&](fanin::operation what) {
        const fanin::options chosen{.backend = "openmp,tbb,serial", .method = fanin::method::exact};
        return fanin::reduce(what, std::span<const T>(x, count), chosen).value;
      });
    }
  }
}

/// The calls take parts of one array of `bytes` in turn, so that no cache holds the part that a call reads.
contestant sum_from_host(const float* x, std::size_t bytes, std::size_t count, fanin::device_context& context) {
  const std::size_t places = bytes / sizeof(float) / count;
  const auto call = [=, &context](std::size_t i) {
    return fanin::reduce(sum, std::span<const float>(x + i % places * count, count), context, plainly);
  };
  return {"cuda", "fast", [=] { return host_median_seconds(call, budget_seconds); }};
}

void race_from_host(json& rows, void* memory, std::size_t bytes, fanin::device_context& context) {
  auto* const pinned = static_cast<float*>(memory);
  const std::vector<float> pageable(pinned, pinned + bytes / sizeof(float));
  for (std::size_t part = std::size_t{1} << 20; part <= bytes; part *= 4) {
    std::fprintf(stderr, "sums of %zu bytes of host memory\n", part);
    const std::size_t count = part / sizeof(float);
    const auto answer = fanin::reduce(sum, std::span<const float>(pageable.data(), count), context, plainly);
    require("cuda", fanin::get<float>(answer.value), exact_sum(pinned, count), answer.report.bound);
    const double copy = fanin::measure::pinned_copy_seconds(part, static_cast<cudaStream_t>(context.stream()), 0.1);
    const auto case_of = [&](std::string_view group) { return input_case{group, fanin::element_type::f32, count}; };
    race(rows, case_of("pinned"),
         {sum_from_host(pinned, bytes, count, context), {"ceiling", "copy", [=] { return copy; }}});
    race(rows, case_of("pageable"), {sum_from_host(pageable.data(), bytes, count, context)});
  }
}

}  // namespace

int main() try {
  fanin::device_context context;
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, context.device()), "cudaGetDeviceProperties");
  const std::size_t bytes = std::min(most_bytes, std::bit_floor(device.totalGlobalMem / 3));
  const auto memory = fanin::cuda::allocate_pinned(bytes);
  json rows = json::array();
  race_on_device<double>(rows, memory.get(), bytes, context);
  race_on_device<std::int32_t>(rows, memory.get(), bytes, context);
  race_on_device<float>(rows, memory.get(), bytes, context);
  race_from_host(rows, memory.get(), bytes, context);
  race_families<float>(rows, memory.get(), context);
  race_families<double>(rows, memory.get(), context);
  const json output = {{"context", {{"executable", "fanin_device_bench"}, {"device", std::string(device.name)}}},
                       {"benchmarks", rows}};
  std::puts(output.dump(1).c_str());
} catch (const std::exception& failure) {
  std::fprintf(stderr, "fanin_device_bench: %s\n", failure.what());
  return 1;
}
