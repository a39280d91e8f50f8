// SPDX-License-Identifier: Apache-2.0
// Short calls use prepared requests in place of a choice among the backends.
#pragma once

#include <optional>

#include "backends/checks.hpp"
#include "backends/choice.hpp"

namespace fanin {

/// The requests of `serial` for each operation, element type and method, with the default variant and result. A call
/// that one of them serves makes no choice, which would take longer than the reduction of a short array.
class prepared_requests {
 public:
  prepared_requests() {
    for (const operation what : all_operations) {
      for (const element_type type : all_element_types) {
        default_methods_[index(what, type)] = default_method(what, type);
        for (const method how : all_methods) prepare(what, type, how);
      }
    }
  }
  static const prepared_requests& all() {
    static const prepared_requests ready;
    return ready;
  }
  /// The request with that method, or the default method. Null if `serial` does not have the operation with this type
  /// and method. The operation exists.
  const request* find(operation what, element_type type, std::optional<method> chosen) const {
    if (static_cast<std::size_t>(type) >= element_count) return nullptr;
    const method how = chosen.value_or(default_methods_[index(what, type)]);
    if (!is_method(how)) return nullptr;
    const request& found = requests_[index(what, type) * std::size(method_rows) + static_cast<std::size_t>(how)];
    return found.prepared != nullptr ? &found : nullptr;
  }
  const backend& serial = find_backend("serial");

 private:
  static std::size_t index(operation what, element_type type) {
    return static_cast<std::size_t>(what) * element_count + static_cast<std::size_t>(type);
  }
  void prepare(operation what, element_type type, method how) {
    request one{what, views_without_data(what, type, 0, memory::host), how, default_result(what, type), {}};
    if (is_offered(what, type, how) && serial.prepare(one).usable()) {
      requests_[index(what, type) * std::size(method_rows) + static_cast<std::size_t>(how)] = one;
    }
  }
  method default_methods_[operation_count * element_count];
  request requests_[operation_count * element_count * std::size(method_rows)];
};

/// Whether select() chooses `serial` for host input.
inline bool chooses_serial(const input_views& inputs, const options& chosen) {
  const std::string_view wanted = wanted_backend(chosen);
  const bool automatic = wanted.empty() || wanted == "auto";
  return automatic ? inputs[0].bytes() < small_input_bytes : wanted == "serial";
}

/// The request that serves the call, or null. The inputs' data and count are checked.
inline const request* find_prepared(const prepared_requests& all, operation what, const input_views& inputs,
                                    element_type result, const options& chosen) {
  if (inputs.place() != memory::host || inputs.size() != row_of(what).inputs) return nullptr;
  const request* const found = all.find(what, inputs.type(), chosen.method);
  if (found == nullptr || found->result != result || !chooses_serial(inputs, chosen)) return nullptr;
  if (chosen.nan != nan_policy::propagate || !chosen.devices.empty()) return nullptr;
  return chosen.variant.empty() || chosen.variant == found->variant ? found : nullptr;
}

}  // namespace fanin
