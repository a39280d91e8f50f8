// SPDX-License-Identifier: Apache-2.0
#include "cli/quantile/statistic.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <fanin/accumulator/bounds.hpp>
#include <fanin/catalog.hpp>
#include <fanin/error.hpp>

#include "cli/batch/elements.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

std::uint64_t nans_in(const array_view& elements) {
  return with_element(elements.type, [&]<class T>() {
    const std::span all(static_cast<const T*>(elements.data), elements.count);
    return static_cast<std::uint64_t>(std::ranges::count_if(all, [](T x) { return x != x; }));
  });
}

/// A flag for each element: 0 if it is a NaN that is left out, else 1.
std::vector<std::uint8_t> flags_of(const array_view& elements, nan_policy nan) {
  std::vector<std::uint8_t> flags(elements.count, 1);
  if (nan != nan_policy::skip) return flags;
  with_element(elements.type, [&]<class T>() {
    const std::span all(static_cast<const T*>(elements.data), elements.count);
    std::ranges::transform(all, flags.begin(), [](T x) { return std::uint8_t{x == x}; });
  });
  return flags;
}

report report_of(const statistic& what, element_type result, std::uint64_t absent) {
  outcome done{.variant = what.is_count ? "count" : "selection",
               .method = method::exact,
               .reproducibility = reproducibility::exact,
               .bound = {},
               .absent = absent};
  if (what.share) {
    done.bound =
        result == element_type::f32 ? accumulator::rounded_bound<float>() : accumulator::rounded_bound<double>();
  }
  return {"serial", done};
}

}  // namespace

statistic statistic::count() {
  statistic what = operation::count_nonzero;
  what.name = "count";
  what.is_count = true;
  return what;
}

statistic statistic::median() {
  statistic what = quantile("0.5");
  what.name = "median";
  return what;
}

statistic statistic::quantile(const std::string& share) {
  statistic what = operation::mean;
  what.name = "quantile:" + share;
  what.share = parse_share(share);
  return what;
}

void statistic::check_own(element_type type, const options& chosen) const {
  if (!chosen.backend.empty() || !chosen.variant.empty() || !chosen.devices.empty() || chosen.result) {
    throw unsupported(
        fmt::format("{} takes no --backend, --variant, --devices or --result; leave these out, or compute it alone "
                    "with 'fanin {}'",
                    name, family()));
  }
  if (share && is_complex(type)) {
    throw unsupported(fmt::format("{} needs real numbers; these are {}", name, to_string(type)));
  }
}

statistic parse_statistic(const std::string& word) {
  if (word == "count") return statistic::count();
  if (word == "median") return statistic::median();
  constexpr std::string_view prefix = "quantile:";
  if (word.starts_with(prefix)) return statistic::quantile(word.substr(prefix.size()));
  if (word == "quantile") throw usage_error("quantile needs its number, as in quantile:0.9");
  for (const operation one : all_operations) {
    if (to_string(one) == word) return one;
  }
  std::vector<std::string_view> names = names_of(all_operations);
  names.insert(names.end(), {"count", "median", "quantile:0.9"});
  throw usage_error(fmt::format("unknown operation '{}'{}", printable(word), detail::suggestion(word, names)));
}

own_statistics::own_statistics(std::span<const statistic> all, nan_policy nan)
    : counts_(std::ranges::any_of(all, &statistic::is_count)),
      selects_(std::ranges::any_of(all, [](const statistic& one) { return one.share.has_value(); })),
      nan_(nan),
      selection_(nan) {}

bool own_statistics::push(const array_view& block) {
  type_ = block.type;
  if (counts_) {
    const std::uint64_t nans = nan_ == nan_policy::skip ? nans_in(block) : 0;
    count_ += block.count - nans;
    absent_ += nans;
  }
  return !selects_ || selection_.push(block);
}

result<scalar> own_statistics::operator()(const statistic& what) {
  if (what.is_count) return {count_, report_of(what, element_type::u64, absent_)};
  if (selection_.is_empty()) {
    throw invalid_argument(fmt::format("{} of {}", what.name,
                                       selection_.absent() > 0 ? "no elements: all are left out" : "an empty array"));
  }
  const scalar value = selection_.quantile(*what.share);
  return {value, report_of(what, value.type(), selection_.absent())};
}

report reduce(const statistic& what, const batch& many, value_list& values, const options& chosen) {
  if (!what.is_own()) return fanin::reduce(what.like, many, values.view(), chosen);
  const bool can_skip = chosen.nan == nan_policy::skip && !is_integer(many.inputs.type());
  if (what.is_count && many.kind == layout::rows && !can_skip) {
    // All rows have the same number of elements, and nothing is read.
    for (std::size_t k = 0; k < values.size(); ++k) values.set(k, many.inputs.count() / values.size());
    return report_of(what, values.type(), 0);
  }
  // The library checks the offsets or the keys, and counts.
  const std::vector<std::uint8_t> flags = flags_of(many.inputs[0], chosen.nan);
  batch flagged = many;
  flagged.inputs = array_view(std::span(flags));
  std::vector<std::uint64_t> counts(many.result_count);
  static_cast<void>(fanin::reduce(operation::count_nonzero, flagged, counts, {.backend = "serial"}));
  std::uint64_t absent = many.inputs.count();
  for (const std::uint64_t one : counts) absent -= one;
  if (what.is_count) {
    for (std::size_t k = 0; k < counts.size(); ++k) values.set(k, counts[k]);
  } else {
    batch_elements elements(many);
    for (std::size_t k = 0; k < counts.size(); ++k) {
      selection of_result(chosen.nan);
      of_result.push(elements.of(k));
      values.set(k, of_result.quantile(*what.share));
    }
  }
  return report_of(what, values.type(), absent);
}

}  // namespace fanin::cli
