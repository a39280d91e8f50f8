// SPDX-License-Identifier: Apache-2.0
// Positions and pairs of elements that reach the general loop from host memory, which is copied in chunks.
#include <doctest/doctest.h>

#include "backends/cuda/host_data/upload_pipeline.hpp"
#include "backends/cuda/kernels.cuh"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/own_accumulators.hpp"

namespace fanin::test {
namespace {

/// A recipe that is not in the catalogue.
template <class A>
struct own_recipe : recipe<operation::sum, method::fast, float> {
  using accumulator = A;
  using result = typename A::result;
};

template <class A>
const cuda::kernel_launcher& general_fold_of() {
  using state = typename A::state;
  static const cuda::state_functions host = [] {
    cuda::state_functions f{};
    f.order_free = true;
    f.longest = ~std::uint64_t{0};
    f.reset = [](void* total) { ::new (total) state(A::identity()); };
    f.merge_partial = [](void* total, const void* partial) {
      A::merge(*static_cast<state*>(total), *static_cast<const state*>(partial));
    };
    return f;
  }();
  static const cuda::general_fold<own_recipe<A>> fold(host);
  return fold;
}

/// The place that a fold of `arrays` of `count` elements finds.
template <class A>
std::uint64_t place_in(std::span<const void* const> arrays, std::size_t count) {
  cuda::upload_pipeline feed(cuda::default_context(0), general_fold_of<A>(), sizeof(float),
                             static_cast<int>(arrays.size()));
  feed.fold_arrays(arrays, count, 3);
  return static_cast<const typename A::state*>(feed.total())->place;
}

}  // namespace

TEST_SUITE("host_positions") {
  TEST_CASE("positions go on from chunk to chunk") {
    if (!device_is_here()) return;
    constexpr std::size_t count = 3 * cuda::chunk_bytes / sizeof(float) + 12345;
    std::vector<float> x(count, 0.5f), y(count, 1.0f);
    const void* const arrays[] = {x.data(), y.data()};
    const std::size_t chunk = cuda::chunk_bytes / sizeof(float);
    for (const std::size_t place :
         {std::size_t{0}, chunk / 2 - 1, chunk / 2, chunk - 1, chunk, 2 * chunk + 7, count - 1}) {
      CAPTURE(place);
      x[place] = 2;
      CHECK(place_in<place_of_largest>(std::span(arrays).first(1), count) == place);
      CHECK(place_in<place_of_largest_product>(arrays, count) == place);
      x[place] = 0.5f;
      y[place] = 3;
      CHECK(place_in<place_of_largest_product>(arrays, count) == place);
      y[place] = 1;
    }
  }
}

}  // namespace fanin::test
