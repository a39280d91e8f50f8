// SPDX-License-Identifier: Apache-2.0
// Any elements of any type: every operation, by every CPU backend, variant and instruction set, gives what MPFR
// gives, correctly rounded or within the reported bound, and the same bits wherever the report promises them: from
// one backend, instruction set and thread count to another, in blocks, and from parts that were saved, loaded and
// merged. Ranks that send lanes, and segments, give the same in any floating-point environment.
#include <algorithm>
#include <cinttypes>
#include <map>
#include <utility>
#include <vector>

#include <fanin/accumulator/exact.hpp>
#include <fanin/fanin.hpp>

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/mpfr_truth.hpp"
#include "tests/fuzz/patterns.hpp"
#include "tests/support/call.hpp"
#include "tests/support/compared.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/float_environment.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/rank_messages.hpp"
#include "tests/support/targets.hpp"

using namespace fanin;
using namespace fanin::fuzz;

namespace {

/// The number of values that were judged; the end of the process prints it.
struct case_counter {
  std::uint64_t cases = 0;
  ~case_counter() { std::fprintf(stderr, "stat::cases_compared: %" PRIu64 "\n", cases); }
} counter;

template <class T>
bool is_right(operation what, const repeated<T>& x, const test::reduction& answer, const scalar& value) {
  if (what == operation::count_nonzero) {
    std::uint64_t nonzeros = 0;
    for (std::size_t i = 0; i < x.pattern.size(); ++i) nonzeros += x.pattern[i] == T{0} ? 0 : x.times(i);
    return test::same(value, nonzeros);
  }
  if (test::only_compares(what)) return test::same(value, test::comparison<T>(x.pattern).result(what));
  if constexpr (narrow_float<T>) {
    const std::vector<float> floats(x.pattern.begin(), x.pattern.end());
    return is_right<float>(what, {floats, x.count}, answer, value);
  } else if constexpr (std::is_integral_v<T>) {
    const auto right = right_integer(what, x);
    return right && test::same(value, *right);
  } else {
    if (what == operation::log_sum_exp) return keeps_log_sum(x, std::get<T>(value), answer.bound);
    if (what == operation::product) return keeps_product(x, std::get<T>(value), answer.bound);
    if (answer.how != method::exact) return keeps_bound(what, x, std::get<T>(value), answer.bound);
    return std::visit(
        [&]<class R>(R got) {
          if constexpr (std::is_floating_point_v<R>) return test::same(got, right_float<R>(what, x));
          return false;
        },
        value);
  }
}

/// The elements of one input in memory, y one element behind x.
template <class T>
struct input {
  repeated<T> x;
  std::vector<T> memory;

  input(std::span<const T> pattern, std::size_t count) : x{pattern.first(std::min(pattern.size(), count)), count} {
    memory.resize(count + 1);
    for (std::size_t i = 0; i <= count; ++i) memory[i] = x.pattern[i % x.pattern.size()];
  }
  input_views of(operation what) const {
    const std::span<const T> all(memory);
    const array_view first(all.first(x.count)), second(all.subspan(1));
    return row_of(what).inputs == 2 ? input_views(first, second) : input_views(first);
  }
};

/// The values that are to have the same bits, by variant and result type, and the values already judged.
using known_values = std::map<std::pair<std::string_view, element_type>, std::vector<scalar>>;

template <class T>
void judge(operation what, const input<T>& all, const test::reduction& answer, element_type result,
           known_values& known) {
  ++counter.cases;
  auto& values = known[{answer.variant, result}];
  const auto same = [&](const scalar& one) { return test::same(one, answer.value); };
  if (std::ranges::any_of(values, same)) return;
  const bool reproducible =
      answer.reproducibility == reproducibility::exact || answer.reproducibility == reproducibility::fixed_order;
  expect(!reproducible || values.empty(),
         "the bits are those of the other backends, instruction sets, threads and blocks");
  expect(is_right(what, all.x, answer, answer.value), "the value is what MPFR promises or gives");
  values.push_back(answer.value);
}

/// The reduction as a whole, and in two blocks where the variant has streams. Integers may overflow.
template <class T>
void run(const backend& b, const request& prepared, const input<T>& all, std::size_t cut, known_values& known) {
  const operation what = prepared.what;
  try {
    judge(what, all, test::reduced(b, prepared), prepared.result, known);
  } catch (const overflow&) {
    ++counter.cases;
    if constexpr (std::is_integral_v<T>) expect(!right_integer(what, all.x), "only what does not fit overflows");
    expect(std::is_integral_v<T>, "floats do not overflow");
    return;
  }
  const auto stream = [&]() -> std::unique_ptr<fanin::stream> {
    try {
      return b.open(prepared);
    } catch (const unsupported&) {
      return nullptr;
    }
  }();
  if (!stream) return;
  stream->push(prepared.inputs.part(0, cut));
  stream->push(prepared.inputs.part(cut, all.x.count - cut));
  const auto in_blocks = with_result_type(what, prepared.result, [&]<class R>() {
    R value{};
    const outcome answer = stream->finish(&value);
    return test::reduction{answer, value};
  });
  judge(what, all, in_blocks, prepared.result, known);
}

/// Parts that were saved, loaded and merged in the other order have the same state as one addition after the other.
template <std::floating_point T>
void expect_merged_states(const input<T>& all, std::size_t cut) {
  const std::span<const T> x(all.memory.data(), all.x.count);
  exact_accumulator<T> backwards, parts[2];
  for (std::size_t i = x.size(); i-- > 0;) backwards.add(x[i]);
  parts[0].add(x.first(cut));
  parts[1].add(x.subspan(cut));
  auto merged = exact_accumulator<T>::load(parts[1].save());
  merged.merge(exact_accumulator<T>::load(parts[0].save()));
  expect(merged.save() == backwards.save(), "merged states are the state of all elements");
  expect(test::same(merged.round(), right_float<T>(operation::sum, all.x)), "a state is rounded as MPFR rounds");
}

template <class T>
void compare(operation what, const input<T>& all, std::size_t cut, unsigned threads) {
  if (all.x.count < least_count(what)) return;
  known_values known;
  for (const backend* b : test::cpu_backends()) {
    for (const variant_info& v : b->variants()) {
      for (const element_type result : {default_result(what, type_of<T>), element_type::f64}) {
        request wanted{what, all.of(what), v.how, result, v.name, threads};
        if (!b->prepare(wanted).usable()) continue;
        for (const auto target : hwy::SupportedAndGeneratedTargets()) {
          const test::only_target here(target);
          run(*b, wanted, all, cut, known);
        }
        if (result == element_type::f64) break;
      }
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (what == operation::sum && all.x.count < 10'000) expect_merged_states(all, cut);
  }
}

/// Ranks that share the elements get the value of one process, or its error, by every transport.
void compare_ranks(operation what, const input_views& all, std::size_t number,
                   const test::caller_environment& caller) {
  if (!test::has_lanes(what, all.type())) return;
  std::vector<input_views> ranks;
  for (std::size_t i = 0; i < number; ++i) {
    const std::size_t first = all.count() * i / number;
    ranks.push_back(all.part(first, all.count() * (i + 1) / number - first));
  }
  const std::string expected = test::value_or_error(what, all);
  const test::unusual_environment here(caller.rounding, caller.how);
  for (const test::transport how : test::transports) {
    if (!test::is_served(what, all.type(), how)) continue;
    ++counter.cases;
    expect(test::value_of_ranks(what, ranks, how) == expected, "ranks get the value of one process");
  }
}

/// Two segments have the values and the bound that MPFR gives. Integers may overflow.
template <class T>
void compare_segments(operation what, const input<T>& all, std::size_t cut, const test::caller_environment& caller) {
  const std::size_t count = all.x.count, least = std::max<std::size_t>(1, least_count(what));
  if (row_of(what).inputs == 2 || cut < least || count - cut < least) return;
  const std::span<const T> x(all.memory.data(), count), parts[] = {x.first(cut), x.subspan(cut)};
  const std::uint64_t offsets[] = {0, cut, count};
  with_result_type(what, default_result(what, type_of<T>), [&]<class R>() {
    for (const method how : all_methods) {
      if (!is_offered(what, type_of<T>, how)) continue;
      R values[2]{};
      report done;
      try {
        const test::unusual_environment here(caller.rounding, caller.how);
        done = reduce(what, segments(x, std::span<const std::uint64_t>(offsets)), values, {.how = how});
      } catch (const overflow&) {
        continue;
      }
      for (std::size_t i = 0; i < 2; ++i) {
        ++counter.cases;
        const test::reduction answer{{done.variant, done.how, done.reproducibility, done.bound}, values[i]};
        expect(is_right(what, repeated<T>{parts[i], parts[i].size()}, answer, values[i]),
               "segments have the value that MPFR promises or gives");
      }
    }
  });
}

}  // namespace

/// Bytes that choose the operation, the type, the kind of elements and the length, one for the place of a cut and the
/// threads, then the pattern.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t enough_for_threads = std::size_t{2} << 20, enough_for_tiles = 80'000;
  input_bytes in(data, size);
  const operation what = all_operations[in.choice(all_operations.size())];
  const element_type type = all_element_types[in.choice(all_element_types.size())];
  const std::uint8_t kind = in.byte(), length = in.byte(), cut = in.byte();
  with_element(type, [&]<class T>() {
    if constexpr (!complex_number<T>) {  // whose parts are real numbers
      const raw_bytes described = in.bytes().first(std::min<std::size_t>(in.bytes().size(), 512));
      const std::vector<T> pattern = test::as_elements<T>(elements_of<computed_as<T>>(kind, described));
      if (pattern.empty()) return;
      const std::size_t least = kind == 251 ? enough_for_threads : kind >= 252 && kind < 254 ? enough_for_tiles : 0;
      const std::size_t count = pattern.size() + least / sizeof(T) + (kind % 8 < 4 ? length : 0);
      const input<T> all(pattern, count);
      compare(what, all, count * cut / 255, 1 + cut % 16);
      if (count == 0 || count >= 10'000) return;
      const auto& caller = test::caller_environments[length % std::size(test::caller_environments)];
      compare_ranks(what, all.of(what), 1 + cut % 7, caller);
      compare_segments(what, all, count * cut / 255, caller);
    }
  });
  return 0;
}
