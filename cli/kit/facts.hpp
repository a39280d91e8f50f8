// SPDX-License-Identifier: Apache-2.0
// Facts about a machine. One list of facts gives the JSON object and the text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/kit/json.hpp"
#include "cli/kit/table.hpp"

namespace fanin::cli {

enum class unit : std::uint8_t { none, bytes, hertz, bits, gigabytes_per_second };

struct fact {
  std::string name;  ///< as in "L2 cache"
  json value;
  unit measured_in = unit::none;
};

/// A JSON object, as in {"l2_cache_bytes": 52428800}: a key is the name with underscores and the unit.
json as_json(const std::vector<fact>& facts);
/// Rows for align(), with the name and the value. A value has one decimal and a unit that suits its size.
std::vector<table_row> as_rows(const std::vector<fact>& facts);

}  // namespace fanin::cli
