// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/stage_times.hpp"

#include <fstream>
#include <regex>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/report/scale.hpp"

namespace fanin::cli {

stage_times times_in(const std::string& paragraph) {
  static const std::regex time(
      "(2\\^[0-9]+ \\w+): ([0-9.]+) us, ([0-9.]+)% of the ceiling(?:, ([0-9.]+) times as fast as ([a-z0-9-]+))?");
  stage_times found;
  std::size_t end = 0;
  for (std::sregex_iterator one(paragraph.begin(), paragraph.end(), time), last; one != last; ++one) {
    const std::smatch& part = *one;
    found.all.push_back({part[1], std::stod(part[2]), std::stod(part[3]) / 100, {}});
    if (part[4].matched) found.all.back().over = {std::stod(part[4]), part[5]};
    end = static_cast<std::size_t>(part.position() + part.length());
  }
  constexpr std::size_t between = std::string_view(". ").size();
  if (end > 0) found.from = paragraph.substr(std::min(end + between, paragraph.size()));
  return found;
}

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
  file all{fmt::format("{} ({})", document.at("device").get<std::string>(), name), {}};
  for (const json& one : document.at("rows")) {
    if (one.at("seconds").is_null()) continue;
    row timed{one.at("stage").get<std::string>(),
              {input, 1e6 * amount(one, "seconds"), amount(one, "share_of_ceiling"), {}}};
    if (!one.at("gain").is_null()) timed.time.over = {amount(one, "gain"), one.at("builds_on").get<std::string>()};
    all.rows.push_back(std::move(timed));
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
