// SPDX-License-Identifier: Apache-2.0
// One call of a backend, compared bit by bit and told in words.
#pragma once

#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <type_traits>

#include <fanin/backend.hpp>

namespace fanin::test {

/// A backend's value and report.
struct reduction : outcome {
  scalar value;
};

/// The reduction of a prepared request by `b`.
inline reduction reduced(const backend& b, const request& prepared) {
  return with_result_type(prepared.what, prepared.result, [&]<class R>() {
    R value{};
    const outcome answer = b.reduce(prepared, &value);
    return reduction{answer, value};
  });
}

/// The inputs of an operation on `x`. If there are two inputs, both are `x`, so a dot product is a sum of squares.
inline input_views inputs_for(operation what, const array_view& x) { return detail::repeated(what, x); }

/// The reduction of `x` by `b`, which need not be in the registry, with selection's usual checks of the request.
inline reduction call(const backend& b, operation what, const array_view& x, const options& chosen = {}) {
  const backend* const only[] = {&b};
  return reduced(b, select(only, b.name(), what, inputs_for(what, x), chosen).what);
}

/// A stream of `b` whose blocks are single arrays, which an operation of two inputs reads twice.
class block_feed {
 public:
  block_feed(const backend& b, operation what, element_type type, const options& chosen)
      : request_([&] {
          const backend* const only[] = {&b};
          return select(only, b.name(), what, inputs_for(what, array_view(nullptr, 1, type)), chosen).what;
        }()),
        stream_(b.open(request_)) {}

  void push(const array_view& block) { stream_->push(inputs_for(request_.what, block)); }
  void push(const void* elements, std::size_t count) { push(array_view(elements, count, request_.inputs.type())); }
  reduction finish() {
    return with_result_type(request_.what, request_.result, [&]<class R>() {
      R value{};
      const outcome answer = stream_->finish(&value);
      return reduction{answer, value};
    });
  }

 private:
  request request_;
  std::unique_ptr<stream> stream_;
};

/// Reduces like call(), through a stream that is fed by `feed(block_feed&)`.
template <class Feed>
reduction call_in_blocks(const backend& b, operation what, element_type type, const options& chosen, Feed feed) {
  block_feed blocks(b, what, type, chosen);
  feed(blocks);
  return blocks.finish();
}

template <class T>
auto bits_of(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else if constexpr (narrow_float<T>) {
    return value.bits;
  } else {
    return std::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(value);
  }
}

/// The numbers of a result, or the parts of a complex one, as their bits: one or two.
template <class R>
auto words_of(const R& value) {
  if constexpr (result_traits<R>::form == result_form::indexed) {
    return std::array<std::uint64_t, 2>{bits_of(value.value), value.index};
  } else if constexpr (result_traits<R>::form == result_form::extremes) {
    return std::array<std::uint64_t, 2>{bits_of(value.min), bits_of(value.max)};
  } else if constexpr (complex_number<R>) {
    return std::array<std::uint64_t, 2>{bits_of(value.real()), bits_of(value.imag())};
  } else {
    return std::array<std::uint64_t, 1>{bits_of(value)};
  }
}

/// Whether type and bits are equal: +0 is not -0, and a NaN is itself.
inline bool same(const scalar& a, const scalar& b) {
  return are_alike(a, b) && fanin::visit(
                                [&](const auto& value) {
                                  return words_of(value) == words_of(fanin::get<std::decay_t<decltype(value)>>(b));
                                },
                                a);
}

inline std::string shown(const scalar& value) {
  const auto real = [](auto v) {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g (%s, 0x%" PRIx64 ")", static_cast<double>(v),
                  to_string(type_of<decltype(v)>).data(), static_cast<std::uint64_t>(bits_of(v)));
    return std::string(text);
  };
  const auto number = [&](auto v) {
    if constexpr (complex_number<decltype(v)>) return real(v.real()) + " and i times " + real(v.imag());
    if constexpr (!complex_number<decltype(v)>) return real(v);
  };
  return fanin::visit(
      [&]<class R>(const R& v) {
        if constexpr (result_traits<R>::form == result_form::indexed) {
          return number(v.value) + " at " + std::to_string(v.index);
        } else if constexpr (result_traits<R>::form == result_form::extremes) {
          return number(v.min) + " and " + number(v.max);
        } else {
          return number(v);
        }
      },
      value);
}

/// "fast sum of 17 f32 at +3, variant kahan, 2 threads"
inline std::string told(operation what, const array_view& input, const options& chosen = {}) {
  std::string text = chosen.method ? std::string(to_string(*chosen.method)) + " " : "";
  text += std::string(to_string(what)) + " of " + std::to_string(input.count) + " " +
          std::string(to_string(input.type)) + " at byte " +
          std::to_string(reinterpret_cast<std::uintptr_t>(input.data) % 64) + " of a line";
  if (!chosen.variant.empty()) text += ", variant " + std::string(chosen.variant);
  if (chosen.result) text += ", as " + std::string(to_string(*chosen.result));
  return text + ", threads " + std::to_string(chosen.threads);
}

}  // namespace fanin::test
