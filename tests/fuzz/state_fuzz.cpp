// SPDX-License-Identifier: Apache-2.0
// Any bytes as saved exact sums: what load() accepts it saves again byte by byte, merging commutes and loses nothing,
// every changed byte is refused, and the command's reader accepts the same files.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "cli/exact_state.hpp"
#include "tests/fuzz/file_and_pipe.hpp"

using namespace fanin;
using namespace fanin::fuzz;

namespace {

using byte_span = std::span<const std::byte>;

template <class Sum>
std::optional<Sum> loaded(byte_span bytes) {
  try {
    return Sum::load(bytes);
  } catch (const invalid_argument&) {
    return std::nullopt;
  }
}

/// The sum of both, as saved bytes; nothing where there are more elements than a state can count.
template <class Sum>
auto merged(Sum a, const Sum& b) -> std::optional<decltype(a.save())> {
  try {
    a.merge(b);
  } catch (const overflow&) {
    return std::nullopt;
  }
  return a.save();
}

/// Makes the header and the checksum right, so that only the fields between them are judged.
template <class Sum>
void repair(std::vector<std::byte>& bytes) {
  bytes.resize(Sum::saved_bytes);
  std::copy_n(Sum().save().begin(), 6, bytes.begin());
  const std::size_t end = bytes.size() - 4;
  detail::put_little_endian(detail::crc32({bytes.data(), end}), bytes.data() + end);
}

template <class Sum>
void expect_loadable(const Sum& sum, std::size_t at, std::byte change) {
  auto bytes = sum.save();
  const auto again = loaded<Sum>(bytes);
  expect(again && again->save() == bytes, "a saved state is loaded and saved with the same bytes");
  expect(merged(sum, Sum()) == bytes && merged(Sum(), sum) == bytes, "merging with nothing changes nothing");
  if (change == std::byte{0}) return;
  bytes[at % bytes.size()] ^= change;
  expect(!loaded<Sum>(bytes), "a state with a changed byte is refused");
}

template <class Sum>
void expect_merge(const Sum& a, const Sum& b) {
  const auto both = merged(a, b);
  expect(both == merged(b, a), "merging commutes");
  if (both) expect(loaded<Sum>(*both).has_value(), "a merged state can be loaded");
}

/// Reads the state like `fanin merge`, which takes sums of f32 and f64.
template <class Sum>
void expect_file(byte_span bytes, const std::optional<Sum>& state) {
  const std::span raw(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const numbered_descriptor file(numbered_descriptor::kind::file, raw);
  try {
    const auto from_file = cli::exact_state::load(numbered_descriptor::path());
    if (from_file.type() != type_of<typename Sum::value_type>) return;
    expect(state.has_value() && from_file.count().value_or(Sum::unknown_count) == state->count(),
           "the command loads the state that the library loads");
  } catch (const cli::bad_data&) {
    expect(!state, "the command loads what the library loads");
  }
}

template <class T, int Power>
void judge(std::uint8_t choices, std::size_t at, std::byte change, byte_span input) {
  using sum = basic_exact_accumulator<T, Power>;
  const std::size_t cut = std::min(input.size(), input.size() * (choices >> 3) / 16);
  std::vector<std::byte> halves[] = {{input.begin(), input.begin() + static_cast<std::ptrdiff_t>(cut)},
                                     {input.begin() + static_cast<std::ptrdiff_t>(cut), input.end()}};
  std::optional<sum> states[2];
  for (int i = 0; i < 2; ++i) {
    if (choices & 4) {
      std::vector<T> x(halves[i].size() / sizeof(T));
      if (!x.empty()) std::memcpy(x.data(), halves[i].data(), x.size() * sizeof(T));
      states[i].emplace().add(x);
    } else {
      if (i == 1 || choices >= 128) repair<sum>(halves[i]);
      states[i] = loaded<sum>(halves[i]);
      if constexpr (Power == 1) expect_file(halves[i], states[i]);
      const bool current = states[i] && halves[i][3] != std::byte{1};
      if (current) expect(std::ranges::equal(states[i]->save(), halves[i]), "an accepted state is saved as it was");
    }
    if (states[i]) expect_loadable(*states[i], at, change);
  }
  if (states[0] && states[1]) expect_merge(*states[0], *states[1]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input_bytes in(data, size);
  const std::uint8_t choices = in.byte(), high = in.byte(), low = in.byte();
  const std::size_t at = std::size_t{high} << 8 | low;
  const std::byte change{in.byte()};
  constexpr void (*kinds[])(std::uint8_t, std::size_t, std::byte, byte_span) = {judge<float, 1>, judge<float, 2>,
                                                                                judge<double, 1>, judge<double, 2>};
  kinds[choices & 3](choices, at, change, std::as_bytes(in.bytes()));
  return 0;
}
