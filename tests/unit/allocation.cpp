// SPDX-License-Identifier: Apache-2.0
// Tests that repeated calls allocate nothing, by counting the calls of operator new in all threads of the process.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

namespace {

std::atomic<long> allocations{0};
std::atomic<std::size_t> largest_block{static_cast<std::size_t>(-1)};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (bytes > largest_block) throw std::bad_alloc();
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The other forms of operator new and delete call these.
void* operator new(std::size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

TEST_SUITE("unit/allocation") {
  TEST_CASE("a plan and a small verb allocate nothing with auto either") {
    const std::vector<float> x(1000, 1.23f);
    const fanin::plan sum(fanin::operation::sum, fanin::element_type::f32);
    const auto both = [&] {
      (void)sum(std::span<const float>(x));
      (void)fanin::sum(x);
    };
    both();
    const long before = allocations;
    both();
    CHECK(allocations == before);
  }

  TEST_CASE("host memory that runs out is the library's own error") {
    const std::vector<double> x(1000, 1.23);
    const fanin::plan sum(fanin::operation::sum, fanin::element_type::f64,
                          {.backend = "serial", .variant = "recursive"});
    largest_block = 1000;
    bool own = false;
    try {
      (void)sum(std::span<const double>(x));
    } catch (const fanin::out_of_memory&) {
      own = true;
    } catch (...) {
    }
    largest_block = static_cast<std::size_t>(-1);
    CHECK(own);
  }

  TEST_CASE("no allocation in steady state") {
    using namespace fanin;
    const std::vector<double> x(400000, 1.23);  // Large enough for several threads.
    REQUIRE(allocations > 0);
    for (const std::string name : {"serial", "openmp", "tbb"}) {
      if (!find_backend(name).probe().usable()) continue;
      for (const method how : all_methods) {
        const plan sum_of_doubles(operation::sum, element_type::f64, {.backend = name, .method = how});
        for (const std::size_t count : {std::size_t{100}, std::size_t{40000}, x.size()}) {
          CAPTURE(name);
          CAPTURE(to_string(how));
          CAPTURE(count);
          const options chosen{.backend = name, .method = how};
          const auto all_calls = [&] {
            const auto input = std::span<const double>(x).first(count);
            (void)sum(input, chosen);
            (void)sum(input, {.backend = name, .variant = to_string(how) == "fast" ? "simd" : to_string(how)});
            (void)min(input, chosen);
            (void)sum_of_doubles(input);
          };
          for (int i = 0; i < 20; ++i) all_calls();
          const long before = allocations;
          for (int i = 0; i < 30; ++i) all_calls();
          CHECK(allocations == before);
        }
      }
    }
  }
}
