// SPDX-License-Identifier: Apache-2.0
#include "cli/exact_state.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "backends/cpu/exact.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// Reads the file, up to one byte more than a state can have, which is enough to reject a longer file.
std::vector<std::byte> bytes_of(const std::string& path) {
  std::vector<char> text(exact_accumulator<double>::saved_bytes + 1);
  std::ifstream file(path, std::ios::binary);
  bool readable = file.is_open();
  try {
    if (readable) text.resize(static_cast<std::size_t>(file.rdbuf()->sgetn(text.data(), std::ssize(text))));
  } catch (const std::ios_base::failure&) {  // A directory can be opened, but not read.
    readable = false;
  }
  if (!readable) throw bad_data(fmt::format("{}: {}", one_line(path), std::strerror(errno)));
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

exact_state::exact_state(element_type type) {
  if (type == element_type::f32) {
    sum_ = exact_accumulator<float>();
  } else if (type == element_type::f64) {
    sum_ = exact_accumulator<double>();
  } else {
    throw usage_error(
        fmt::format("only sums of f32 and f64 have a state; these are elements of {}", to_string(type)));
  }
}

exact_state exact_state::load(const std::string& path) {
  const std::vector<std::byte> bytes = bytes_of(path);
  return with_input_name(one_line(path), [&] {
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
  std::visit(
      [&]<class T>(exact_accumulator<T>& sum) {
        cpu::add_exact(static_cast<const T*>(elements.data), elements.count, sum);
      },
      sum_);
}

void exact_state::merge(const exact_state& other) {
  std::visit([&]<class Sum>(Sum& sum) { sum.merge(std::get<Sum>(other.sum_)); }, sum_);
}

scalar exact_state::rounded(operation what, element_type result) const {
  const auto as = [&]<class R>(R) {
    return std::visit(
        [&](const auto& sum) -> scalar {
          return what == operation::mean ? sum.template mean<R>() : sum.template round<R>();
        },
        sum_);
  };
  return result == element_type::f32 ? as(0.0f) : as(0.0);
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
