// SPDX-License-Identifier: Apache-2.0
#include "backends/serial/serial.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/error.hpp>

#include "backends/serial/textbook_sum.hpp"

namespace fanin::serial {
namespace {

/// The textbook_sum that a request is prepared for, or null.
const textbook_sum* textbook_sum_of(const request& request) {
  const auto all = textbook_sums();
  const auto* const prepared = static_cast<const textbook_sum*>(request.prepared);
  return std::less_equal<>()(all.data(), prepared) && std::less<>()(prepared, all.data() + all.size()) ? prepared
                                                                                                       : nullptr;
}

std::string adds_every_element(const request& request) {
  return "serial/" + std::string(request.variant) + " adds every element: it takes no mask, and NaN propagate";
}

template <class T>
outcome run_textbook_sum(const textbook_sum& s, T (*sum)(const T*, std::size_t), error_bound (*bound)(std::uint64_t),
                         const array_view& x, void* result) {
  const T value = sum(static_cast<const T*>(x.data), x.count);
  *static_cast<T*>(result) = x.count == 0 ? T{0} : accumulator::canonical(value);
  return {s.info.name, s.info.method, reproducibility::fixed_order, bound(x.count)};
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
  const auto all = textbook_sums();
  const auto named =
      std::find_if(all.begin(), all.end(), [&](const textbook_sum& s) { return s.info.name == request.variant; });
  if (!answer.usable() || named == all.end()) return answer;
  const element_type type = request.inputs.type();
  if (request.what != operation::sum || (type != element_type::f32 && type != element_type::f64)) {
    return {reason::unsupported, "serial/" + std::string(request.variant) + " computes sums of f32 or f64 only"};
  }
  if (request.kind != layout::array) {
    return {reason::unsupported, "serial/" + std::string(request.variant) + " computes the sum of one array only"};
  }
  if (is_partial(request.inputs, request.nan)) return {reason::unsupported, adds_every_element(request)};
  request.prepared = &*named;
  return answer;
}

outcome backend::reduce(const request& request, void* result) const {
  const textbook_sum* const s = textbook_sum_of(request);
  if (s == nullptr) return cpu_backend::reduce(request, result);
  if (request.inputs.mask()) throw unsupported(adds_every_element(request));  // which a plan does not know
  const array_view& x = request.inputs[0];
  return x.type == element_type::f32 ? run_textbook_sum(*s, s->sum_f32, s->bound_f32, x, result)
                                     : run_textbook_sum(*s, s->sum_f64, s->bound_f64, x, result);
}

report backend::reduce_inputs(const request& prepared, const input_views& inputs, void* result) const {
  return textbook_sum_of(prepared) == nullptr ? cpu_backend::reduce_inputs(prepared, inputs, result)
                                              : fanin::backend::reduce_inputs(prepared, inputs, result);
}

std::unique_ptr<stream> backend::open(const request& request) const {
  if (textbook_sum_of(request) != nullptr) {
    throw unsupported("serial/" + std::string(request.variant) + " needs its input as a whole, not as a stream");
  }
  return cpu_backend::open(request);
}

void backend::run(unsigned, std::size_t count, cpu::task each) const {
  for (std::size_t i = 0; i < count; ++i) each.call(each.context, i);
}

}  // namespace fanin::serial
