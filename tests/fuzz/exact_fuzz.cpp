// Any floats at all: every CPU backend, one addition after the other from the end, and parts that were saved, loaded
// and merged have the same exact sum, and it is the right one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <fanin/accumulator/exact.hpp>

#include "tests/support/call.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/sum_oracle.hpp"

using namespace fanin;

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

template <class T>
exact_accumulator<T> sum_of(std::span<const T> x) {
  exact_accumulator<T> sum;
  sum.add(x);
  return sum;
}

template <class T>
void compare(std::span<const T> x, std::size_t cut, unsigned threads) {
  exact_accumulator<T> backwards;
  for (std::size_t i = x.size(); i-- > 0;) backwards.add(x[i]);
  auto merged = exact_accumulator<T>::load(sum_of(x.subspan(cut)).save());
  merged.merge(exact_accumulator<T>::load(sum_of(x.first(cut)).save()));
  expect(merged.save() == backwards.save());

  const T sum = backwards.round();
  const double wide = backwards.template round<double>();
  const test::sum_oracle exact(x);
  expect(exact.accepts(sum) && exact.accepts(wide));
  for (const backend* b : test::cpu_backends()) {
    options chosen{.how = method::exact, .threads = threads};
    expect(test::same(test::call(*b, operation::sum, x, chosen).value, sum));
    if (!x.empty()) {
      const T mean = backwards.mean(x.size());
      expect(test::same(test::call(*b, operation::mean, x, chosen).value, mean));
      expect(exact.accepts(mean, static_cast<std::uint32_t>(x.size())));
    }
    chosen.result = element_type::f64;
    expect(test::same(test::call(*b, operation::sum, x, chosen).value, wide));
  }
}

/// The elements in `bytes`, repeated until there are at least `least` bytes of them.
template <class T>
void compare_bytes(std::span<const std::uint8_t> bytes, std::size_t least, unsigned cut) {
  const std::size_t count = bytes.size() / sizeof(T);
  std::vector<T> x(count == 0 ? 0 : std::max(count, least / sizeof(T)));
  for (std::size_t i = 0; i < x.size(); ++i) std::memcpy(&x[i], &bytes[i % count * sizeof(T)], sizeof(T));
  compare(std::span<const T>(x), x.size() * cut / 255, 1 + cut % 16);
}

}  // namespace

/// A byte that chooses type and length, one for the place of a cut and the threads, then the elements.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t enough_for_threads = (std::size_t{2} << 20) + 5000, enough_for_tiles = 80'000;
  if (size < 2) return 0;
  const unsigned choices = data[0];
  const std::size_t least = choices == 127 || choices == 128 ? enough_for_threads
                            : choices >= 224                 ? enough_for_tiles
                                                             : 0;
  const auto compare_as = choices % 2 == 0 ? compare_bytes<double> : compare_bytes<float>;
  compare_as(std::span(data, size).subspan(2), least, data[1]);
  return 0;
}
