// SPDX-License-Identifier: Apache-2.0
#include "cli/report/results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli::charts {

namespace {

std::string text_or(const json& object, const char* key, std::string otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

/// The name of the file's folder, which is the machine's name for old results that do not contain it.
std::string folder_of(const std::string& file) {
  return std::filesystem::absolute(file).parent_path().filename().string();
}

origin origin_of(const std::string& file, const json& context) {
  return {text_or(context, "machine", text_or(context, "device", folder_of(file))), text_or(context, "commit", ""),
          text_or(context, "date", "")};
}

double number_or_nan(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

double ulp_over_value(const std::string& hex, const std::string& type) {
  const double value = std::abs(std::strtod(hex.c_str(), nullptr));
  const int digits = type == "f32" ? 24 : 53, lowest = type == "f32" ? -126 : -1022;
  if (!std::isfinite(value) || value == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1, std::max(std::ilogb(value), lowest) - digits + 1) / value;
}

json parsed(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw bad_data("cannot be opened");
  try {
    return json::parse(stream, check_depth);
  } catch (const json::exception&) {
    throw bad_data("not JSON, or cut short");
  }
}

}  // namespace

double positive(const json& object, const char* key) { return checked_amount(object.at(key).get<double>(), key); }

ladder_result read_ladder(const json& document, const origin& from) {
  ladder_result all{from,
                    document.at("operation").get<std::string>(),
                    document.at("element_type").get<std::string>(),
                    positive(document, "count"),
                    positive(document, "ceiling_gigabytes_per_second"),
                    {}};
  for (const json& row : document.at("rows")) {
    ladder_result::rung one{{}, row.at("stage").get<std::string>(), {}};
    if (!row.at("number").is_null()) one.number = fmt::format("{}", row["number"].get<double>());
    if (!row.at("seconds").is_null()) one.gigabytes_per_second = positive(row, "gigabytes_per_second");
    all.rungs.push_back(one);
  }
  return all;
}

std::vector<accuracy_result> read_accuracy(const json& document) {
  std::vector<accuracy_result> all;
  for (const json& study : document) {
    const std::string type = study.at("element_type").get<std::string>();
    const double ulp = ulp_over_value(study.at("exact").at("value_hex").get<std::string>(), type);
    for (const json& row : study.at("rows")) {
      const auto text = [&](const char* key) { return row.at(key).get<std::string>(); };
      all.push_back({study.at("input").get<std::string>(), type, text("backend"), text("variant"), text("method"),
                     positive(study, "count"), number_or_nan(row.at("error_ulps")),
                     number_or_nan(row.at("bound_ulps")), ulp});
    }
  }
  return all;
}

std::vector<latency_result> read_latencies(const json& document, const origin& from) {
  std::vector<latency_result> all;
  for (const json& row : document.at("rows")) {
    const std::string instruction = row.at("instruction").get<std::string>();
    if (all.empty() || all.back().instruction != instruction)
      all.push_back({from, instruction, row.at("unit").get<std::string>(), {}});
    for (const auto& [key, rate] : row.items()) {
      if (!key.starts_with("with_") || rate.is_null()) continue;
      std::string chains = key;
      std::ranges::replace(chains, '_', ' ');
      all.back().rates.push_back({chains, positive(row, "warps_per_multiprocessor"), positive(row, key.c_str())});
    }
  }
  return all;
}

comparison read_comparison(const json& document) {
  comparison all{document.at("a").get<std::string>(),
                 document.at("b").get<std::string>(),
                 document.at("from") == "pairs",
                 positive(document, "threshold"),
                 {}};
  for (const json& row : document.at("cases")) {
    const auto seconds = [&](const char* key) { return row.at(key).get<std::vector<double>>(); };
    const auto text = [&](const char* key) { return row.at(key).get<std::string>(); };
    all.cases.push_back({text("name"), text("verdict"), text("reason"), seconds("a_seconds"), seconds("b_seconds")});
    for (const auto* times : {&all.cases.back().a_seconds, &all.cases.back().b_seconds}) {
      for (const double time : *times) checked_amount(time, "a time");
    }
    const std::size_t a = all.cases.back().a_seconds.size(), b = all.cases.back().b_seconds.size();
    if (a == 0 || b == 0 || (all.paired && a != b)) throw bad_data("samples that are missing or without their pair");
  }
  return all;
}

void results::add(const std::string& file, const json& document) {
  const auto has = [](const json& value, const char* key) { return value.is_object() && value.contains(key); };
  const auto append = [](auto& all, auto more) { all.insert(all.end(), more.begin(), more.end()); };
  source from{file, "", {}};
  if (has(document, "benchmarks")) {
    from = {file, "bench", origin_of(file, document.value("context", json::object()))};
    append(measurements, read_measurements(document, from.from));
  } else if (has(document, "ceiling_gigabytes_per_second")) {
    from = {file, "ladder", origin_of(file, document)};
    ladders.push_back(read_ladder(document, from.from));
  } else if (document.is_array() && !document.empty() && has(document.front(), "condition")) {
    from.kind = "accuracy";
    append(accuracies, read_accuracy(document));
  } else if (has(document, "experiment") && document["experiment"] == "latency") {
    from = {file, "lab latency", origin_of(file, document)};
    append(latencies, read_latencies(document, from.from));
  } else if (has(document, "cases") && has(document, "threshold")) {
    from.kind = "regress";
    comparisons.push_back(read_comparison(document));
  } else {
    throw bad_data("not a result of 'fanin bench', 'regress', 'ladder', 'lab latency' or 'accuracy'");
  }
  sources.push_back(from);
}

results read_results(const std::vector<std::string>& files) {
  results all;
  for (const std::string& file : files) {
    try {
      all.add(file, parsed(file));
    } catch (const std::exception& problem) {  // Also thrown for a missing key or a value of the wrong type.
      throw bad_data(fmt::format("{}: {}", one_line(file), problem.what()));
    }
  }
  return all;
}

}  // namespace fanin::cli::charts
