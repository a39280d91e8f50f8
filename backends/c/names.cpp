// SPDX-License-Identifier: Apache-2.0
// The C interface's lists of what the library has, by number. Names and stories are literals, so a zero follows
// each.
#include "backends/c/convert.hpp"
#include "backends/doubles.hpp"

namespace {

using namespace fanin;

// The enumerators of the header are the enumerators of the library. tests/c compares the catalogue's enumerators
// by name.
static_assert(FANIN_DEVICE == static_cast<int>(memory::device) &&
              FANIN_NAN_SKIP == static_cast<int>(nan_policy::skip) &&
              FANIN_MASK_BITS == static_cast<int>(mask_form::bits) &&
              FANIN_INDEXED == static_cast<int>(result_form::indexed) &&
              FANIN_EXTREMES == static_cast<int>(result_form::extremes) &&
              FANIN_SAME_NEVER == static_cast<int>(reproducibility::none) &&
              FANIN_GROUPS == static_cast<int>(layout::groups));

const operation_row* find_row(fanin_operation what) {
  return what >= 0 && static_cast<std::size_t>(what) < operation_count ? &operation_rows[what] : nullptr;
}
bool is_type(fanin_type type) { return type >= 0 && static_cast<std::size_t>(type) < element_count; }
bool is_method(fanin_method how) { return how >= 0 && static_cast<std::size_t>(how) < std::size(method_rows); }
const backend* find_backend_at(std::uint32_t i) { return i < backends().size() ? backends()[i] : nullptr; }

}  // namespace

const char* fanin_version(void) { return version(); }

const char* fanin_operation_name(fanin_operation what) {
  const operation_row* const row = find_row(what);
  return row != nullptr ? row->name.data() : nullptr;
}
const char* fanin_operation_story(fanin_operation what) {
  const operation_row* const row = find_row(what);
  return row != nullptr ? row->story.data() : nullptr;
}
int32_t fanin_operation_inputs(fanin_operation what) {
  const operation_row* const row = find_row(what);
  return row != nullptr ? row->inputs : 0;
}

int32_t fanin_has_method(fanin_operation what, fanin_type type, fanin_method how) {
  const bool exist = find_row(what) != nullptr && is_type(type) && is_method(how);
  return exist && is_offered(static_cast<operation>(what), static_cast<element_type>(type), static_cast<method>(how));
}

const char* fanin_type_name(fanin_type type) {
  return is_type(type) ? to_string(static_cast<element_type>(type)).data() : nullptr;
}
size_t fanin_type_size(fanin_type type) { return is_type(type) ? byte_size(static_cast<element_type>(type)) : 0; }

const char* fanin_method_name(fanin_method how) { return is_method(how) ? method_rows[how].name.data() : nullptr; }

fanin_status fanin_result_type(fanin_operation what, fanin_type type, fanin_type result_type, fanin_type* number,
                               fanin_form* form, size_t* bytes) {
  return c::guarded([&] {
    const operation op = c::operation_of(what);
    const element_type of = c::type_from(type);
    const element_type read_as = taken_as(op, of);
    const bool offered = is_offered(op, read_as, method::fast) || is_offered(op, read_as, method::exact);
    if (!offered) {
      throw unsupported("there is no " + std::string(to_string(op)) + " of " + std::string(to_string(of)));
    }
    const element_type result = c::result_type_of(result_type).value_or(default_result(op, of));
    const std::size_t size = with_result_type(op, result, []<class R>() { return sizeof(R); });
    if (number != nullptr) *number = static_cast<fanin_type>(result);
    if (form != nullptr) *form = static_cast<fanin_form>(row_of(op).form);
    if (bytes != nullptr) *bytes = size;
  });
}

const char* fanin_backend_name(uint32_t i) {
  const backend* const found = find_backend_at(i);
  return found != nullptr ? found->name().data() : nullptr;
}
const char* fanin_backend_obstacle(uint32_t i) {
  const backend* const found = find_backend_at(i);
  if (found == nullptr) return "there is no such backend";
  const availability& here = found->probe();
  return here.usable() ? nullptr : here.detail.data();
}
