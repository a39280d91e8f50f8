#include "backends/serial/serial.hpp"

#include <algorithm>
#include <array>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/error.hpp>

#include "backends/cpu/environment.hpp"
#include "backends/serial/study.hpp"

namespace fanin::serial {
namespace {

const study* find_study(std::string_view name) {
  const auto all = studies();
  const auto found = std::find_if(all.begin(), all.end(), [&](const study& s) { return s.info.name == name; });
  return found != all.end() ? &*found : nullptr;
}

/// The same for one thread, so that the input is not cut into chunks for several.
request alone(request asked) {
  asked.threads = 1;
  return asked;
}

}  // namespace

std::span<const variant_info> backend::variants() const noexcept {
  static const auto all = [this] {
    std::array<variant_info, 8> list{};
    const auto shipped = cpu_backend::variants();
    auto next = std::copy(shipped.begin(), shipped.end(), list.begin());
    for (const study& s : studies()) *next++ = s.info;
    return list;
  }();
  return all;
}

support backend::supports(const request& asked) const {
  support answer = cpu_backend::supports(asked);
  if (answer.usable() && find_study(asked.variant) != nullptr &&
      (asked.what != operation::sum || !is_floating(asked.input.type))) {
    return {reason::unsupported, "serial/" + std::string(asked.variant) + " is a sum of f32 or f64"};
  }
  return answer;
}

outcome backend::reduce(const request& asked) const {
  const study* s = asked.variant.empty() ? nullptr : find_study(asked.variant);
  if (s == nullptr) return cpu_backend::reduce(alone(asked));
  const std::size_t count = asked.input.count;
  cpu::environment_guard guard;
  outcome answer{{}, s->info.name, s->info.how, reproducibility::fixed_order, {}};
  if (asked.input.type == element_type::f32) {
    const float value = s->sum_f32(static_cast<const float*>(asked.input.data), count);
    answer.value = count == 0 ? 0.0f : accumulator::canonical(value);
    answer.bound = s->bound_f32(count);
  } else {
    const double value = s->sum_f64(static_cast<const double*>(asked.input.data), count);
    answer.value = count == 0 ? 0.0 : accumulator::canonical(value);
    answer.bound = s->bound_f64(count);
  }
  return answer;
}

std::unique_ptr<stream> backend::open(const request& asked) const {
  if (!asked.variant.empty() && find_study(asked.variant) != nullptr) {
    throw unsupported("serial/" + std::string(asked.variant) + " needs its input as a whole, not as a stream");
  }
  return cpu_backend::open(alone(asked));
}

void backend::run(unsigned, std::size_t count, cpu::task each) const {
  for (std::size_t i = 0; i < count; ++i) each.call(each.context, i);
}

}  // namespace fanin::serial
