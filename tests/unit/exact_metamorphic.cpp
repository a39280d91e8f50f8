// SPDX-License-Identifier: Apache-2.0
// Metamorphic tests of exact sums: changes of order, splitting and merging, sign, scale, and cancelling pairs, whose
// effect on the sum is known. They run on every CPU backend, with 1 to 16 threads, and on every instruction set.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <fanin/accumulator/exact.hpp>

#include "tests/support/adversary.hpp"
#include "tests/support/call.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr unsigned most_threads = 16;
constexpr std::size_t parallel_bytes = std::size_t{2} << 20;

/// Calls f(x, random) for every kind of data. x has 4001 to 4100 elements more than fit in 2 MiB.
template <class T, class F>
void for_each_kind(F f) {
  adversary<T> random(2);
  for (const auto& kind : adversary<T>::kinds()) {
    CAPTURE(std::string(kind.name));
    f(random.make(kind, parallel_bytes / sizeof(T) + 4001 + random.below(100)), random);
  }
}

template <class T>
T serial_sum(std::span<const T> x) {
  const options chosen{.method = method::exact, .threads = 1};
  return fanin::get<T>(call(find_backend("serial"), operation::sum, x, chosen).value);
}

/// Which numbers of threads a check takes: all of 1 to 16, or a quarter of them, each check the next quarter.
enum class thread_counts { all, next_quarter };

/// Checks that every backend returns the bits of `expected` as the sum of x. The serial backend has one thread,
/// whatever is asked for.
template <class T>
void check_sums(std::span<const T> x, T expected, thread_counts counts = thread_counts::next_quarter) {
  static unsigned checks = 0;
  const unsigned step = counts == thread_counts::all ? 1 : 4, first = 1 + checks++ % step;
  for (const backend* b : cpu_backends()) {
    const unsigned most = b->name() == "serial" ? first : most_threads;
    for (unsigned threads = first; threads <= most; threads += step) {
      const options chosen{.method = method::exact, .threads = threads};
      const scalar sum = call(*b, operation::sum, x, chosen).value;
      if (same(sum, expected)) continue;
      FAIL_CHECK(told(operation::sum, x, chosen)
                 << ", " << b->name() << ": " << shown(sum) << " instead of " << shown(expected));
    }
  }
}

template <class T>
void check_sums(const std::vector<T>& x, T expected) {
  check_sums(std::span<const T>(x), expected);
}

template <class T>
bool only(const std::vector<T>& x, T value) {
  return std::ranges::all_of(x, [&](T v) { return bits_of(v) == bits_of(value); });
}

/// The elements x * 2^k, or no elements if the multiplication would round one of them.
template <class T>
std::vector<T> scaled(std::vector<T> x, int k) {
  for (T& v : x) {
    const T by_power = std::ldexp(v, k);
    if (std::isfinite(v) && bits_of(std::ldexp(by_power, -k)) != bits_of(v)) return {};
    v = by_power;
  }
  return x;
}

/// Checks the rounded sum and mean on every instruction set: on the best one with every number of threads, on the
/// others with `counts`.
template <class T>
void check_threads_and_targets(thread_counts counts) {
  for_each_kind<T>([counts](const std::vector<T>& data, auto&) {
    const std::span<const T> x(data);
    const sum_oracle exact(x);
    const auto count = static_cast<std::uint32_t>(x.size());
    const T sum = serial_sum(x);
    const scalar mean = call(find_backend("serial"), operation::mean, x, {.method = method::exact}).value;
    CHECK(exact.accepts(sum));
    CHECK(exact.accepts(fanin::get<T>(mean), count));
    const auto targets = hwy::SupportedAndGeneratedTargets();
    for (const auto target : targets) {
      const only_target here(target);
      CAPTURE(std::string(hwy::TargetName(target)));
      check_sums(x, sum, target == targets.front() ? thread_counts::all : counts);
      for (const backend* b : cpu_backends()) {
        CAPTURE(std::string(b->name()));
        CHECK(same(call(*b, operation::mean, x, {.method = method::exact, .threads = 5}).value, mean));
      }
    }
  });
}

}  // namespace

TEST_SUITE("unit/exact_metamorphic_in_full") {
  TEST_CASE_TEMPLATE("any thread count on any instruction set: the rounded sum and mean", T, float, double) {
    check_threads_and_targets<T>(thread_counts::all);
  }
}

TEST_SUITE("unit/exact_metamorphic") {
  TEST_CASE_TEMPLATE("any thread count and instruction set: the rounded sum and mean", T, float, double) {
    check_threads_and_targets<T>(thread_counts::next_quarter);
  }

  TEST_CASE_TEMPLATE("permutation", T, float, double) {
    for_each_kind<T>([](std::vector<T> x, adversary<T>& random) {
      const T sum = serial_sum<T>(x);
      random.shuffle(x);
      check_sums(x, sum);
      std::ranges::reverse(x);
      check_sums(x, sum);
    });
  }

  TEST_CASE_TEMPLATE("split, saved, loaded and merged", T, float, double) {
    for_each_kind<T>([](const std::vector<T>& x, adversary<T>& random) {
      const T sum = serial_sum<T>(x);
      exact_accumulator<T> merged;
      for (std::span<const T> rest(x); !rest.empty();) {
        exact_accumulator<T> part;
        const std::size_t length = std::min(rest.size(), 1 + random.below(x.size() / 3));
        part.add(rest.first(length));
        rest = rest.subspan(length);
        part.merge(exact_accumulator<T>::load(merged.save()));
        merged = exact_accumulator<T>::load(part.save());
      }
      CHECK(bits_of(merged.round()) == bits_of(sum));
      for (const backend* b : cpu_backends()) {
        const options chosen{.method = method::exact,
                             .threads = 1 + static_cast<unsigned>(random.below(most_threads))};
        const auto in_blocks = [&](block_feed& into) {
          for (std::span<const T> rest(x); !rest.empty();) {
            const std::size_t length = std::min(rest.size(), random.below(x.size()));
            into.push(rest.data(), length);
            rest = rest.subspan(length);
          }
        };
        CAPTURE(std::string(b->name()));
        CHECK(same(call_in_blocks(*b, operation::sum, type_of<T>, chosen, in_blocks).value, sum));
      }
    });
  }

  TEST_CASE_TEMPLATE("negation", T, float, double) {
    for_each_kind<T>([](std::vector<T> x, adversary<T>&) {
      const T sum = serial_sum<T>(x);
      const T negative_zero = only(x, T{0}) ? -T{0} : T{0};
      for (T& v : x) v = -v;
      check_sums(x, sum == 0 ? negative_zero : std::isnan(sum) ? sum : -sum);
    });
  }

  TEST_CASE_TEMPLATE("scaling by a power of two", T, float, double) {
    int tried = 0;
    for_each_kind<T>([&](const std::vector<T>& x, adversary<T>&) {
      const T sum = serial_sum<T>(x);
      for (const int k : {-40, -1, 3, 60}) {
        const T expected = std::ldexp(sum, k);
        if (sum != 0 && !(std::isnormal(sum) && std::isnormal(expected))) continue;
        const std::vector<T> y = scaled(x, k);
        if (y.empty()) continue;
        check_sums(y, expected);
        ++tried;
      }
    });
    CHECK(tried > 10);
  }

  TEST_CASE_TEMPLATE("an appended pair that cancels", T, float, double) {
    for_each_kind<T>([](std::vector<T> x, adversary<T>& random) {
      const T sum = serial_sum<T>(x);
      for (const std::size_t field : {0, 100, layout<T>::fields - 1}) {
        const T y = random.number(field);
        x.insert(x.begin() + static_cast<std::ptrdiff_t>(random.below(x.size())), y);
        x.push_back(-y);
        check_sums(x, sum == 0 ? T{0} : sum);
      }
    });
  }
}

}  // namespace fanin::test
