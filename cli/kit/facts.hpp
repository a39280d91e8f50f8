// Facts about a machine, each said once, for JSON and for a page of text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/kit/json.hpp"
#include "cli/kit/table.hpp"

namespace fanin::cli {

enum class unit : std::uint8_t { none, bytes, hertz, bits, gigabytes_per_second };

struct fact {
  std::string name;  ///< in words
  json value;
  unit in = unit::none;
};

/// {"l2_cache_bytes": 52428800, ...}: names with underscores, and the unit.
json as_json(const std::vector<fact>& facts);
/// Rows for align(): the name, then the value with a unit that suits its size; one digit follows the point.
std::vector<table_row> as_rows(const std::vector<fact>& facts);

}  // namespace fanin::cli
