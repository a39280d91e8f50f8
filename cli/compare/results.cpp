// SPDX-License-Identifier: Apache-2.0
// Each result of a batch is judged by the exact sum of its elements, and compared with their sum alone.
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <fanin/fanin.hpp>

#include "cli/batch/elements.hpp"
#include "cli/batch/layouts.hpp"
#include "cli/batch/shape.hpp"
#include "cli/batch/value_list.hpp"
#include "cli/compare/compare.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/commit.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/element_forms.hpp"
#include "measure/device_copy.hpp"
#include "oracle/exact_sum.hpp"

namespace fanin::cli {

namespace {

/// Whether two sums of one type have the same bits.
bool same_bits(const scalar& a, const scalar& b) {
  return fanin::visit([&]<class R>(const R& x) { return std::memcmp(&x, b.data(), sizeof x) == 0; }, a);
}

/// Whether the elements of a row are no neighbours in memory.
bool lie_apart(const batch& many) {
  if (many.kind != layout::rows || many.reduced == 0) return false;
  return many.axes[many.kept + many.reduced - 1].stride[0] != 1;
}

/// Forms sums of the batch, in host memory or of its copy on a device, and keeps the results.
class batch_call {
 public:
  explicit batch_call(const batch& many)
      : many_(many), type_(default_result(operation::sum, many.inputs.type())), sums_(new_list()) {}

  report operator()(const array_view& values, const options& chosen) {
    batch here = many_;
    here.inputs = values;
    if (values.place == memory::device && many_.index.count > 0) {
      if (!index_) index_ = require_gpu().make_device_copy(many_.index);
      here.index = index_->first();
    }
    return reduce(operation::sum, here, sums_.view(), chosen);
  }
  /// The results of the last call.
  value_list take() { return std::exchange(sums_, new_list()); }

 private:
  value_list new_list() const { return {operation::sum, type_, many_.result_count}; }

  batch many_;
  element_type type_;
  value_list sums_;
  std::unique_ptr<measure::device_copy> index_;
};

/// Takes note of a result's sum, and of the sum of its elements alone, if that is known.
void judge(judged_results& to, std::size_t result, const oracle::exact_sum& exact, const scalar& sum,
           oracle::promise bound, const std::optional<scalar>& alone) {
  const double error = exact.error_ulps(sum);
  if (error > to.error_ulps) {
    to.error_ulps = error;
    to.worst = result;
  }
  using oracle::promise;
  if (bound == promise::broken || (bound == promise::none && to.bound == promise::kept)) to.bound = bound;
  if (!alone) {
    to.alike_alone.reset();
  } else if (same_bits(sum, *alone)) {
    ++*to.alike_alone;
  }
}

/// The sum of the elements alone by the same variant, of a group as the only group; none on a device, where it would
/// have to copy them.
std::optional<scalar> alone(const array_view& elements, layout kind, const timed_variant& by, unsigned threads) {
  if (by.place == memory::device) return std::nullopt;
  const options chosen{
      .backend = by.how.backend, .variant = by.how.variant, .method = by.how.method, .threads = threads};
  if (kind != layout::groups) return reduce(operation::sum, elements, chosen).value;
  const std::vector<std::uint32_t> keys(elements.count);
  const element_type number = default_result(operation::sum, elements.type);
  return with_result_type(operation::sum, number, [&]<class R>() -> scalar {
    R sum{};
    reduce(operation::sum, groups(elements, array_view(std::span(keys)), 1), results_view(&sum, 1, number), chosen);
    return sum;
  });
}

void judge_all(results_comparison& all, const batch& many, const std::vector<value_list>& sums, unsigned threads) {
  const bool apart = lie_apart(many);
  if (is_floating(many.inputs.type())) {
    for (const adding_order order : all_adding_orders) {
      if (order != adding_order::numpy || many.kind == layout::rows) all.loops.push_back({order, {}});
    }
  }
  all.rows.resize(sums.size());
  batch_elements by_result(many);
  for (std::size_t k = 0; k < by_result.size(); ++k) {
    const array_view elements = by_result.of(k);
    const oracle::exact_sum exact(elements, 1);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const timed_variant& by = all.times.rows[i];
      const scalar sum = sums[i][k];
      judge(all.rows[i], k, exact, sum, exact.judge(sum, by.how), alone(elements, many.kind, by, threads));
    }
    for (loop_row& loop : all.loops) {
      const auto sum_of_call = [&](bool lies_apart, std::uint64_t call) {
        return sum_in_order(loop.order, elements, lies_apart, call);
      };
      judge(loop.results, k, exact, sum_of_call(apart, 2 * k), oracle::promise::none, sum_of_call(false, 2 * k + 1));
    }
  }
}

std::string alone_text(const judged_results& one, std::size_t results) {
  if (!one.alike_alone) return "-";
  return *one.alike_alone == results ? "all" : fmt::format("{} of {}", *one.alike_alone, results);
}

json judged_json(const judged_results& one) {
  return {{"error_ulps", json_number(one.error_ulps)},
          {"worst_result", one.worst},
          {"alike_alone", one.alike_alone ? json(*one.alike_alone) : json(nullptr)}};
}

}  // namespace

results_comparison compare_results(source& input, const batch_options& asked, const variant_choice& variants) {
  const std::unique_ptr<source> index = open_index(asked);
  source* const read[] = {&input};
  const shaped_batch found = load_batch(read, index.get(), asked);
  results_comparison all{.input = input.name(),
                         .kind = found.many.kind,
                         .shape = found.shape,
                         .results = found.many.result_count,
                         .times = {},
                         .rows = {},
                         .loops = {}};
  const std::string place = input.name() + (index == nullptr ? "" : " by " + index->name());
  progress line("sums of " + place);
  std::vector<value_list> sums;
  batch_call call(found.many);
  with_input_name(place, [&] {
    all.times = time_variants(variants, found.many.inputs[0], found.many.kind, line, std::ref(call),
                              [&](const timed_variant&) { sums.push_back(call.take()); });
    line.set_task("exact sums of " + place);
    judge_all(all, found.many, sums, variants.threads);
    return 0;
  });
  input.finish();
  const element_type type = found.many.inputs.type();
  warn_of_rounding(input.name(), input.columns()[0].rounded_as(type), type);
  if (index) index->finish();
  return all;
}

std::string as_json(const results_comparison& all) {
  json rows = json::array(), loops = json::array();
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    json members = first_members(all.times.rows[i]);
    members.update(judged_json(all.rows[i]));
    members["bound_ok"] = kept_json(all.rows[i].bound);
    members.update(last_members(all.times, all.times.rows[i]));
    rows.push_back(members);
  }
  for (const loop_row& loop : all.loops) {
    json members = {{"order", to_string(loop.order)}};
    members.update(judged_json(loop.results));
    loops.push_back(members);
  }
  json whole = described({{"machine", all.times.machine},
                          {"date", date_now()},
                          {"commit", source_commit},
                          {"input", all.input},
                          {"element_type", to_string(all.times.values.type)},
                          {"count", all.times.values.count},
                          {"layout", to_string(all.kind)},
                          {"results", all.results},
                          {"shape", all.shape}});
  whole.update(members_of(all.times));
  whole.update({{"rows", rows}, {"loops", loops}, {"not_usable", not_usable_json(all.times)}});
  return printed(whole);
}

std::string as_text(const results_comparison& all) {
  std::vector<table_row> rows = {first_headings()};
  const auto append = [&rows](const table_row& cells) {
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
  };
  const auto judged_cells = [&](const judged_results& one) {
    return table_row{fmt::format("{:.4g}", one.error_ulps), one.error_ulps > 0 ? std::to_string(one.worst) : "-",
                     alone_text(one, all.results)};
  };
  append({"bound", "error/ulp", "at", "alone"});
  append(last_headings(all.times));
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    rows.push_back(first_cells(all.times.rows[i]));
    append({bound_text(all.rows[i].bound)});
    append(judged_cells(all.rows[i]));
    append(last_cells(all.times, all.times.rows[i]));
  }
  for (const loop_row& loop : all.loops) {
    rows.push_back({"loop", std::string(to_string(loop.order)), "-", "host", "-", "-"});
    append(judged_cells(loop.results));
    append({"-", "-", "-"});
  }
  return fmt::format("{}: {} of {}; {} {}, in the shape {}\n\n{}{}", all.input,
                     counted(all.times.values.count, "element"), to_string(all.times.values.type), all.results,
                     to_string(all.kind), shape_text(all.shape), align(rows, 6), not_usable_text(all.times));
}

}  // namespace fanin::cli
