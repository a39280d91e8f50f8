// How values and reports look in JSON.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <fanin/result.hpp>

namespace fanin::cli {

using json = nlohmann::ordered_json;

/// null if the number is not finite, which JSON cannot say.
json json_number(double value);
/// Integers in full.
json json_number(const scalar& value);

json passed_over_json(const passed_over& one);

/// The text to print; bytes of file names that are not UTF-8 are replaced.
std::string printed(const json& value);

/// Objects as lines of CSV under a heading, the keys of the one that has most; what another lacks stays empty.
std::string csv_of(const json& rows);

/// The class in a few words.
std::string_view story(reproducibility kind);

}  // namespace fanin::cli
