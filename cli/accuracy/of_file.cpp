// SPDX-License-Identifier: Apache-2.0
#include "cli/accuracy/of_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <fanin/fanin.hpp>

#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/table.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/element_forms.hpp"
#include "oracle/exact_sum.hpp"

namespace fanin::cli {

namespace {

/// An algorithm of a sum: a variant of the backend serial, whose bits the other CPU backends share, or a method.
struct sum_algorithm {
  std::string_view name, variant;
  std::optional<fanin::method> method;
};
constexpr std::array algorithms = {sum_algorithm{"plain loop", "naive", {}}, sum_algorithm{"fast", "", method::fast},
                                   sum_algorithm{"compensated", "", method::compensated},
                                   sum_algorithm{"exact", "", method::exact}};

struct judged_sum {
  scalar value;
  double relative_error;
};

/// The numbers of a file as elements of one type.
struct numbers_as {
  element_type type;
  std::uint64_t changed = 0, infinite = 0, vanished = 0;
  std::vector<judged_sum> sums;  ///< one for each algorithm
};

/// How many decimal digits of the exact sum a relative error leaves.
std::string digits(double relative_error) {
  if (relative_error == 0) return "all";
  constexpr double most = std::numeric_limits<double>::max_digits10;
  return std::to_string(static_cast<int>(std::clamp(-std::log10(relative_error), 0.0, most)));
}

std::string error_text(double relative_error) {
  return relative_error == 0 ? "0" : fmt::format("{:.1e}", relative_error);
}

template <class To>
numbers_as sums_as(const array_view& elements, const oracle::exact_sum& exact) {
  numbers_as found{.type = type_of<To>, .sums = {}};
  std::vector<To> numbers(elements.count);
  with_element(elements.type, [&]<class T>() {
    if constexpr (!complex_number<T>) {
      const auto* const from = static_cast<const T*>(elements.data);
      for (std::size_t i = 0; i < elements.count; ++i) {
        const auto x = static_cast<computed_as<T>>(from[i]);
        numbers[i] = static_cast<To>(x);
        // Every integer and every float is a long double.
        if (static_cast<long double>(numbers[i]) == static_cast<long double>(x)) continue;
        ++found.changed;
        if (std::isinf(numbers[i])) ++found.infinite;
        if (numbers[i] == 0) ++found.vanished;
      }
    }
  });
  const double sum = std::fabs(oracle::as_double(exact.rounded(element_type::f64)));
  for (const sum_algorithm& algorithm : algorithms) {
    const scalar value = reduce(operation::sum, std::span<const To>(numbers),
                                {.backend = "serial", .variant = algorithm.variant, .method = algorithm.method})
                             .value;
    const double error = exact.distance(value);
    found.sums.push_back({value, error == 0 ? 0 : error / sum});
  }
  return found;
}

std::string verdict_on(const numbers_as& single) {
  const std::string in_loop = digits(single.sums.front().relative_error);
  const std::string exactly = digits(single.sums.back().relative_error);
  if (exactly == "0") return "float will not do: no digit of the sum is left";
  std::string text = fmt::format("float will do for {} digit{} of the sum with ", exactly, exactly == "1" ? "" : "s");
  return text +
         (in_loop == exactly ? "every method" : fmt::format("--method exact, and for {} in a plain loop", in_loop));
}

std::string as_text(const std::string& name, const array_view& elements, const oracle::exact_sum& exact,
                    const numbers_as& single, const numbers_as& wide) {
  std::vector<table_row> rows = {{"method", "f32", "error", "digits", "f64", "error", "digits"}};
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    rows.push_back({std::string(algorithms[i].name)});
    for (const numbers_as* one : {&single, &wide}) {
      const auto& [value, error] = one->sums[i];
      rows.back().insert(rows.back().end(), {value_text(value), error_text(error), digits(error)});
    }
  }
  return fmt::format(
      "{}: {} of {}, sum {}, condition {:.2g}\n"
      "as f32: {} of them change, {} become infinite, and {} become 0\n\n{}\n{}\n",
      name, counted(elements.count, "element"), to_string(elements.type),
      value_text(exact.rounded(element_type::f64)), exact.condition(), single.changed, single.infinite,
      single.vanished, align(rows, 1), verdict_on(single));
}

json sums_json(const numbers_as& one) {
  json sums = json::array();
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    const auto& [value, error] = one.sums[i];
    sums.push_back({{"method", algorithms[i].name},
                    {"value_text", value_text(value)},
                    {"value_hex", value_hex(value)},
                    {"relative_error", json_number(error)}});
  }
  return {{"changed", one.changed}, {"infinite", one.infinite}, {"vanished", one.vanished}, {"sums", sums}};
}

}  // namespace

std::string accuracy_of_file(const input_options& arguments, bool as_json) {
  source input(arguments);
  input.require_one_column("accuracy");
  const array_view elements = input.load();
  input.finish();
  if (is_complex(elements.type)) {
    throw usage_error(
        fmt::format("{}: accuracy is for real numbers; these are {}", input.name(), to_string(elements.type)));
  }
  const progress line("accuracy of " + input.name());
  const oracle::exact_sum exact(elements, default_threads());
  const scalar sum = exact.rounded(element_type::f64);
  if (!std::isfinite(oracle::as_double(sum))) {
    throw bad_data(fmt::format("{}: the sum is {}, so no digits can be counted", input.name(), value_text(sum)));
  }
  warn_of_rounding(input.name(), input.columns()[0].rounded_as(elements.type), elements.type);
  const numbers_as single = sums_as<float>(elements, exact), wide = sums_as<double>(elements, exact);
  if (!as_json) return as_text(input.name(), elements, exact, single, wide);
  return printed(described({{"input", input.name()},
                            {"element_type", to_string(elements.type)},
                            {"count", elements.count},
                            {"condition", json_number(exact.condition())},
                            {"exact", {{"value_text", value_text(sum)}, {"value_hex", value_hex(sum)}}},
                            {"f32", sums_json(single)},
                            {"f64", sums_json(wide)}}));
}

}  // namespace fanin::cli
