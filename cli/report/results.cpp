// SPDX-License-Identifier: Apache-2.0
#include "cli/report/results.hpp"

#include <filesystem>
#include <fstream>

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
          text_or(context, "date", ""), text_or(context, "fanin_version", "")};
}

bool has(const json& value, const char* key) { return value.is_object() && value.contains(key); }

template <class All, class More>
void append(All& all, const More& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// A kind of result: how its documents are known, and how they are read. `from` names the origin in the document.
struct kind_of_result {
  const char* name;
  bool (*is_it)(const json& document);
  void (*read)(const std::string& file, const json& document, origin& from, results& all);
};

constexpr kind_of_result kinds_of_results[] = {
    {"bench", [](const json& document) { return has(document, "benchmarks"); },
     [](const std::string& file, const json& document, origin& from, results& all) {
       from = origin_of(file, has(document, "context") ? document["context"] : json());
       append(all.measurements, read_measurements(document, from));
     }},
    {"compare", [](const json& document) { return has(document, "input") && has(document, "not_usable"); },
     [](const std::string& file, const json& document, origin& from, results& all) {
       from = origin_of(file, document);
       all.compared.push_back(read_compare(document));
     }},
    {"ladder", [](const json& document) { return has(document, "ceiling_gigabytes_per_second"); },
     [](const std::string& file, const json& document, origin& from, results& all) {
       from = origin_of(file, document);
       all.ladders.push_back(read_ladder(document, from));
     }},
    {"accuracy",
     [](const json& document) {
       return document.is_array() && !document.empty() && has(document.front(), "condition");
     },
     [](const std::string&, const json& document, origin&, results& all) {
       append(all.accuracies, read_accuracy(document));
     }},
    {"lab latency",
     [](const json& document) { return has(document, "experiment") && document["experiment"] == "latency"; },
     [](const std::string& file, const json& document, origin& from, results& all) {
       from = origin_of(file, document);
       append(all.latencies, read_latencies(document, from));
     }},
    {"regress", [](const json& document) { return has(document, "cases") && has(document, "threshold"); },
     [](const std::string&, const json& document, origin&, results& all) {
       all.comparisons.push_back(read_comparison(document));
     }}};

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

void results::add(const std::string& file, const json& document) {
  for (const kind_of_result& kind : kinds_of_results) {
    if (!kind.is_it(document)) continue;
    source found{file, kind.name, {}};
    kind.read(file, document, found.from, *this);
    sources.push_back(std::move(found));
    const auto [made, broken] = read_checks(document);
    checks.made += made;
    checks.broken += broken;
    return;
  }
  skipped.push_back(file);
}

results read_results(const std::vector<std::string>& files) {
  results all;
  for (const std::string& file : files) {
    try {
      all.add(file, parsed(file));
    } catch (const bad_data& problem) {
      throw bad_data(fmt::format("{}: {}", one_line(file), problem.what()));
    }
  }
  if (all.sources.empty()) {
    throw bad_data(
        fmt::format("{}: not a result of 'fanin bench', 'regress', 'ladder', 'lab latency', 'accuracy' or "
                    "'compare'",
                    one_line(files.front())));
  }
  return all;
}

}  // namespace fanin::cli::charts
