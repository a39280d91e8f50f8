// SPDX-License-Identifier: Apache-2.0
// Names of the enumerators.
#include <fanin/catalog.hpp>
#include <fanin/result.hpp>

namespace fanin {
namespace {

/// Whether Value is an enumerator: the compiler prints other values as casts, like (fanin::method)7.
template <auto Value>
constexpr bool is_named() {
  constexpr std::string_view function = __PRETTY_FUNCTION__, before = "Value = ";
  constexpr std::size_t at = function.rfind(before);
  static_assert(at != std::string_view::npos);
  return function[at + before.size()] != '(';
}
static_assert(is_named<operation::sum>() && !is_named<static_cast<operation>(operation_count)>() &&
                  !is_named<static_cast<element_type>(element_count)>() &&
                  !is_named<static_cast<method>(std::size(method_rows))>(),
              "every enumerator has a row in the catalogue");

/// names[value]; "unknown" for a value that is no enumerator.
template <class Enum, class Names>
std::string_view name_of(Enum value, const Names& names) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return i < std::size(names) ? std::string_view(names[i]) : "unknown";
}

}  // namespace

std::string_view to_string(operation what) noexcept {
  const auto i = static_cast<std::size_t>(what);
  return i < operation_count ? operation_rows[i].name : "unknown";
}
std::string_view to_string(element_type type) noexcept {
  static constexpr auto names = element_rows.for_each([](const auto& row) { return row.name; });
  return name_of(type, names);
}
std::string_view to_string(method how) noexcept {
  const auto i = static_cast<std::size_t>(how);
  return i < std::size(method_rows) ? method_rows[i].name : "unknown";
}
std::string_view to_string(memory place) noexcept {
  static constexpr std::string_view names[] = {"host", "device"};
  return name_of(place, names);
}
std::string_view to_string(layout kind) noexcept {
  static constexpr std::string_view names[] = {"array", "rows", "segments", "groups"};
  return name_of(kind, names);
}
std::string_view to_string(nan_policy policy) noexcept {
  static constexpr std::string_view names[] = {"propagate", "skip"};
  return name_of(policy, names);
}
std::string_view to_string(reproducibility kind) noexcept {
  static constexpr std::string_view names[] = {"exact", "fixed_order", "run_to_run", "none"};
  return name_of(kind, names);
}
std::string_view to_string(reason why) noexcept {
  static constexpr std::string_view names[] = {"usable",  "not_compiled", "no_driver", "no_device",
                                               "too_old", "unsupported",  "failed",    "wrong_memory"};
  return name_of(why, names);
}

}  // namespace fanin
