// SPDX-License-Identifier: Apache-2.0
// Descriptions in the C interface.
#include "backends/c/convert.hpp"

namespace {

using namespace fanin;

template <class T>
fanin_number number_of(const T& value) {
  fanin_number number{};
  static_assert(sizeof value <= sizeof number);
  std::memcpy(&number, &value, sizeof value);
  return number;
}

/// Describes the input, on the context where there is one.
template <class... Context>
void describe(const fanin_input* input, const fanin_options* given, fanin_description* description,
              fanin_report* report, Context&... context) {
  const options chosen = c::options_of(given);
  const input_views x = c::inputs_of(operation::sum, input);
  fanin_description out = c::copied(description, "the description");
  if (is_complex(x.type())) throw unsupported("complex numbers have no order, so there is no description of them");
  with_element(x.type(), [&]<class T>() {
    if constexpr (!complex_number<T>) {
      fanin::description<T> all{};
      c::write_report(detail::describe(x, all, chosen, context...), report);
      if (all.sum_overflows && out.struct_size <= offsetof(fanin_description, sum_overflows)) {
        throw overflow("the sum does not fit in 64 bits");
      }
      out.sum_overflows = all.sum_overflows;
      out.count = all.count, out.nan = all.nan;
      out.type = static_cast<fanin_type>(x.type());
      out.sum_type = static_cast<fanin_type>(type_of<decltype(all.sum)>);
      out.quotient_type = static_cast<fanin_type>(type_of<decltype(all.mean)>);
      out.min = number_of(all.min), out.max = number_of(all.max), out.sum = number_of(all.sum);
      out.mean = number_of(all.mean), out.standard_deviation = number_of(all.standard_deviation);
    }
  });
  c::write_back(out, description);
}

}  // namespace

fanin_status fanin_describe(const fanin_input* input, const fanin_options* options, fanin_description* description,
                            fanin_report* report) {
  return c::guarded([&] { describe(input, options, description, report); });
}

fanin_status fanin_context_describe(fanin_context* context, const fanin_input* input, const fanin_options* options,
                                    fanin_description* description, fanin_report* report) {
  return c::guarded(
      [&] { describe(input, options, description, report, c::required(context, "the context")->work); });
}
