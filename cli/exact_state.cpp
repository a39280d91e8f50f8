// SPDX-License-Identifier: Apache-2.0
#include "cli/exact_state.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "backends/cpu/exact.hpp"
#include "cli/input/byte_reader.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"

namespace fanin::cli {

exact_state::exact_state(element_type type) {
  if (!is_floating(type)) {
    throw usage_error(
        fmt::format("--save-state saves sums of floating-point numbers, and these elements are {}", to_string(type)));
  }
  if (default_result(operation::sum, type) == element_type::f32) {
    sum_ = exact_accumulator<float>();
  } else {
    sum_ = exact_accumulator<double>();
  }
}

exact_state exact_state::load(const std::string& path) {
  const descriptor file(path);
  byte_reader in(file.get(), input_name(path));
  const std::span bytes = in.peek(exact_accumulator<double>::saved_bytes + 1);  // Enough to reject a longer file.
  return with_input_name(in.name(), [&] {
    constexpr std::size_t size_at = 4;
    const bool single = bytes.size() > size_at && bytes[size_at] == std::byte{sizeof(float)};
    exact_state loaded(single ? element_type::f32 : element_type::f64);
    if (single) {
      loaded.sum_ = exact_accumulator<float>::load(bytes);
    } else {
      loaded.sum_ = exact_accumulator<double>::load(bytes);
    }
    return loaded;
  });
}

element_type exact_state::type() const noexcept { return sum_.index() == 0 ? element_type::f32 : element_type::f64; }

void exact_state::add(const array_view& elements) {
  with_element(elements.type, [&]<class T>() {
    if constexpr (floating<T>) {
      using N = computed_as<T>;
      const auto* const x = static_cast<const T*>(elements.data);
      auto& sum = std::get<exact_accumulator<N>>(sum_);
      if constexpr (computable<T>) {
        cpu::add_exact(x, elements.count, sum);
      } else {
        std::vector<N> block;
        for (std::size_t begin = 0; begin < elements.count; begin += block.size()) {
          block.assign(x + begin, x + begin + std::min<std::size_t>(elements.count - begin, 1 << 16));
          cpu::add_exact(block.data(), block.size(), sum);
        }
      }
    }
  });
}

void exact_state::merge(const exact_state& other) {
  std::visit([&]<class Sum>(Sum& sum) { sum.merge(std::get<Sum>(other.sum_)); }, sum_);
}

scalar exact_state::rounded(operation what, element_type result) const {
  const auto as = [&]<class R>(R) {
    return std::visit(
        [&](const auto& sum) -> scalar {
          return row_of(what).value == sum_value::mean ? sum.template mean<R>() : sum.template round<R>();
        },
        sum_);
  };
  return with_element(result, [&]<class R>() -> scalar {
    if constexpr (floating<R>) return as(R());
    return {};
  });
}

std::optional<std::uint64_t> exact_state::count() const {
  return std::visit(
      []<class Sum>(const Sum& sum) -> std::optional<std::uint64_t> {
        if (sum.count() == Sum::unknown_count) return std::nullopt;
        return sum.count();
      },
      sum_);
}

void exact_state::save(output_file& file) const {
  std::visit([&](const auto& sum) { file.write(sum.save()); }, sum_);
  file.commit();
}

}  // namespace fanin::cli
