// SPDX-License-Identifier: Apache-2.0
#include "backends/checks.hpp"

#include <algorithm>
#include <string>

#include <fanin/error.hpp>

#include "backends/doubles.hpp"

namespace fanin {
namespace {

/// The names of the values that `holds` accepts.
template <class All, class Holds>
std::string listed(const All& all, Holds holds) {
  std::string names;
  for (const auto one : all) {
    if (holds(one)) names += (names.empty() ? "" : ", ") + std::string(to_string(one));
  }
  return names;
}

/// Text that says what is not offered. It names the methods of the operation for the request's type, or the types
/// of the operation.
std::string not_offered(const backend& b, const request& asked) {
  const auto has = [&](element_type type, method how) { return is_offered(asked.what, type, how); };
  const element_type type = asked.inputs.type();
  const std::string methods = listed(all_methods, [&](method how) { return has(type, how); });
  const std::string what = std::string(to_string(asked.what)) + " of " + std::string(to_string(type));
  if (methods.empty()) {
    return "there is no " + what + "; it is for " + listed(all_element_types, [&](element_type other) {
             return std::ranges::any_of(all_methods, [&](method how) { return has(other, how); });
           });
  }
  const std::string exactly = "there is no " + std::string(to_string(asked.method)) + " " + what;
  return has(type, asked.method) ? exactly + " on " + std::string(b.name())
                                 : exactly + "; its methods are " + methods;
}

}  // namespace

support backend::supports(request what) const {
  const input_views& inputs = what.inputs;
  if (is_taken_as_f64(what.what, inputs.type(), inputs.place())) {
    return {reason::unsupported, not_offered(*this, what)};
  }
  return prepare(what);
}

support check_offer(const backend& b, request& request, bool has_arithmetic) {
  const auto known = b.variants();
  const auto type = request.inputs.type();
  const auto how = [&] { return std::string(to_string(request.method)); };  // text is made only for an error
  const auto what = [&] {
    return how() + " " + std::string(to_string(request.what)) + " of " + std::string(to_string(type));
  };
  const auto serves = [&](const variant_info& v) {
    return v.method == request.method && (request.variant.empty() || v.name == request.variant);
  };
  const auto variant = std::find_if(known.begin(), known.end(), serves);
  if (variant == known.end() && !request.variant.empty()) {
    return {reason::unsupported,
            std::string(b.name()) + " has no variant '" + std::string(request.variant) + "' for method " + how()};
  }
  if (variant == known.end()) return {reason::unsupported, std::string(b.name()) + " does not offer method " + how()};
  if (!has_arithmetic && !request.variant.empty()) {
    return {reason::unsupported, "variant '" + std::string(request.variant) + "' has no " + what()};
  }
  if (!has_arithmetic) return {reason::unsupported, not_offered(b, request)};
  if (!is_result(request.what, type, request.method, request.result)) {
    return {reason::unsupported, "the " + what() + " is not offered as " + std::string(to_string(request.result)) +
                                     "; it gives " + listed(all_element_types, [&](element_type t) {
                                       return is_result(request.what, type, request.method, t);
                                     })};
  }
  request.variant = variant->name;
  return {};
}

void require_usable(const backend& b) {
  const availability& here = b.probe();
  if (here.usable()) return;
  throw backend_unavailable("backend '" + std::string(b.name()) + "' is not usable here (" +
                            std::string(to_string(here.why)) + "): " + std::string(here.detail));
}

void refuse(const char* why) { throw invalid_argument(why); }

void refuse_count(operation what, std::uint64_t present, std::uint64_t left_out) {
  throw invalid_argument(std::string(to_string(what)) + " of " +
                         (present > 0    ? "one element: it takes two"
                          : left_out > 0 ? "no elements: all are left out"
                                         : "an empty array"));
}

void check_known(operation what, const input_views& inputs, std::optional<method> how) {
  const operation_row& row = row_of(what);
  if (how && !is_method(*how)) {
    throw invalid_argument("there is no such method");
  }
  if (inputs.place() != memory::host && inputs.place() != memory::device) {
    throw invalid_argument("there is no such place of data");
  }
  if (row.inputs != inputs.size()) {
    throw invalid_argument(std::string(row.name) + " reads " + (row.inputs == 1 ? "one input" : "two inputs") +
                           ", not " + std::to_string(inputs.size()));
  }
}

void check_bound(const options& chosen) {
  if (chosen.bound) throw unsupported("the option `bound` is for one array that is reduced in one call");
}

void check_state(element_type type, element_type added, options& chosen) {
  const bool widens = type == element_type::f32 && is_floating(added) && byte_size(added) < sizeof(float);
  if (added != type && !widens) {
    throw invalid_argument("elements of " + std::string(to_string(added)) + " cannot be added to the state of an " +
                           std::string(to_string(type)) + " sum");
  }
  if (chosen.method.value_or(method::exact) != method::exact || chosen.result) {
    throw invalid_argument("the state of an exact sum is exact: leave out the method and the type of the result");
  }
  chosen.method = method::exact;
}

}  // namespace fanin
