// SPDX-License-Identifier: Apache-2.0
// The GPU backends describe this machine correctly, with or without a device.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include <fanin/device.hpp>

namespace fanin::test {
namespace {

constexpr std::array names{"cuda", "cub", "thrust"};

TEST_SUITE("probe") {
  TEST_CASE("all three backends give the same answer, and a reason that fits") {
    const availability& here = find_backend("cuda").probe();
    for (const char* name : names) CHECK(&find_backend(name).probe() == &here);
    if (here.usable()) return;
    const bool expected =
        here.why == reason::no_driver || here.why == reason::no_device || here.why == reason::too_old;
    CHECK(expected);
    CHECK(!here.detail.empty());
  }

  TEST_CASE("without a device, asking by name fails with the reason and a list falls back") {
    const availability& here = find_backend("cuda").probe();
    if (here.usable()) return;
    const std::vector<float> x(1000000, 0.5f);
    for (const char* name : names) {
      try {
        static_cast<void>(sum(x, {.backend = name}));
        FAIL("a backend without a device gave a sum");
      } catch (const backend_unavailable& refusal) {
        CHECK(std::string(refusal.what()).find(to_string(here.why)) != std::string::npos);
      }
    }
    CHECK_THROWS_AS(device_context(), backend_unavailable);
    const auto answer = sum(x, {.backend = "cuda,cub,thrust,serial"});
    CHECK(answer.value == 500000.0f);
    CHECK(answer.report.backend == "serial");
    REQUIRE(answer.report.fallback.size() == names.size());
    for (const passed_over& p : answer.report.fallback) CHECK(p.why == here.why);
  }

  TEST_CASE("device memory that nobody can read here is refused") {
    if (find_backend("cuda").probe().usable()) return;
    const float nothing = 0;
    CHECK_THROWS_AS(reduce(operation::sum, device_span<float>(&nothing, 1)), unsupported);
  }
}

}  // namespace
}  // namespace fanin::test
