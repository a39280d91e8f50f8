// SPDX-License-Identifier: Apache-2.0
// Tests of the threads that copy in pieces: each byte is copied once, and no thread writes after the call has
// returned.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "backends/cuda/runtime/copy_crew.hpp"
#include "tests/support/inputs.hpp"

using fanin::cuda::copy_crew;

namespace {

constexpr std::size_t piece = copy_crew::piece_bytes;
constexpr std::byte untouched{0xa5};

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  fanin::test::generator random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

TEST_SUITE("unit/copy_crew") {
  TEST_CASE("every size arrives whole and in order, with any number of threads") {
    const auto from = random_bytes(9 * piece + 5, 1);
    copy_crew crew;
    for (const unsigned threads : {1u, 2u, 5u, 100u, 3u}) {
      crew.set_threads(threads);
      for (const std::size_t bytes : {std::size_t{1}, piece - 1, piece, piece + 1, 9 * piece + 5}) {
        CAPTURE(threads);
        CAPTURE(bytes);
        std::vector<std::byte> to(bytes + 1, untouched);
        crew.add(to.data(), from.data(), bytes);
        std::size_t arrived = 0;
        while (const std::size_t more = crew.finish_next()) {
          CHECK(more == std::min(piece, bytes - arrived));
          CHECK(std::equal(to.begin() + static_cast<std::ptrdiff_t>(arrived),
                           to.begin() + static_cast<std::ptrdiff_t>(arrived + more),
                           from.begin() + static_cast<std::ptrdiff_t>(arrived)));
          arrived += more;
        }
        CHECK(arrived == bytes);
        CHECK(to[bytes] == untouched);
      }
    }
  }

  TEST_CASE("what was handed out may be filled again while the rest is copied") {
    constexpr std::size_t slots = 3, slot_bytes = 4 * piece, rounds = 12;
    const auto from = random_bytes(rounds * slot_bytes, 2);
    std::vector<std::byte> ring(slots * slot_bytes), arrived;
    arrived.reserve(from.size());
    copy_crew crew;
    crew.set_threads(4);
    std::size_t added = 0;
    for (std::size_t taken = 0; taken < from.size();) {
      for (; added < from.size() && added < taken - taken % slot_bytes + slots * slot_bytes; added += slot_bytes) {
        crew.add(ring.data() + added % ring.size(), from.data() + added, slot_bytes);
      }
      const std::size_t bytes = crew.finish_next();
      REQUIRE(bytes > 0);
      const std::byte* next = ring.data() + taken % ring.size();
      arrived.insert(arrived.end(), next, next + bytes);
      taken += bytes;
    }
    CHECK_FALSE(crew.next_is_done());
    CHECK(crew.finish_next() == 0);
    CHECK(arrived == from);
  }

  TEST_CASE("helpers copy while the caller is away") {
    const auto from = random_bytes(8 * piece, 3);
    std::vector<std::byte> to(from.size());
    copy_crew crew;
    crew.set_threads(2);
    for (int round = 0; round < 2; ++round) {  // In the second round the helper has to be woken.
      to.assign(to.size(), untouched);
      crew.add(to.data(), from.data(), from.size());
      while (!crew.next_is_done()) std::this_thread::yield();
      while (crew.finish_next() > 0) {
      }
      CHECK(to == from);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  TEST_CASE("a piece is whole when it is handed out") {
    const auto from = random_bytes(16 * piece, 6);
    std::vector<std::byte> to(from.size());
    copy_crew crew;
    crew.set_threads(3);
    int incomplete = 0;
    for (int round = 0; round < 1000; ++round) {
      for (std::size_t end = piece; end <= to.size(); end += piece) to[end - 1] = ~from[end - 1];
      crew.add(to.data(), from.data(), from.size());
      // The helpers get ahead. The caller soon comes up with them, and has to wait for the piece in their hands.
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      for (std::size_t end = piece; end <= to.size(); end += piece) {
        crew.finish_next();
        incomplete += to[end - 1] != from[end - 1];
      }
    }
    CHECK(incomplete == 0);
    CHECK_FALSE(crew.next_is_done());  // also after more pieces than there is room for
  }

  TEST_CASE("alone, the caller copies, and only when asked") {
    const auto from = random_bytes(2 * piece, 4);
    std::vector<std::byte> to(from.size(), untouched);
    copy_crew crew;
    crew.set_threads(8);
    crew.set_threads(1);
    crew.add(to.data(), from.data(), from.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(crew.next_is_done());
    CHECK(to == std::vector<std::byte>(to.size(), untouched));
    CHECK(crew.finish_next() == piece);
    CHECK(to[piece] == untouched);
    CHECK(crew.finish_next() == piece);
    CHECK(to == from);
  }

  TEST_CASE("after cancel() nobody touches the memory, and the crew goes on") {
    const auto from = random_bytes(24 * piece, 5);
    copy_crew crew;
    for (unsigned round = 0; round < 24; ++round) {
      const unsigned threads = 1 + round % 4;
      crew.set_threads(threads);
      std::vector<std::byte> to(from.size(), untouched);
      crew.add(to.data(), from.data(), from.size());
      if (round % 3 > 0) crew.finish_next();
      crew.cancel();
      if (threads == 1) CHECK(to[piece] == untouched);
      to.assign(to.size(), untouched);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CHECK(to == std::vector<std::byte>(to.size(), untouched));
      CHECK(crew.finish_next() == 0);
    }
  }

  TEST_CASE("a crew that never worked, or is idle, ends") {
    { copy_crew never; }
    {
      copy_crew idle;
      idle.set_threads(6);
    }
    copy_crew nothing;
    nothing.set_threads(3);
    nothing.add(nullptr, nullptr, 0);
    CHECK(nothing.finish_next() == 0);
    nothing.cancel();
  }
}

}  // namespace
