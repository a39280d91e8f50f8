// SPDX-License-Identifier: Apache-2.0
// Tests of fanin device. Tests of the GPU part need a GPU; without one, the reason is tested.
#include <doctest/doctest.h>

#include <fanin/backend.hpp>

#include "cli/kit/facts.hpp"
#include "measure/ceiling.hpp"
#include "tests/cli/process.hpp"
#include "tests/support/targets.hpp"
#include "tests/support/usable.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("facts: one list for JSON and for text") {
  const std::vector<fact> facts = {{"L2 cache", 50 * 1024 * 1024, unit::bytes},
                                   {"odd size", 1536, unit::bytes},
                                   {"few", 100, unit::bytes},
                                   {"fastest clock", 1.98e9, unit::hertz},
                                   {"bus", 6144, unit::bits},
                                   {"read", 4814.04, unit::gigabytes_per_second},
                                   {"block at most", {1024, 1024, 64}},
                                   {"ECC", true},
                                   {"cores", nullptr},
                                   {"latency in cycles", 4.8771209716796875},
                                   {"name", "a device"}};
  const json object = as_json(facts);
  CHECK(object["l2_cache_bytes"] == 52428800);
  CHECK(object["fastest_clock_hertz"] == 1.98e9);
  CHECK(object["bus_bits"] == 6144);
  CHECK(object["read_gigabytes_per_second"] == 4814.04);
  CHECK(object["block_at_most"] == json::array({1024, 1024, 64}));
  CHECK(object["ecc"] == true);
  CHECK(object["cores"].is_null());
  CHECK(object["latency_in_cycles"] == 4.8771209716796875);
  std::string text;
  for (const table_row& row : as_rows(facts)) text += row[1] + "|";
  CHECK(text == "50 MiB|1.5 KiB|100 bytes|1980 MHz|6144 bits|4814.0 GB/s|1024 x 1024 x 64|yes|unknown|4.9|a device|");
}

TEST_CASE("the code path is the instruction set that runs") {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const test::only_target forced(target);
    const measure::simd_path path = measure::simd_in_use();
    CHECK(std::string_view(path.name) == hwy::TargetName(target));
    CHECK(path.vector_bytes >= 8);
    CHECK(path.vector_bytes <= 256);
  }
}

TEST_CASE("the CPU's side: cores, caches, reads by 1 thread up to all") {
  const scratch_folder here;
  const json cpu = parsed(here.fanin("device --json"))["cpu"];
  CAPTURE(cpu.dump());
  CHECK(cpu["logical_cores"].get<unsigned>() >= 1);
  CHECK(cpu["cores_that_this_process_may_use"] == default_threads());
  CHECK(cpu["code_path"] == measure::simd_in_use().name);
  CHECK(cpu["vector_width_bits"] == 8 * measure::simd_in_use().vector_bytes);
  const json reads = cpu["measured_reads"];
  CHECK(reads["bytes"].get<std::size_t>() >= std::size_t{1} << 28);
  CHECK(reads["rates"].front()["threads"] == 1);
  CHECK(reads["rates"].back()["threads"] == default_threads());
  for (const json& one : reads["rates"]) {
    CHECK(one["gigabytes_per_second"].get<double>() > 0.01);
    CHECK(one["gigabytes_per_second"].get<double>() < 10000);
  }
}

TEST_CASE("without a usable GPU it says why and is content") {
  const availability& state = find_backend("cuda").probe();
  if (state.usable()) return;
  const scratch_folder here;
  const json gpu = parsed(here.fanin("device --json"))["gpu"];
  CHECK(gpu["usable"] == false);
  CHECK(gpu["reason"] == to_string(state.why));
  CHECK(gpu["detail"] == state.detail);
  CHECK(gpu["devices"] == json::array());
  const finished run = here.fanin("device");
  CHECK(run.status == 0);
  CHECK(run.out.find("GPU: not usable (" + std::string(to_string(state.why)) + "): ") != std::string::npos);
}

TEST_CASE("what is not there is refused") {
  const scratch_folder here;
  check_failure(here.fanin("device --jsn"), 2, "unknown option '--jsn'; did you mean '--json'?");
  check_failure(here.fanin("devise"), 2, "unknown subcommand 'devise'; did you mean 'device'?");
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("device_gpu");

TEST_CASE("the GPU's side: properties that fit together, and no read above what the memory can give") {
  if (!test::usable(find_backend("cuda"))) return;
  const scratch_folder here;
  const json gpu = parsed(here.fanin("device --json"))["gpu"];
  CHECK(gpu["usable"] == true);
  REQUIRE_FALSE(gpu["devices"].empty());
  for (const json& one : gpu["devices"]) {
    CAPTURE(one.dump());
    CHECK(one["warp_size"] == 32);
    CHECK(one["threads_per_multiprocessor_at_most"] == 32 * one["warps_per_multiprocessor_at_most"].get<int>());
    CHECK(one["threads_per_block_at_most"] == 1024);
    CHECK(one["constant_memory_bytes"] == 65536);
    CHECK(one["shared_memory_per_block_bytes"] <= one["shared_memory_per_block_at_most_bytes"]);
    CHECK(one["shared_memory_per_block_at_most_bytes"] <= one["shared_memory_per_multiprocessor_bytes"]);
    CHECK(one["measured_read_gigabytes_per_second"] <= one["theoretical_bandwidth_gigabytes_per_second"]);
    CHECK(one["measured_read_gigabytes_per_second"].get<double>() > 1);
    CHECK(one["measured_copy_from_pinned_memory_gigabytes_per_second"].get<double>() > 0.1);
    CHECK(one["measured_copy_from_pageable_memory_gigabytes_per_second"].get<double>() > 0.1);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
