// SPDX-License-Identifier: Apache-2.0
// Any elements of any type: every operation, by every CPU backend, variant and instruction set, gives what MPFR
// gives, correctly rounded or within the reported bound, and the same bits wherever the report promises them: from
// one backend, instruction set and thread count to another, in blocks, from parts that were saved, loaded and merged,
// over ranks, in batches, and in any floating-point environment of the caller.
#include "tests/fuzz/differential_batches.hpp"
#include "tests/fuzz/differential_ranks.hpp"
#include "tests/fuzz/differential_verbs.hpp"
#include "tests/fuzz/patterns.hpp"
#include "tests/support/inputs.hpp"

using namespace fanin;
using namespace fanin::fuzz;

namespace {

template <class T>
std::vector<T> pattern_of(std::uint8_t kind, raw_bytes described) {
  if constexpr (complex_number<T>) {
    return oracle::paired(elements_of<part_of<T>>(kind, described));
  } else {
    return test::as_elements<T>(elements_of<computed_as<T>>(kind, described));
  }
}

}  // namespace

/// Bytes that choose the operation, the type, the kind of elements and the length, the place of a cut and the
/// threads, the caller's environment, and whether verbs, ranks or batches are compared, then the pattern.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t enough_for_threads = std::size_t{2} << 20, enough_for_tiles = 80'000;
  input_bytes in(data, size);
  const operation what = all_operations[in.choice(all_operations.size())];
  const element_type type = all_element_types[in.choice(all_element_types.size())];
  const std::uint8_t kind = in.byte(), length = in.byte(), cut = in.byte();
  const environment& caller = environment_of(in.choice(environment_count));
  const std::size_t compared = in.choice(3);
  const unsigned threads = 1 + cut % 16;
  with_element(type, [&]<class T>() {
    if (!is_offered(what, type, default_method(what, type))) return;
    const raw_bytes described = in.bytes().first(std::min<std::size_t>(in.bytes().size(), 512));
    const std::size_t least = kind == 251 ? enough_for_threads : kind >= 252 && kind < 254 ? enough_for_tiles : 0;
    std::vector<T> pattern = pattern_of<T>(kind, described);
    if (pattern.empty()) return;
    const std::size_t more = (compared == 2 ? least / 64 : least) / sizeof(T) + (kind % 8 < 4 ? length : 0);
    const std::size_t count = pattern.size() + more;
    const fuzzed<T> all(what, std::move(pattern), count, std::hash<std::string_view>()(in.text()) + cut);
    tell_input = [&] {
      return all.told() + "; environment " + std::string(caller.name) + ", threads " + std::to_string(threads);
    };
    if (compared == 0) compare_verbs(all, count * cut / 255, threads, caller);
    if (compared == 1) compare_ranks(all, threads, caller);
    if (compared == 2) compare_batches(all, threads, caller);
  });
  return 0;
}
