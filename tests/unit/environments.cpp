// SPDX-License-Identifier: Apache-2.0
// Tests that every entry of the library gives the same value, bound and state whatever floating-point environment the
// caller is in, and leaves this environment as it was. The conformance suite tests the verbs with every variant.
#include <doctest/doctest.h>

#include <ranges>
#include <string>
#include <vector>

#include <fanin/fanin.h>
#include <fanin/accumulator/earlier_result.hpp>
#include <fanin/describe.hpp>
#include <fanin/fanin.hpp>
#include <fanin/fold.hpp>
#include <fanin/state.hpp>

#include "tests/support/call.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/float_environment.hpp"
#include "tests/support/own_accumulators.hpp"
#include "tests/support/rank_messages.hpp"

namespace fanin::test {
namespace {

/// The answers of entries, as bytes.
class answers {
 public:
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, report>) {
      add(value.bound.of_result), add(value.bound.of_magnitudes), add(value.bound.absolute), add(value.absent);
    } else if constexpr (std::is_same_v<T, scalar>) {
      fanin::visit([&](const auto& held) { add(held); }, value);
    } else if constexpr (std::ranges::range<T>) {
      for (const auto& one : value) add(one);
    } else {
      for (const std::uint64_t word : words_of(value))
        bytes_.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
  }
  template <class T>
  void add(const result<T>& answer) {
    add(answer.value);
    add(answer.report);
  }
  void add(std::byte one) { bytes_.push_back(static_cast<char>(one)); }
  /// The answer of call(), or its error.
  template <class Call>
  void add_call(Call call) {
    try {
      call();
    } catch (const error& problem) {
      bytes_ += problem.what();
    }
  }
  bool operator==(const answers&) const = default;

 private:
  std::string bytes_;
};

/// Checks that enter(answers&) gives the same answers in every environment.
template <class Enter>
void check_entry(const char* entry, Enter enter) {
  answers expected;
  expected.add_call([&] { enter(expected); });
  for (const caller_environment& one : caller_environments) {
    answers found;
    bool unchanged = false;
    {
      const changed_environment here(one.rounding, one.how);
      found.add_call([&] { enter(found); });
      unchanged = here.unchanged();
    }
    INFO(std::string(entry), ", ", std::string(one.name));
    CHECK((found == expected));
    CHECK(unchanged);
  }
}

/// Numbers of both signs. A third of the floats are subnormal or nearly so.
template <class T>
std::vector<T> numbers_of(std::size_t count) {
  auto x = mixed_values<T>(count, 43);
  if constexpr (std::is_floating_point_v<part_of<T>>) {
    for (std::size_t i = 0; i < count; i += 3) x[i] *= std::numeric_limits<part_of<T>>::min();
  }
  return x;
}

/// Adds the results of the batch, by call(results).
template <class Call>
void add_results(answers& to, operation what, const batch& many, Call call) {
  with_result_type(what, default_result(what, many.inputs.type()), [&]<class R>() {
    std::vector<R> values(many.result_count, R{});
    to.add_call([&] { to.add(call(results_view(values))); });
    to.add(values);
  });
}

/// Checks the layouts of `rows` by `length` elements, and additions to results.
void check_batches(operation what, const input_views& x, std::size_t rows_count, const options& chosen) {
  const std::size_t count = x.count(), shape[] = {rows_count, count / rows_count};
  const int inner[] = {1}, outer[] = {0};
  std::vector<std::int64_t> offsets(rows_count + 1), keys(count);
  for (std::size_t i = 0; i <= rows_count; ++i) offsets[i] = static_cast<std::int64_t>(i * count / rows_count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::int64_t>(i % rows_count);
  const batch all[] = {rows(x, shape, inner), rows(x, shape, outer),
                       segments(x, std::span<const std::int64_t>(offsets)),
                       groups(x, std::span<const std::int64_t>(keys), rows_count)};
  for (const batch& many : all) {
    check_entry("batch", [&](answers& to) {
      add_results(to, what, many, [&](const results_view& out) { return reduce(what, many, out, chosen); });
    });
    check_entry("planned batch", [&](answers& to) {
      const plan planned(what, x.type(), chosen, plan::unknown_count, memory::host, many.kind);
      add_results(to, what, many, [&](const results_view& out) { return planned(many, out); });
    });
    if (!row_of(what).takes_results) continue;
    check_entry("add_to", [&](answers& to) {
      add_results(to, what, many, [&](const results_view& out) { return add_to(what, many, out, chosen); });
    });
  }
}

void check_lanes(operation what, const input_views& x) {
  if (!has_lanes(what, x.type())) return;
  const input_views ranks[] = {x.part(0, x.count() / 2), x.part(x.count() / 2, x.count() - x.count() / 2)};
  for (const transport how : transports) {
    if (!is_served(what, x.type(), how)) continue;
    check_entry("lanes", [&](answers& to) {
      for (const char one : value_of_ranks(what, ranks, how)) to.add(static_cast<std::byte>(one));
    });
  }
}

void check_operation(operation what, const input_views& x, const options& chosen) {
  CAPTURE(to_string(what));
  CAPTURE(to_string(x.type()));
  check_entry("verb", [&](answers& to) { to.add(reduce(what, x, chosen)); });
  check_entry("plan", [&](answers& to) { to.add(plan(what, x.type(), chosen)(x)); });
  check_entry("blocks", [&](answers& to) {
    incremental blocks(what, x.type(), chosen);
    for (const std::size_t first : {std::size_t{0}, x.count() / 2}) blocks.push(x.part(first, x.count() / 2));
    to.add(blocks.finish());
  });
  check_batches(what, x, 7, chosen);
}

template <class T, int Power>
void check_states(const std::vector<T>& x) {
  check_entry("states", [&](answers& to) {
    basic_exact_accumulator<T, Power> by_loop, by_library;
    by_loop.add(x);
    to.add(accumulate(by_library, std::span<const T>(x)));
    by_loop.merge(by_library);
    to.add(by_loop.save()), to.add(by_loop.template round<float>()), to.add(by_loop.template round<double>());
    to.add(by_loop.mean());
    if constexpr (Power == 2) to.add(by_loop.root());
  });
}

template <class T>
void check_descriptions(const std::vector<T>& x) {
  const auto add = [](answers& to, const auto& d) {
    to.add(d.value.count), to.add(d.value.nan), to.add(d.value.min), to.add(d.value.max), to.add(d.value.sum);
    to.add(d.value.mean), to.add(d.value.standard_deviation), to.add(d.report);
  };
  check_entry("description", [&](answers& to) { add(to, describe(x)); });
  check_entry("describer", [&](answers& to) {
    describer blocks(type_of<T>);
    blocks.push(std::span<const T>(x));
    add(to, blocks.finish());
  });
}

fanin_input c_input(const std::vector<double>& x) {
  fanin_input in = FANIN_INPUT_INIT;
  in.x = x.data(), in.count = x.size();
  return in;
}

}  // namespace

TEST_SUITE("unit/environments") {
  TEST_CASE("every operation, by verb, plan, blocks, batches and lanes") {
    for (const element_type type : all_element_types) {
      with_element(type, [&]<class T>() {
        const std::vector<T> x = numbers_of<T>(210);
        for (const operation what : all_operations) {
          const input_views inputs = inputs_for(what, std::span<const T>(x));
          check_lanes(what, inputs);
          for (const method how : all_methods) {
            if (is_offered(what, type, how)) check_operation(what, inputs, {.method = how});
          }
        }
        return 0;
      });
    }
  }

  TEST_CASE("long batches, by threads") {
    const std::vector<double> x = numbers_of<double>(7 << 16);
    for (const backend* b : cpu_backends()) {
      if (b->name() == "serial") continue;
      for (const method how : all_methods) {
        for (const std::size_t rows_count : {std::size_t{7}, std::size_t{1} << 14}) {
          check_batches(operation::sum_of_squares, std::span<const double>(x), rows_count,
                        {.backend = b->name(), .method = how, .threads = 3});
        }
      }
    }
  }

  TEST_CASE("the bound of rows keeps its absolute part where subnormals are flushed") {
    const double x[] = {0x1p-540, 0x1p-600};
    const std::size_t shape[] = {1, 2};
    const int along[] = {1};
    double value[] = {1};
    const batch many = rows(std::span<const double>(x), shape, along);
    const changed_environment here(FE_TONEAREST, subnormals::flushed);
    const error_bound bound = reduce(operation::sum_of_squares, many, value, {.method = method::fast}).bound;
    CHECK(bits_of(value[0]) == 0);
    CHECK(bits_of(bound.absolute) == 2);
  }

  TEST_CASE("lanes are finished in the library's environment") {
    const std::int64_t integers[] = {1, 0, 0};
    const float subnormal[] = {-0x1.e07934p-127f};
    const std::complex<float> small[] = {0x1p-80f}, minus[] = {-0x1p-80f};
    const auto value_of = [](operation what, const input_views& x) {
      return value_of_ranks(what, std::span(&x, 1), transport::all_lanes);
    };
    const auto bytes_of = [](const auto& value) {
      return std::string(reinterpret_cast<const char*>(&value), sizeof value);
    };
    std::string mean, largest, dot;
    {
      const changed_environment here(FE_UPWARD);
      mean = value_of(operation::mean, std::span<const std::int64_t>(integers));
    }
    {
      const changed_environment here(FE_TONEAREST, subnormals::read_as_zero);
      largest = value_of(operation::max_magnitude, std::span<const float>(subnormal));
    }
    {
      const changed_environment here(FE_DOWNWARD);
      dot = value_of(operation::dot,
                     {std::span<const std::complex<float>>(small), std::span<const std::complex<float>>(minus)});
    }
    CHECK((mean == bytes_of(0x1.5555555555555p-2)));
    CHECK((largest == bytes_of(0x1.e07934p-127f)));
    CHECK((dot == bytes_of(std::complex<float>())));
  }

  TEST_CASE_TEMPLATE("states and descriptions", T, float, double) {
    check_states<T, 1>(numbers_of<T>(1000));
    check_states<T, 2>(numbers_of<T>(1000));
    check_descriptions(numbers_of<T>(1000));
    check_descriptions(numbers_of<T>(1 << 20));
  }

  TEST_CASE("accumulators of one's own") {
    const std::vector<float> x = numbers_of<float>(100000);
    check_entry("fold", [&](answers& to) {
      to.add(fold<ordered_sum>(x));
      to.add(fold<plain_dot>(x, x, {.threads = 3}));
    });
    check_entry("fold in blocks", [&](answers& to) {
      incremental_fold<ordered_sum> blocks;
      blocks.push(x);
      to.add(blocks.finish());
    });
  }

  TEST_CASE("the C interface") {
    const std::vector<double> x = numbers_of<double>(1000);
    check_entry("C", [&](answers& to) {
      const fanin_input in = c_input(x);
      double value = 0;
      fanin_report told = FANIN_REPORT_INIT;
      fanin_description all = FANIN_DESCRIPTION_INIT;
      fanin_state* state = nullptr;
      CHECK(fanin_reduce(FANIN_SUM_OF_SQUARES, &in, nullptr, &value, &told) == FANIN_OK);
      to.add(value), to.add(told.bound_of_magnitudes), to.add(told.bound_absolute);
      CHECK(fanin_describe(&in, nullptr, &all, nullptr) == FANIN_OK);
      to.add(all.standard_deviation.f64);
      CHECK(fanin_state_create(FANIN_SUM, FANIN_F64, &state) == FANIN_OK);
      CHECK(fanin_state_accumulate(state, &in, nullptr, nullptr, nullptr) == FANIN_OK);
      CHECK(fanin_state_finish(state, FANIN_MEAN, FANIN_F32, &value) == FANIN_OK);
      to.add(value);
      fanin_state_destroy(state);
    });
  }
}

}  // namespace fanin::test
