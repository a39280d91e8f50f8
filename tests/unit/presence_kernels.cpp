// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that copy elements with stand-ins for absent ones, run on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/kernels/block_on_cpu.hpp"

// These headers have to come after block_on_cpu.hpp.
#include "backends/cuda/presence/copy_kernels.cuh"
#include "tests/support/masked.hpp"

namespace fanin::test {
namespace {

/// The largest word whose bits without the sign are a number's.
template <class U>
constexpr U largest_number = sizeof(U) == 8 ? static_cast<U>(0x7ff0000000000000) : static_cast<U>(0x7f800000);

/// Which elements take part, by the definition.
template <class U>
std::vector<std::size_t> present_in(const cuda::words<U>& from) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < from.count; ++i) {
    const auto number = [&](U bits) { return (bits & static_cast<U>(~U{0}) >> 1) <= from.largest_number; };
    const auto* const mask = static_cast<const std::uint8_t*>(from.mask.data);
    const std::uint64_t place = from.mask.first + i;
    const bool selected =
        mask == nullptr ||
        (from.mask.form == mask_form::bytes ? mask[place] != 0 : (mask[place / 8] & 1u << place % 8) != 0);
    if (selected && number(from.x[i]) && (from.y == nullptr || number(from.y[i]))) found.push_back(i);
  }
  return found;
}

/// Copies in parts of `longest` elements, on `blocks` blocks, are the inputs with stand-ins, from their first element
/// that takes part on if that one is the stand-in.
template <class U>
void expect_copies(const cuda::words<U>& from, bool is_first_present, std::size_t longest, unsigned blocks) {
  cuda::presence_counts counts{0, 0};
  if (is_first_present) {
    counts.first = ~std::uint64_t{0};
    auto* const first = reinterpret_cast<unsigned long long*>(&counts.first);
    launch(blocks, cuda::presence_threads, [&] { cuda::find_first(from, first); });
  }
  const cuda::stand_ins<U> absent{is_first_present, 77, 78};
  const U guard = 79;
  std::vector<U> x(from.count + 1, guard), y(from.count + 1, guard);
  for (std::size_t begin = 0; begin < from.count; begin += longest) {
    const cuda::copied_words<U> to{begin, std::min(longest, from.count - begin), x.data() + begin, y.data() + begin};
    launch(blocks, cuda::presence_threads, [&] { cuda::copy_present(from, absent, to, &counts); });
  }
  const std::vector<std::size_t> present = present_in(from);
  const std::size_t first = is_first_present && !present.empty() ? present[0] : 0;
  std::vector<U> of_x(from.count + 1, is_first_present && !present.empty() ? from.x[first] : 77);
  std::vector<U> of_y(from.count + 1, from.y != nullptr ? 78 : guard);
  for (const std::size_t i : present) {
    of_x[i - first] = from.x[i];
    if (from.y != nullptr) of_y[i - first] = from.y[i];
  }
  of_x.back() = of_y.back() = guard;
  CHECK(x == of_x);
  CHECK(y == of_y);
  CHECK(counts.present == present.size());
  if (is_first_present) CHECK(counts.first == (present.empty() ? ~std::uint64_t{0} : first));
}

}  // namespace

TEST_SUITE("unit/presence_kernels") {
  TEST_CASE_TEMPLATE("copies with stand-ins, in one part and in several", U, std::uint32_t, std::uint64_t) {
    generator random(31);
    constexpr std::size_t count = 5003;
    for (const std::size_t lead : {std::size_t{0}, std::size_t{300}, std::size_t{2500}, count}) {
      std::vector<U> x(count), y(count);
      std::vector<std::uint8_t> mask(count);
      for (std::size_t i = 0; i < count; ++i) {
        const auto word = [&] {
          const U special[] = {static_cast<U>(~U{0}), largest_number<U>};
          return random() % 4 == 0 ? special[random() % 2] : static_cast<U>(i + 1000);
        };
        x[i] = word();
        y[i] = word();
        mask[i] = i < lead || random() % 4 == 0 ? 0 : static_cast<std::uint8_t>(1 + random() % 255);
      }
      const std::vector<std::uint8_t> bits = bits_of_mask(mask, 5);
      const U number = largest_number<U>, any = static_cast<U>(~U{0}) >> 1;
      const mask_view of_bytes{mask.data(), 0, mask_form::bytes}, of_bits{bits.data(), 5, mask_form::bits};
      for (const std::size_t longest : {count, std::size_t{2048}}) {
        for (const unsigned blocks : {1u, 2u}) {
          expect_copies<U>({x.data(), nullptr, of_bytes, count, any}, false, longest, blocks);
          expect_copies<U>({x.data(), y.data(), of_bits, count, number}, false, longest, blocks);
          expect_copies<U>({x.data(), nullptr, {}, count, number}, true, longest, blocks);
          expect_copies<U>({x.data(), nullptr, of_bits, count, number}, true, longest, blocks);
        }
      }
    }
  }
}

}  // namespace fanin::test
