#include "cli/json.hpp"

#include <cmath>
#include <type_traits>

namespace fanin::cli {

json json_number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json json_number(const scalar& value) {
  return std::visit(
      [](auto x) -> json {
        if constexpr (std::is_floating_point_v<decltype(x)>) {
          return json_number(static_cast<double>(x));
        } else {
          return json(x);
        }
      },
      value);
}

json passed_over_json(const passed_over& one) {
  return {{"backend", one.backend}, {"reason", to_string(one.why)}, {"detail", one.detail}};
}

std::string printed(const json& value) { return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

std::string_view story(reproducibility kind) {
  switch (kind) {
    case reproducibility::exact:
      return "for the same values in any order, on every backend";
    case reproducibility::fixed_order:
      return "for the same values in the same order, on every CPU backend";
    case reproducibility::run_to_run:
      return "on the same device with the same build";
    case reproducibility::none:
      return "may differ from one run to the next";
  }
  return {};
}

}  // namespace fanin::cli
