// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/variants.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <fanin/error.hpp>

#include "cli/device/machine.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/share.hpp"
#include "measure/ceiling.hpp"
#include "measure/device_copy.hpp"
#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

constexpr measure::stopping_rule stopping_rule_per_row{.budget_seconds = 0.1};

bool on_device(const backend* one) { return one->home() == memory::device && one->probe().usable(); }

// Returns null if no device backend is usable, or if `values` does not fit in the device's memory.
std::unique_ptr<measure::device_copy> copy_to_device(const array_view& values,
                                                     const std::vector<const backend*>& wanted) {
  if (values.count == 0 || !std::ranges::any_of(wanted, on_device)) return nullptr;
  try {
    return require_gpu().make_device_copy(values);
  } catch (const out_of_memory&) {
    return nullptr;
  }
}

struct time_unit {
  const char* name;
  double seconds;
};

/// The largest unit in which the shortest time of the rows is at least 0.1.
time_unit unit_of(const timed_variants& all) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const timed_variant& row : all.rows) shortest = std::min(shortest, row.seconds);
  for (const time_unit unit : {time_unit{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}) {
    if (shortest >= unit.seconds / 10) return unit;
  }
  return {"ns", 1e-9};
}

double share_of_ceiling(const timed_variant& row) { return row.seconds > 0 ? row.ceiling_seconds / row.seconds : 0; }

std::string name_of(const timed_variant& row) { return fmt::format("{}/{}", row.how.backend, row.how.variant); }

}  // namespace

double timed_variants::gigabytes_per_second(double seconds) const {
  return seconds > 0 ? static_cast<double>(values.bytes()) / seconds / 1e9 : 0;
}

double timed_variants::ceiling(memory place) const {
  double most = 0;
  for (const timed_variant& row : rows) {
    if (row.place == place) most = std::max(most, gigabytes_per_second(row.ceiling_seconds));
  }
  return most;
}

timed_variants time_variants(const variant_choice& asked, const array_view& values, layout kind, progress& line,
                             const sum_call& call, const std::function<void(const timed_variant&)>& done) {
  timed_variants all{.values = values, .machine = {}, .rows = {}, .not_usable = {}};
  const measure::rotation in_place = measure::rotation::in_place(values);
  const std::unique_ptr<measure::device_copy> copied = copy_to_device(values, asked.backends);
  all.machine = machine_name(copied != nullptr);
  for (const backend* one : asked.backends) {
    const availability& state = one->probe();
    if (!state.usable()) {
      all.not_usable.push_back({one->name(), state.why, std::string(state.detail)});
      continue;
    }
    const bool there = copied && on_device(one);
    for (const variant_info& variant : one->variants()) {
      if (asked.only && variant.method != *asked.only) continue;
      const options chosen{
          .backend = one->name(), .variant = variant.name, .method = variant.method, .threads = asked.threads};
      request query{operation::sum, there ? copied->first() : values,
                    variant.method, default_result(operation::sum, values.type),
                    variant.name,   asked.cores()};
      query.kind = kind;
      if (!one->supports(query).usable()) continue;
      line.set_task(fmt::format("{}/{}", one->name(), variant.name));
      timed_variant row{.place = there ? memory::device : memory::host, .how = {}};
      const auto run = [&](const array_view& from) { row.how = call(from, chosen); };
      const auto run_in_place = [&](std::size_t) { run(values); };
      try {
        const measure::timed_beside_reads timed =
            there ? copied->time(run, stopping_rule_per_row)
                  : measure::time_beside_reads(run_in_place, *one, in_place, asked.cores(), stopping_rule_per_row);
        row.seconds = timed.call.seconds();
        row.ceiling_seconds = timed.ceiling_seconds;
      } catch (const out_of_memory& failure) {
        all.not_usable.push_back(
            {one->name(), reason::unsupported, fmt::format("{}: {}", variant.name, failure.what())});
        continue;
      }
      all.rows.push_back(row);
      done(row);
    }
  }
  return all;
}

std::vector<std::string> warnings_of(const timed_variants& all) {
  std::vector<std::string> warnings;
  for (const timed_variant& row : all.rows) {
    if (measure::exceeds_ceiling(share_of_ceiling(row))) warnings.push_back(above_ceiling_text(name_of(row)));
  }
  return warnings;
}

std::string not_usable_text(const timed_variants& all) {
  std::string text;
  for (const passed_over& one : all.not_usable) {
    text += fmt::format("{}: not usable here ({}: {})\n", one.backend, to_string(one.why), one.detail);
  }
  return text;
}

std::string bound_text(oracle::promise bound) {
  if (bound == oracle::promise::none) return "none";
  return bound == oracle::promise::kept ? "kept" : "BROKEN";
}

table_row first_headings() { return {"backend", "variant", "method", "memory", "same bits"}; }

table_row first_cells(const timed_variant& row) {
  return {std::string(row.how.backend), std::string(row.how.variant), std::string(to_string(row.how.method)),
          std::string(to_string(row.place)), std::string(to_string(row.how.reproducibility))};
}

table_row last_headings(const timed_variants& all) { return {unit_of(all).name, "GB/s", "ceiling", "of ceiling"}; }

table_row last_cells(const timed_variants& all, const timed_variant& row) {
  return {fmt::format("{:.3f}", row.seconds / unit_of(all).seconds),
          fmt::format("{:.1f}", all.gigabytes_per_second(row.seconds)),
          fmt::format("{:.1f}", all.gigabytes_per_second(row.ceiling_seconds)),
          row.seconds > 0 ? share_text(share_of_ceiling(row), 0) : "-"};
}

json members_of(const timed_variants& all) {
  json members = {{"ceiling_gigabytes_per_second", all.ceiling(memory::host)}};
  if (const double there = all.ceiling(memory::device); there > 0) {
    members["device_ceiling_gigabytes_per_second"] = there;
  }
  return members;
}

json not_usable_json(const timed_variants& all) {
  json list = json::array();
  for (const passed_over& one : all.not_usable) list.push_back(passed_over_json(one));
  return list;
}

json kept_json(oracle::promise bound) {
  return bound == oracle::promise::none ? json(nullptr) : json(bound == oracle::promise::kept);
}

json first_members(const timed_variant& row) {
  return {{"backend", row.how.backend},
          {"variant", row.how.variant},
          {"method", to_string(row.how.method)},
          {"memory", to_string(row.place)}};
}

json last_members(const timed_variants& all, const timed_variant& row) {
  const bool too_low = measure::exceeds_ceiling(share_of_ceiling(row));
  return {{"reproducibility", to_string(row.how.reproducibility)},
          {"seconds", row.seconds},
          {"gigabytes_per_second", all.gigabytes_per_second(row.seconds)},
          {"ceiling_gigabytes_per_second", all.gigabytes_per_second(row.ceiling_seconds)},
          {"ceiling_too_low", too_low},
          {"share_of_ceiling", too_low ? json(nullptr) : json(share_of_ceiling(row))}};
}

}  // namespace fanin::cli
