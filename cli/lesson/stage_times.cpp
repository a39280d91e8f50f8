// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/stage_times.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/report/scale.hpp"

namespace fanin::cli {

namespace {

/// The word by which a device is known, as in "H200".
std::string short_name(std::string device) {
  constexpr std::string_view maker = "NVIDIA ";
  if (device.starts_with(maker)) device.erase(0, maker.size());
  return device.substr(0, device.find(' '));
}

}  // namespace

ladder_files::ladder_files(const std::vector<std::string>& names) {
  for (const std::string& name : names) add(name, std::ifstream(name, std::ios::binary));
}

void ladder_files::add(const std::string& name, std::istream&& content) {
  try {
    if (!content) throw bad_data("cannot be opened");
    files_.push_back(file_of(name, json::parse(content, check_depth)));
  } catch (const json::parse_error&) {
    throw bad_data(fmt::format("{}: not JSON, or cut short", one_line(name)));
  } catch (const json::exception&) {  // A key is missing, or a value has the wrong type.
    throw bad_data(fmt::format("{}: not a result of 'fanin ladder --json'", one_line(name)));
  } catch (const bad_data& problem) {
    throw bad_data(fmt::format("{}: {}", one_line(name), problem.what()));
  }
}

ladder_files::file ladder_files::file_of(const std::string& name, const json& document) {
  const auto amount = [](const json& object, const char* key) {
    return checked_amount(object.at(key).get<double>(), key);
  };
  const std::string operation = document.at("operation").get<std::string>();
  const std::string input =
      fmt::format("{} {}{}", charts::count_text(amount(document, "count")),
                  document.at("element_type").get<std::string>(), operation == "sum" ? "" : ", " + operation);
  const std::string device = document.at("device").get<std::string>();
  file all{fmt::format("{} ({})", device, name), {}};
  for (const json& one : document.at("rows")) {
    if (one.at("seconds").is_null()) continue;
    row timed{one.at("stage").get<std::string>(),
              {short_name(device),
               input,
               1e6 * amount(one, "seconds"),
               amount(one, "gigabytes_per_second"),
               amount(one, "share_of_ceiling"),
               {}}};
    if (!one.at("gain").is_null()) timed.time.over = {amount(one, "gain"), one.at("builds_on").get<std::string>()};
    all.rows.push_back(std::move(timed));
  }
  const auto first = std::ranges::find(all.rows, first_stage, &row::stage);
  for (row& timed : all.rows) {
    if (first != all.rows.end()) timed.time.since_first = first->time.microseconds / timed.time.microseconds;
  }
  return all;
}

stage_times ladder_files::times_of(std::string_view stage) const {
  stage_times found;
  for (const file& one : files_) {
    for (const row& timed : one.rows) {
      if (timed.stage != stage) continue;
      found.all.push_back(timed.time);
      if (found.from.find(one.from) == found.from.npos) found.from += (found.from.empty() ? "" : "; ") + one.from;
    }
  }
  return found;
}

}  // namespace fanin::cli
