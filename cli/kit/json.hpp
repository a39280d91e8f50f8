// SPDX-License-Identifier: Apache-2.0
// Values and reports in JSON.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <fanin/result.hpp>

namespace fanin::cli {

using json = nlohmann::ordered_json;

/// The number, or null if it is not finite, which JSON cannot represent.
json json_number(double value);
/// The members of an object: "value"; "value" and "index"; or "min" and "max". 64-bit integers keep all their digits.
json json_value(const scalar& value);

/// A callback for json::parse(). More than 64 arrays and objects in each other are refused, because the library
/// copies nested values by recursion, and a million of them would overflow the stack. @throws bad_data
bool check_depth(int depth, json::parse_event_t event, json& value);

/// Returns the value. @throws bad_data, which names it as `what`, unless it is from 1e-100 to 1e100: so far from the
/// limits of double, rates and ratios of amounts are finite and above 0.
double checked_amount(double value, std::string_view what);

json passed_over_json(const passed_over& one);

/// The time now in ISO 8601, in UTC.
std::string date_now();

/// `found`, a result of the command, after `schema`, which changes when a key changes its meaning, and
/// `fanin_version`.
json described(const json& found);

/// The coefficients of a bound, and the premise of the bound. A coefficient that is infinite, and promises
/// nothing, is null.
json bound_json(const error_bound& bound, std::string_view premise = {});

/// The text of a JSON value. Bytes that are not UTF-8, as in file names, are replaced. The object then has a further
/// member with `_hex` behind the name: the bytes of the string in hexadecimal, or of a list of strings a list of
/// these.
std::string printed(const json& value);

/// A list of objects as CSV. The columns are the keys of the object with the most keys; a missing value is an empty
/// cell.
std::string csv_of(const json& rows);

/// Describes the reproducibility class in a few words.
std::string_view story(reproducibility kind);

}  // namespace fanin::cli
