// SPDX-License-Identifier: Apache-2.0
#include "backends/serial/serial.hpp"

#include <algorithm>
#include <array>

#include <fanin/error.hpp>

#include "backends/serial/textbook_sum.hpp"

namespace fanin::serial {
namespace {

/// The textbook sum of that name, or null.
const textbook_sum* find_textbook_sum(std::string_view variant) {
  const auto all = textbook_sums();
  const auto found = std::ranges::find(all, variant, [](const textbook_sum& s) { return s.info.name; });
  return found != all.end() ? &*found : nullptr;
}

std::string adds_every_element(const request& request) {
  return "serial/" + std::string(request.variant) + " adds every element: it takes no mask, and NaN propagate";
}

}  // namespace

std::span<const variant_info> backend::variants() const noexcept {
  static const auto all = [this] {
    std::array<variant_info, 8> list{};
    const auto shipped = cpu_backend::variants();
    auto next = std::copy(shipped.begin(), shipped.end(), list.begin());
    for (const textbook_sum& s : textbook_sums()) *next++ = s.info;
    return list;
  }();
  return all;
}

support backend::prepare(request& request) const {
  request.threads = 1;  // so that cpu_backend does not cut the input into chunks
  support answer = cpu_backend::prepare(request);
  const textbook_sum* const named = find_textbook_sum(request.variant);
  if (!answer.usable() || named == nullptr) return answer;
  const element_type type = request.inputs.type();
  if (request.what != operation::sum || (type != element_type::f32 && type != element_type::f64)) {
    return {reason::unsupported, "serial/" + std::string(request.variant) + " computes sums of f32 or f64 only"};
  }
  if (request.kind != layout::array) {
    return {reason::unsupported, "serial/" + std::string(request.variant) + " computes the sum of one array only"};
  }
  if (is_partial(request.inputs, request.nan)) return {reason::unsupported, adds_every_element(request)};
  request.prepared = type == element_type::f32 ? &named->of_f32 : &named->of_f64;
  return answer;
}

outcome backend::reduce_present(const request& prepared, const input_views& inputs, void* result) const {
  // A plan does not know of a mask.
  if (find_textbook_sum(prepared.variant) != nullptr) throw unsupported(adds_every_element(prepared));
  return cpu_backend::reduce_present(prepared, inputs, result);
}

std::unique_ptr<stream> backend::open(const request& request) const {
  if (find_textbook_sum(request.variant) != nullptr) {
    throw unsupported("serial/" + std::string(request.variant) + " needs its input as a whole, not as a stream");
  }
  return cpu_backend::open(request);
}

void backend::run(unsigned, std::size_t count, task each) const {
  for (std::size_t i = 0; i < count; ++i) each.call(each.context, i);
}

}  // namespace fanin::serial
