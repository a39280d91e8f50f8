// SPDX-License-Identifier: Apache-2.0
// Converts the C interface's structs to the library's types, and the library's exceptions to statuses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fanin/fanin.h>
#include <fanin/device.hpp>
#include <fanin/fanin.hpp>

namespace fanin::c {

/// Keeps the sentence for fanin_last_error(). Returns the status.
fanin_status failed(fanin_status status, const char* sentence) noexcept;
/// The status of the exception that is being handled.
fanin_status failed() noexcept;

/// Runs call(). Returns FANIN_OK, or the status of what it throws.
template <class Call>
fanin_status guarded(Call call) noexcept {
  try {
    call();
    return FANIN_OK;
  } catch (...) {
    return failed();
  }
}

/// Returns the pointer. @throws invalid_argument if it is null
template <class T>
T* required(T* pointer, const char* name) {
  if (pointer == nullptr) throw invalid_argument(std::string(name) + " is null");
  return pointer;
}

/// More than any version's struct has: a larger size was never set.
inline constexpr std::size_t most_struct_bytes = 4096;

/// The size of a struct in the first version of the header.
template <class Struct>
inline constexpr std::size_t first_size = sizeof(Struct);
template <>
inline constexpr std::size_t first_size<fanin_options> = offsetof(fanin_options, devices);
template <>
inline constexpr std::size_t first_size<fanin_report> = offsetof(fanin_report, error_bound);
template <>
inline constexpr std::size_t first_size<fanin_description> = offsetof(fanin_description, sum_overflows);

/// A copy of the caller's struct, in which members that only a newer header than the caller's has are 0. Members that
/// only the caller's header has must be 0.
/// @throws invalid_argument if the struct is null, smaller than the first version's, too large to have been set, or
/// larger than this version's and not 0 there
template <class Struct>
Struct copied(const Struct* given, const char* name) {
  required(given, name);
  if (given->struct_size < first_size<Struct> || given->struct_size > most_struct_bytes) {
    throw invalid_argument(std::string(name) + ": struct_size is not set: begin with the INIT macro");
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(Struct); i < given->struct_size; ++i) {
    if (bytes[i] != 0) throw invalid_argument(std::string(name) + " has members that this version does not know");
  }
  Struct copy{};
  std::memcpy(&copy, given, std::min(given->struct_size, sizeof(Struct)));
  return copy;
}

/// Writes the members that the caller's struct has. `out` began as a copy of that struct.
template <class Struct>
void write_back(const Struct& out, Struct* to) {
  std::memcpy(to, &out, std::min(out.struct_size, sizeof(Struct)));
}

/// The enumerator with that value. @throws invalid_argument if there is none among the first `count`
template <class Enum>
Enum enumerator(std::int32_t value, std::size_t count, const char* name) {
  if (value < 0 || static_cast<std::size_t>(value) >= count) {
    throw invalid_argument("there is no such " + std::string(name) + ": " + std::to_string(value));
  }
  return static_cast<Enum>(value);
}
inline operation operation_of(fanin_operation what) {
  return enumerator<operation>(what, operation_count, "operation");
}
inline element_type type_from(fanin_type type) {
  return enumerator<element_type>(type, element_count, "element type");
}
inline memory place_of(fanin_memory place) { return enumerator<memory>(place, 2, "kind of memory"); }
/// FANIN_TYPE_DEFAULT is no type.
std::optional<element_type> result_type_of(fanin_type type);

options options_of(const fanin_options* given);
input_views inputs_of(operation what, const fanin_input* given);
/// The views of each of several arrays. @throws invalid_argument if there are none
std::vector<input_views> arrays_of(operation what, const fanin_input* const* given, std::size_t count);
/// The batch of results of the operation, or if that is not known, without the result of too few elements.
batch batch_of(const input_views& inputs, const fanin_batch* given, std::optional<result_view> empty);

/// The memory for a result of the operation, of the type that the options name, or of the default type.
result_view result_at(void* result, operation what, element_type type, std::optional<element_type> wanted);
results_view results_at(const fanin_output* given, const result_view& one);

/// Several operations of one batch. The batch's result of too few elements has the type of the first operation's.
struct each_operation {
  options chosen;  ///< without a type of results
  std::vector<operation> what;
  std::vector<results_view> out;
  std::optional<batch> many;
};
/// @throws invalid_argument if there are no operations, or if an operation, type or output is null or does not exist
each_operation each_of(const fanin_operation* operations, const fanin_type* types, std::size_t count,
                       const fanin_input* input, const fanin_batch* given, const fanin_options* asked,
                       const fanin_output* const* outputs);

/// Fills in the caller's report, unless it is null. `value` is the result, if there is one alone.
void write_report(const report& done, fanin_report* report, const result_view* value = nullptr);

}  // namespace fanin::c

struct fanin_plan {
  fanin::plan planned;
};
struct fanin_incremental {
  fanin::incremental stream;
};
struct fanin_context {
  fanin::device_context work;
};
