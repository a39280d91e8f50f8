// SPDX-License-Identifier: Apache-2.0
// The functions of sharded.hpp.
#include <fanin/sharded.hpp>

#include "backends/as_scalar.hpp"
#include "backends/checks.hpp"
#include "backends/choice.hpp"

namespace fanin {
namespace {

/// The number of elements. @throws invalid_argument as reduce() of the parts, which are not 0 in number
std::uint64_t checked_count(std::span<const input_views> parts) {
  std::uint64_t count = 0;
  for (const input_views& part : parts) {
    check_data(part);
    if (part.place() != parts[0].place()) {
      throw invalid_argument("some parts of the sharded data are in host memory, and some are on devices");
    }
    if (part.type() != parts[0].type() || part.size() != parts[0].size()) {
      throw invalid_argument("the parts of the sharded data differ in type or number of inputs");
    }
    count += part.count();
  }
  return count;
}

/// Views without data of as many inputs as each part has, with the count of the elements of all parts.
input_views views_of_all(std::span<const input_views> parts) {
  if (parts.empty()) throw invalid_argument("the sharded data has no parts");
  const array_view all(nullptr, checked_count(parts), parts[0].type(), parts[0].place());
  return parts[0].size() == 1 ? input_views(all) : input_views(all, all);
}

}  // namespace

outcome backend::reduce_parts(const request&, std::span<const input_views>, void*) const {
  throw unsupported(std::string(name()) + " has no devices");
}

report reduce(operation what, const sharded& x, const result_view& value, options chosen) {
  if (!chosen.devices.empty())
    throw unsupported("sharded data is reduced where it is: leave out the option `devices`");
  const input_views all = views_of_all(x.parts());
  check_count(what, all.count());
  check_result(what, value, chosen.result);
  chosen.result = value.type;
  if (all.place() == memory::host) {
    incremental stream(what, all.type(), chosen);
    for (const input_views& part : x.parts()) stream.push(part);
    return stream.finish(value);
  }
  return compute([&] {
    selection s = choose(what, all, chosen);
    return report(s.chosen->name(), s.chosen->reduce_parts(s.what, x.parts(), value.data), std::move(s.fallback));
  });
}

result<scalar> reduce(operation what, const sharded& x, const options& chosen) {
  const element_type type = views_of_all(x.parts()).type();
  return as_scalar(what, chosen.result.value_or(default_result(what, type)),
                   [&](const result_view& value) { return reduce(what, x, value, chosen); });
}

}  // namespace fanin
