// SPDX-License-Identifier: Apache-2.0
// Exact sums on a device of data that are hard for its windows and for its rounding.
#include <cmath>
#include <random>

#include <fanin/accumulator/exact.hpp>

#include "backends/cuda/exact/shapes.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_memory.hpp"

namespace fanin::test {
namespace {

template <class T>
class hard_data {
 public:
  explicit hard_data(unsigned seed) : random_(seed) {}

  /// Stretches of one kind each, so that windows have to move, and to be given up and taken up again.
  std::vector<T> make(std::size_t count) {
    std::vector<T> x;
    while (x.size() < count) {
      const unsigned kind = below(8);
      const int top =
          limits::min_exponent + static_cast<int>(below(limits::max_exponent - limits::min_exponent - 40));
      for (std::size_t left = std::min<std::size_t>(1 + below(20000), count - x.size()); left > 0; --left) {
        x.push_back(one(kind, top));
      }
    }
    return x;
  }

 private:
  using limits = std::numeric_limits<T>;
  static constexpr int exponents = sizeof(T) == 4 ? 110 : 160;

  unsigned below(int limit) { return static_cast<unsigned>(random_() % static_cast<unsigned>(limit)); }
  /// All bits of the mantissa random.
  T scaled(int exponent) {
    constexpr int digits = limits::digits;
    const T magnitude = std::ldexp(static_cast<T>(random_() >> (64 - digits)), exponent + 1 - digits);
    return random_() % 2 == 0 ? magnitude : -magnitude;
  }
  T one(unsigned kind, int top) {
    switch (kind) {
      case 0:  // one binade
        return scaled(top);
      case 1:  // about what two or three levels of a window hold, and a little more
        return scaled(top - static_cast<int>(below(exponents)));
      case 2:  // two clusters, one around the end of the lowest level
        return scaled(top - (below(2) == 0 ? 0 : exponents - 50 + static_cast<int>(below(50))));
      case 3:  // anything finite
        return scaled(limits::min_exponent +
                      static_cast<int>(below(limits::max_exponent - limits::min_exponent - 40)));
      case 4:
        return below(2) == 0 ? T{0} : -T{0};
      case 5:  // subnormal numbers
        return std::ldexp(static_cast<T>(below(1000)) - 500, limits::min_exponent - limits::digits);
      case 6:  // mostly zeros
        return below(100) == 0 ? scaled(top) : T{0};
      default:
        return std::ldexp(T{1}, top);
    }
  }

  std::mt19937_64 random_;
};

/// Products of elements that lie beside each other only by chance, at every alignment to each other, of device and of
/// host data.
template <class T>
void expect_exact_dot(std::span<const T> x, std::size_t offset, device_context& context) {
  const std::vector<T> y(x.rbegin(), x.rend());
  const device_array<T> left(x, offset);
  for_each_type<float, double>([&]<class R>(R) {
    if (sizeof(R) < sizeof(T)) return;
    options chosen{.backend = "serial", .method = method::exact, .result = type_of<R>};
    const scalar expected = reduce(operation::dot, {x, std::span<const T>(y)}, chosen).value;
    chosen.backend = "cuda";
    CHECK(same(reduce(operation::dot, {x, std::span<const T>(y)}, context, chosen).value, expected));
    for (const std::size_t other : {offset, offset + 1, offset + 4}) {
      const device_array<T> right(std::span<const T>(y), other);
      CHECK(same(reduce(operation::dot, {left.elements(), right.elements()}, context, chosen).value, expected));
    }
  });
}

/// Compares two results with the serial exact sum: sums that the device rounds, and sums of the device that the
/// host rounds.
template <class T>
void expect_exact(std::span<const T> x, std::size_t offset, device_context& context) {
  const device_array<T> on_device(x, offset);
  for (const operation what : all_operations) {
    if (!row_of(what).of_floats.exact || row_of(what).unrounded || !has_value(what, x.size())) continue;
    const input_views inputs = inputs_for(what, on_device.elements());
    const auto expect = [&]<class R>(R) {
      if (sizeof(R) < sizeof(T)) return;
      const options chosen{.method = method::exact, .result = type_of<R>};
      const scalar expected = call(find_backend("serial"), what, x, chosen).value;
      CHECK(same(reduce(what, inputs, context, chosen).value, expected));
      const device_value<device_result<R>> enqueued;
      enqueue(what, inputs, enqueued.get(), context, chosen);
      cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(context.stream())), "cudaStreamSynchronize");
      CHECK(same(scalar(enqueued.read().value), expected));
    };
    for_each_type<float, double>(expect);
    if constexpr (narrow_float<T>) expect(T());
  }
  expect_exact_dot(x, offset, context);
}

template <class T>
void check_hard_data(unsigned seeds, std::initializer_list<std::size_t> counts) {
  device_context context;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    for (const std::size_t count : counts) {
      CAPTURE(seed);
      CAPTURE(count);
      std::vector<T> x = as_elements<T>(hard_data<computed_as<T>>(seed).make(count));
      expect_exact<T>(x, seed % 3, context);
      if (seed % 8 != 0) continue;
      x[count / 3] = static_cast<T>(-std::numeric_limits<T>::infinity());
      expect_exact<T>(x, 0, context);
      x[count / 2] = std::numeric_limits<T>::infinity();
      expect_exact<T>(x, 0, context);
    }
  }
}

TEST_SUITE("exact_data") {
  TEST_CASE_TEMPLATE("windows that move, fail and return", T, float, double, f16, bf16) {
    if (device_is_here()) check_hard_data<T>(20, {1000, 5001, 60007});
  }
  TEST_CASE_TEMPLATE("the same in large arrays", T, float, double, bf16) {
    if (device_is_here()) check_hard_data<T>(10, {3000001, 7000003, 20000003});
  }

  TEST_CASE_TEMPLATE("copied batches, in a window and in none, the last of them a part", T, float, double, f16,
                     bf16) {
    if (!device_is_here()) return;
    device_context context;
    constexpr std::size_t in_vector = 16 / sizeof(T), least = cuda::tuning::exact_many_vectors * in_vector;
    for (const int exponents : {20, 200}) {
      CAPTURE(exponents);
      std::vector<computed_as<T>> numbers(least + 600 * in_vector);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto mantissa = 1 + static_cast<computed_as<T>>(i % 8191) / 8192;
        numbers[i] = std::ldexp(mantissa, static_cast<int>(i * 7919 % exponents) - exponents / 2);
      }
      const std::vector<T> all = as_elements<T>(numbers);
      for (const std::size_t vectors : {0, 1, 257}) {
        CAPTURE(vectors);
        const std::span<const T> x(all.data(), least + vectors * in_vector);
        const device_array<T> on_device(x);
        for (const operation what : {operation::sum, operation::sum_of_squares}) {
          const options chosen{.method = method::exact};
          CHECK(same(reduce(what, on_device.elements(), context, chosen).value,
                     call(find_backend("serial"), what, x, chosen).value));
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("so many elements of one sign that shared memory is drained", T, float, double) {
    if (!device_is_here()) return;
    constexpr std::size_t period = std::size_t{1} << 20, times = 256;
    std::vector<T> once;  // too wide for windows
    for (std::size_t i = 0; i < period; ++i) {
      once.push_back(std::ldexp(std::numeric_limits<T>::max(), -static_cast<int>(30 + i * 7919 % 200)));
    }
    exact_accumulator<T> expected;
    for (const T v : once) expected.add(v);
    for (std::size_t n = 1; n < times; n *= 2) {
      const exact_accumulator<T> half = expected;
      expected.merge(half);
    }
    const auto memory = cuda::allocate_device(period * times * sizeof(T));
    for (std::size_t n = 0; n < times; ++n) {
      cuda::check(
          cudaMemcpy(memory.get() + n * period * sizeof(T), once.data(), period * sizeof(T), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    }
    const device_span<T> x(reinterpret_cast<const T*>(memory.get()), period * times);
    const scalar found = reduce(operation::sum, x, {.backend = "cuda", .method = method::exact}).value;
    CHECK(same(found, scalar(expected.template round<T>())));
  }

  TEST_CASE("squares on both sides of what two doubles hold") {
    if (!device_is_here()) return;
    device_context context;
    std::mt19937_64 random(1);
    for (const int edge : {-537, -511, -484, -402, 0, 507, 511}) {  // underflow, windows for pairs, overflow
      for (int exponent = edge - 4; exponent <= edge + 4; ++exponent) {
        CAPTURE(exponent);
        std::vector<double> x(5001);
        for (double& v : x) v = std::ldexp(static_cast<double>(random() >> 11), exponent - 52 - random() % 3);
        expect_exact<double>(x, 0, context);
        for (std::size_t i = 100; i < x.size(); i += 700) x[i] = std::ldexp(x[i], -70);
        expect_exact<double>(x, 1, context);
      }
    }
  }

  TEST_CASE("sums of three powers of two") {
    if (!device_is_here()) return;
    device_context context;
    for_each_type<float, double>([&]<class T>(T) {
      using limits = std::numeric_limits<T>;
      constexpr int lowest = limits::min_exponent - limits::digits, step = sizeof(T) == 4 ? 7 : 41;
      std::vector<T> powers;
      for (int exponent = lowest; exponent < limits::max_exponent; exponent += step) {
        powers.push_back(std::ldexp(T{1}, exponent));
      }
      for (std::size_t i = 0; i < powers.size(); ++i) {
        for (std::size_t j = 0; j < powers.size(); ++j) {
          const T small = powers[(i * 31 + j * 17) % powers.size()];
          for (const T third : {small, -small}) {
            const std::vector<T> x{powers[i], -powers[j], third};
            expect_exact<T>(x, 0, context);
          }
        }
      }
    });
  }
}

}  // namespace
}  // namespace fanin::test
