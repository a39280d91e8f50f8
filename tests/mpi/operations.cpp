// SPDX-License-Identifier: Apache-2.0
// Every operation that merges gives the bits of one process, on data that sums go wrong on, however it is
// distributed.
#include <doctest/doctest.h>

#include <vector>

#include <fanin/mpi.hpp>

#include "tests/mpi/shares.hpp"

namespace {

using namespace fanin::test;
using fanin::element_type;
using fanin::input_views;
using fanin::operation;

bool is_offered_over_mpi(operation what, element_type type) {
  const bool finds_position = fanin::row_of(what).form == fanin::result_form::indexed;
  return has_lanes(what, type) || (finds_position && !fanin::is_complex(type));
}

/// Calls f(operation, inputs) for all of them, with `count` elements of every type and kind. Where ranks take
/// turns on few cores, each reduction takes milliseconds: then for some of them, others for each number of ranks.
template <class F>
void for_each_hard_input(std::size_t count, F f) {
  const auto ranks = static_cast<std::size_t>(fanin::mpi::detail::rank_count(MPI_COMM_WORLD));
  const std::size_t apart = ranks > 8 ? 211 : ranks > 2 ? 53 : 1;
  std::size_t turn = count + ranks;
  for (const element_type type : fanin::all_element_types) {
    fanin::with_element(type, [&]<class T>() {
      for (const auto& x : hard_inputs<T>(count, count + 5)) {
        const std::vector<T> y(x.rbegin(), x.rend());
        for (const operation what : fanin::all_operations) {
          if (!is_offered_over_mpi(what, type) || turn++ % apart != 0) continue;
          const fanin::array_view first(x.data(), x.size(), type), second(y.data(), y.size(), type);
          f(what, fanin::row_of(what).inputs == 2 ? input_views(first, second) : input_views(first));
        }
      }
      return 0;
    });
  }
}

std::string value_over_mpi(operation what, const input_views& inputs, distribution how,
                           const fanin::mpi::place& where, const fanin::options& chosen = {}) {
  const share own = share_of(inputs.count(), how, inputs.count());
  return value_or_error(what, inputs.type(), [&](const fanin::result_view& value) {
    fanin::mpi::reduce(what, inputs.part(own.first, own.last - own.first), value, where, chosen);
  });
}

template <class X>
concept has_product = requires(const X& x) {
  fanin::mpi::product(x, MPI_COMM_WORLD);
};
template <class X>
concept has_argmin = requires(const X& x) {
  fanin::mpi::argmin(x, MPI_COMM_WORLD);
};
template <class X>
concept starts_argmin = requires(const X& x) {
  fanin::mpi::start_argmin(x, MPI_COMM_WORLD);
};
template <class X>
concept starts_sum = requires(const X& x) {
  fanin::mpi::start_sum(x, MPI_COMM_WORLD);
};
using numbers = std::vector<double>;
static_assert(!has_product<numbers> && has_argmin<numbers> && !starts_argmin<numbers> && starts_sum<numbers>,
              "the verbs over MPI are those of operations that merge, and positions are waited for");

}  // namespace

TEST_SUITE_BEGIN("mpi/operations");

TEST_CASE("the bits, or the error, of one process") {
  std::size_t turn = 0;
  for (const std::size_t count : {0, 1, 3, 40}) {
    for_each_hard_input(count, [&](operation what, const input_views& inputs) {
      const distribution how = distributions[turn++ % std::size(distributions)];
      INFO(fanin::to_string(what), " of ", count, " ", fanin::to_string(inputs.type()));
      CHECK((value_over_mpi(what, inputs, how, MPI_COMM_WORLD) == value_or_error(what, inputs)));
    });
  }
}

TEST_CASE("a root alone gets the value") {
  const int root = fanin::mpi::detail::rank_count(MPI_COMM_WORLD) - 1;
  const bool is_root = fanin::mpi::detail::rank_in(MPI_COMM_WORLD) == root;
  for_each_hard_input(9, [&](operation what, const input_views& inputs) {
    const std::string value = value_over_mpi(what, inputs, distribution::even, {MPI_COMM_WORLD, root});
    INFO(fanin::to_string(what), " of ", fanin::to_string(inputs.type()));
    if (is_root) CHECK((value == value_or_error(what, inputs)));
    if (!is_root) CHECK((value == std::string(value.size(), '\0')));
  });
}

TEST_CASE("elements that are NaN or masked do not take part") {
  const fanin::options skip{.nan = fanin::nan_policy::skip};
  std::vector<unsigned char> mask(33);
  generator random(3);
  for (auto& one : mask) one = random() % 3 == 0;
  for_each_hard_input(mask.size(), [&](operation what, const input_views& inputs) {
    const input_views some = inputs.where({mask.data(), 0, fanin::mask_form::bytes});
    INFO(fanin::to_string(what), " of ", fanin::to_string(inputs.type()));
    CHECK(
        (value_over_mpi(what, some, distribution::random, MPI_COMM_WORLD, skip) == value_or_error(what, some, skip)));
  });
}

TEST_CASE("long inputs, each rank with threads of its own") {
  adversary<double> make(7);
  const auto x = make.make(make.kinds()[0], 300000);
  for (const operation what : {operation::sum, operation::variance, operation::argmax}) {
    const input_views inputs{std::span<const double>(x)};
    const std::string value = value_over_mpi(what, inputs, distribution::random, MPI_COMM_WORLD, {.threads = 2});
    CHECK((value == value_or_error(what, inputs)));
  }
}

TEST_CASE("verbs, started reductions that are waited for in any order, and other types of results") {
  const std::vector<float> x{1e30f, 1, -1e30f, 3, 0.1f, -0.0f}, y{1, 2, 3, 4, 5, 6};
  const share own = share_of(x.size(), distribution::even, 0);
  const std::span<const float> some = std::span(x).subspan(own.first, own.last - own.first);
  const std::span<const float> others = std::span(y).subspan(own.first, own.last - own.first);
  const fanin::options exact{.method = fanin::method::exact};
  auto sum = fanin::mpi::start_sum<double>(some, MPI_COMM_WORLD);
  auto dot = fanin::mpi::start_dot(some, others, MPI_COMM_WORLD);
  auto any = fanin::mpi::start_any(some, {MPI_COMM_WORLD, 0});
  CHECK(dot.wait().value == fanin::dot(x, y, exact).value);
  while (!sum.test()) {
  }
  CHECK(sum.wait().value == fanin::sum<double>(x, exact).value);
  CHECK(any.wait().value == (fanin::mpi::detail::rank_in(MPI_COMM_WORLD) == 0));
  { auto left_alone = fanin::mpi::start_max(some, MPI_COMM_WORLD); }
  CHECK(fanin::mpi::argmin(some, MPI_COMM_WORLD).value == fanin::argmin(x).value);
  const std::vector<char> all_of_them(some.size(), 1);
  CHECK(fanin::mpi::mean(fanin::where(some, all_of_them), MPI_COMM_WORLD).value == fanin::mean(x, exact).value);
  CHECK(fanin::mpi::sum(some, MPI_COMM_WORLD).report.reproducibility == fanin::reproducibility::exact);
}

TEST_CASE("many fields in one reduction") {
  adversary<double> make(11);
  std::vector<std::vector<double>> fields;
  for (std::size_t i = 0; i < 32; ++i) fields.push_back(make.make(make.kinds()[i % make.kinds().size()], 3 * i));
  for (const operation what : {operation::sum, operation::norm2, operation::max_magnitude}) {
    std::vector<input_views> own;
    for (const auto& field : fields) {
      const share mine = share_of(field.size(), distribution::random, field.size());
      own.emplace_back(std::span<const double>(field).subspan(mine.first, mine.last - mine.first));
    }
    std::vector<double> values(fields.size());
    fanin::mpi::reduce_each(what, own, values, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      double expected;
      fanin::reduce(what, std::span<const double>(fields[i]), expected, {.method = fanin::method::exact});
      CHECK(std::bit_cast<std::uint64_t>(values[i]) == std::bit_cast<std::uint64_t>(expected));
    }
  }
}

TEST_SUITE_END();
