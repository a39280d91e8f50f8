// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/reduce_batch.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/batch/elements.hpp"
#include "cli/batch/layouts.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/element_forms.hpp"

namespace fanin::cli {

void warn_of_rounding(std::span<const finished_batch> all) {
  std::vector<finished_reduction> reductions;
  for (const finished_batch& one : all) reductions.push_back(one.done);
  warn_of_rounding(reductions);
}

std::vector<std::string> finished_batch::fields(std::size_t i) const {
  if (row_of(done.what.like).form == result_form::extremes) {
    if (!has(i)) return {2, std::string(absent[i])};
    return fanin::visit(
        []<class R>(const R& x) -> std::vector<std::string> {
          if constexpr (result_traits<R>::form == result_form::extremes)
            return {value_text(scalar(x.min)), value_text(scalar(x.max))};
          return {};
        },
        values[i]);
  }
  const bool is_indexed = has_index(done.what);
  std::vector<std::string> all = {has(i) ? value_of(done.what.like, values[i]) : std::string(absent[i])};
  if (!is_indexed) return all;
  all.push_back(has(i) ? value_text(values[i]) : all[0]);
  if (!found) return all;
  const std::optional<place_in_text>& at = (*found)[i];
  all.push_back(at ? std::to_string(at->line) : "");
  if (done.inputs.size() > 1) all.push_back(at ? at->input : "");
  return all;
}

json finished_batch::members() const {
  json all = values.members();
  for (std::size_t i = 0; i < absent.size(); ++i) {
    if (has(i)) continue;
    all["values"][i] = nullptr;
    all["values_text"][i] = absent[i];
  }
  return all;
}

std::vector<std::string> finished_batch::field_names(const std::string& name) const {
  if (row_of(done.what.like).form == result_form::extremes) return {name + "_min", name + "_max"};
  std::vector<std::string> all = {name};
  if (!has_index(done.what)) return all;
  all.push_back(name + "_element");
  if (found) all.push_back(name + "_line");
  if (found && done.inputs.size() > 1) all.push_back(name + "_file");
  return all;
}

namespace {

/// Calls run(converted, all), which sets the values, with elements of a type that the operation has.
template <class Run>
finished_batch reduce_supported(finished_reduction begun, const batch& many, const options& chosen, Run run) {
  const bool infers_types = begun.inputs.front().infers_types;
  const statistic what = begun.what;
  // A fault of the options is no fault of the input.
  const auto check = [&](element_type type) {
    if (what.is_own()) return what.check_own(type, chosen);
    check_inferred(what.like, type, infers_types);
    batch none = without_results(many);
    if (none.inputs.type() != type) none.inputs = array_view(many.inputs[0].data, 0, type);
    reduce(what.like, none, value_list(what.like, what.result_type(type, chosen), 0).view(), chosen);
  };
  const element_type type = supported_type(many.inputs.type(), infers_types, check);
  const element_type result = what.result_type(type, chosen);
  element_forms forms(many.inputs[0]);
  batch converted = many;
  if (infers_types) converted.inputs = forms.as(type);
  begun.type = type;
  if (is_integer(type)) begun.rounded = {};
  const progress line(fmt::format("{} of {}", what.name, begun.input()));
  const auto start = std::chrono::steady_clock::now();
  finished_batch all{std::move(begun), value_list(what.like, result, many.result_count)};
  all.done.count = many.inputs.count();
  all.done.reached.report = run(converted, all);
  all.done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return all;
}

/// The value of a group that was reduced alone, with the index that its element has among `places`.
scalar with_place(const scalar& value, const std::vector<std::size_t>& places) {
  return fanin::visit(
      [&]<class R>(R one) -> scalar {
        if constexpr (result_traits<R>::form == result_form::indexed) one.index = places[one.index];
        return one;
      },
      value);
}

report reduce_one_by_one(const batch& many, const options& chosen, finished_batch& all) {
  const operation what = all.done.what.like;
  batch_elements by_group(many);
  value_list one(what, all.values.type(), 1);
  all.absent.resize(by_group.size());
  report last = reduce(what, without_results(many), value_list(what, one.type(), 0).view(), chosen);
  std::uint64_t absent = 0;
  for (std::size_t k = 0; k < by_group.size(); ++k) {
    const array_view elements = by_group.of(k);
    const std::vector<std::uint64_t> keys(elements.count);
    try {
      last = reduce(what, groups(elements, array_view(std::span(keys)), 1), one.view(), chosen);
      absent += last.absent;
      all.values.set(k, with_place(one[0], by_group.places()));
    } catch (const overflow& problem) {
      if (!row_of(what).of_integers) throw bad_data(fmt::format("{}: {}", all.done.place(), problem.what()));
      all.absent[k] = too_large;
    } catch (const invalid_argument&) {
      all.absent[k] = no_number;
    }
  }
  last.absent = absent;
  return last;
}

/// The results of an operation of the library, which were found in one read with those of others.
struct shared_results {
  value_list values;
  report how;
  double seconds;
};

/// The results of the operations of the library, each at its own place. Nothing if only one statistic is asked for,
/// or if the operations cannot be reduced together.
std::vector<std::optional<shared_results>> reduce_together(std::span<const finished_reduction> begun,
                                                           const batch& many, const options& chosen) {
  std::vector<std::optional<shared_results>> all(begun.size()), none = all;
  std::vector<operation> whats;
  std::vector<results_view> out;
  const auto start = std::chrono::steady_clock::now();
  try {
    for (std::size_t i = 0; i < begun.size(); ++i) {
      const statistic& what = begun[i].what;
      if (what.is_own()) continue;
      const element_type result = what.result_type(many.inputs.type(), chosen);
      all[i].emplace(shared_results{value_list(what.like, result, many.result_count), {}, 0});
      whats.push_back(what.like);
      out.push_back(all[i]->values.view());
    }
    if (begun.size() < 2 || whats.empty() || begun[0].inputs.front().infers_types) return none;
    std::vector<report> reports = reduce_each(whats, many, out, chosen);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::size_t k = 0;
    for (auto& one : all) {
      if (!one) continue;
      one->how = std::move(reports[k++]);
      one->seconds = seconds;
    }
    return all;
  } catch (const error&) {
    return none;  // The operation that fails is reduced alone, and says why.
  }
}

}  // namespace

std::vector<finished_batch> reduce_batch(std::vector<finished_reduction> begun, const batch& many,
                                         const options& chosen, const std::string& place) {
  std::vector<std::optional<shared_results>> shared = reduce_together(begun, many, chosen);
  // An operation that has left out no element has met no NaN, and a count need not look for them again.
  options of_count = chosen;
  if (std::ranges::any_of(shared, [](const auto& one) { return one && one->how.absent == 0; })) of_count.nan = {};
  std::vector<finished_batch> finished;
  for (std::size_t i = 0; i < begun.size(); ++i) {
    const auto run = [&](const batch& converted, finished_batch& all) {
      if (shared[i]) {
        all.values = std::move(shared[i]->values);
        return std::move(shared[i]->how);
      }
      return with_input_name(place, [&] {
        try {
          const statistic& what = all.done.what;
          return reduce(what, converted, all.values, what.is_count ? of_count : chosen);
        } catch (const overflow&) {
          return reduce_one_by_one(converted, chosen, all);
        }
      });
    };
    finished.push_back(reduce_supported(std::move(begun[i]), many, chosen, run));
    if (shared[i]) finished.back().done.seconds = shared[i]->seconds;
  }
  return finished;
}

finished_batch reduce_groups(finished_reduction begun, const batch& many, const options& chosen) {
  const auto run = [&](const batch& converted, finished_batch& all) {
    try {
      return reduce(all.done.what, converted, all.values, chosen);
    } catch (const overflow&) {
    } catch (const invalid_argument&) {
    }
    return reduce_one_by_one(converted, chosen, all);
  };
  return reduce_supported(std::move(begun), many, chosen, run);
}

}  // namespace fanin::cli
