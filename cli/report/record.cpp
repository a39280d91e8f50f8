// SPDX-License-Identifier: Apache-2.0
#include "cli/report/record.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli::charts {

record::record(const json& value, std::string name) : value_(&value), name_(std::move(name)) {
  if (!value.is_object()) fail("is not an object");
}

void record::fail(std::string_view problem) const {
  throw bad_data(fmt::format("{}{}{}", name_, name_.empty() ? "" : ": ", problem));
}

const json& record::at(const char* key) const {
  const auto found = value_->find(key);
  if (found == value_->end()) fail(fmt::format("'{}' is missing", key));
  return *found;
}

std::string record::text(const char* key) const {
  const json& found = at(key);
  if (!found.is_string()) fail(fmt::format("'{}' is not a text", key));
  return found.get<std::string>();
}

double record::number(const char* key) const {
  const json& found = at(key);
  if (!found.is_number()) fail(fmt::format("'{}' is not a number", key));
  return found.get<double>();
}

std::optional<double> record::number_or_null(const char* key) const {
  if (at(key).is_null()) return {};
  return number(key);
}

record record::object(const char* key) const {
  const json& found = at(key);
  if (!found.is_object()) fail(fmt::format("'{}' is not an object", key));
  return record(found, name_.empty() ? fmt::format("'{}'", key) : fmt::format("{}, '{}'", name_, key));
}

std::vector<record> record::list(const char* key) const {
  const json& found = at(key);
  if (!found.is_array()) fail(fmt::format("'{}' is not a list", key));
  return records_of(found, fmt::format("'{}'{}{}", key, name_.empty() ? "" : " of ", name_));
}

std::vector<double> record::numbers(const char* key) const {
  const json& found = at(key);
  if (!found.is_array()) fail(fmt::format("'{}' is not a list", key));
  std::vector<double> all;
  for (const json& one : found) {
    if (!one.is_number()) fail(fmt::format("'{}' has an entry that is not a number", key));
    all.push_back(one.get<double>());
  }
  return all;
}

double record::positive(const char* key) const {
  const double amount = number(key);
  try {
    return checked_amount(amount, key);
  } catch (const bad_data& problem) {
    fail(problem.what());
  }
}

bool record::flag(const char* key) const {
  const auto found = value_->find(key);
  return found != value_->end() && found->is_boolean() && found->get<bool>();
}

std::vector<record> records_of(const json& values, std::string_view name) {
  std::vector<record> all;
  for (const json& one : values) {
    std::string row = fmt::format("row {} of {}", all.size() + 1, name);
    const auto own_name = one.find("name");
    if (own_name != one.end() && own_name->is_string()) {
      row += fmt::format(" ('{}')", printable(own_name->get<std::string>()));
    }
    all.emplace_back(one, std::move(row));
  }
  return all;
}

}  // namespace fanin::cli::charts
