// SPDX-License-Identifier: Apache-2.0
// Vectors that are summed over ranks, element by element: each sum is the exact one, rounded once.
#include <string>

#include "tests/nccl/ranks.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

/// Vectors of any bits, and of numbers that cancel in part.
template <class T>
std::vector<std::vector<T>> vectors_of(std::size_t count) {
  using word = typename detail::float_format<T>::bits;
  generator random(count);
  std::vector<std::vector<T>> x(ranks().count(), std::vector<T>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const auto shared = static_cast<word>(random());
    for (std::size_t rank = 0; rank < x.size(); ++rank) {
      auto bits = static_cast<word>(random());
      if (i % 3 == 0)
        bits = static_cast<word>(shared ^ (bits & 7) ^ (rank % 2 == 1 ? detail::float_format<T>::sign : 0));
      x[rank][i] = detail::from_bits<T>(bits);
    }
  }
  return x;
}

template <class T>
std::vector<T> sums_of(const std::vector<std::vector<T>>& x) {
  std::vector<T> sums(x[0].size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    exact_accumulator<computed_as<T>> sum;
    for (const auto& one : x) sum.add(one[i]);
    sums[i] = sum.template round<T>();
  }
  return sums;
}

/// How many elements have other bits.
template <class T>
std::size_t differences(const std::vector<T>& x, std::span<const T> y) {
  std::size_t count = x.size() == y.size() ? 0 : 1;
  for (std::size_t i = 0; i < y.size(); ++i) count += bits_of(x[i]) != bits_of(y[i]);
  return count;
}

template <class T>
std::vector<T> read(const T* from, std::size_t count) {
  std::vector<T> x(count);
  cuda::check(cudaMemcpy(x.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return x;
}

/// Checks the sums of vectors that begin `offset` elements behind a boundary, also in a graph.
template <class T>
void check_vectors(std::size_t count, std::size_t offset) {
  const auto x = vectors_of<T>(count);
  const auto expected = sums_of(x);
  const std::size_t ranks_here = ranks().count(), part = count / ranks_here;
  std::vector<std::size_t> wrong(ranks_here);
  ranks().run([&](const rank_here& here) {
    const std::span<const T> mine(x[here.rank]);
    const std::span<const T> all(expected), own = all.subspan(here.rank * part, part);
    const device_array<T> first(mine, offset), again(mine, offset), scattered(mine, offset);
    const device_array<T> out(std::span<const T>(std::vector<T>(part, T(5.f))), offset + 1);
    const auto wait = [&] { cuda::check(cudaStreamSynchronize(here.stream()), "cudaStreamSynchronize"); };

    nccl::all_reduce_each(first.data(), count, here.context, here.comm);
    nccl::reduce_scatter_each(scattered.data(), out.data(), part, here.context, here.comm);
    wait();
    wrong[here.rank] += differences(read(first.data(), count), all);
    wrong[here.rank] += differences(read(out.data(), part), own);
    wrong[here.rank] += scattered.untouched() ? 0 : 1;
    T* const in_place = scattered.data() + here.rank * part;
    nccl::reduce_scatter_each(scattered.data(), in_place, part, here.context, here.comm);
    wait();
    wrong[here.rank] += differences(read(in_place, part), own);

    run_as_graph(here.stream(), [&] { nccl::all_reduce_each(again.data(), count, here.context, here.comm); });
    wait();
    wrong[here.rank] += differences(read(again.data(), count), all);
  });
  CAPTURE(count);
  CAPTURE(offset);
  CHECK(wrong == std::vector<std::size_t>(ranks_here, 0));
}

}  // namespace

TEST_SUITE(FANIN_SUITES "vectors") {
  TEST_CASE_TEMPLATE("any length and alignment", T, float, double, f16, bf16) {
    if (!device_is_here()) return;
    for (const std::size_t count : {1, 2, 3, 7, 64, 1001, 100000}) {
      SUBCASE(std::to_string(count).c_str()) {  // A tool that takes long is given some of them.
        for (const std::size_t offset : {0, 1}) check_vectors<T>(count, offset);
      }
    }
  }

  TEST_CASE_TEMPLATE("vectors of several pieces", T, float, double, bf16) {
    if (!device_is_here()) return;
    // A piece brings 32 MiB from all others together, and of two ranks three quarters of 100 MiB.
    const std::size_t others = std::max<std::size_t>(ranks().count() - 1, 1);
    const std::size_t bytes =
        ranks().count() == 2 ? std::size_t{100} << 20 : (std::size_t{67} << 20) / others * ranks().count();
    check_vectors<T>(bytes / sizeof(T) + 3, 0);
  }

  TEST_CASE("vectors that cannot be") {
    if (!device_is_here()) return;
    ranks().run([](const rank_here& here) {
      float* const none = nullptr;
      nccl::all_reduce_each(none, 0, here.context, here.comm);
      nccl::reduce_scatter_each(none, none, 0, here.context, here.comm);
      float on_host = 1;
      for (float* const x : {none, &on_host}) {
        try {
          nccl::all_reduce_each(x, 1, here.context, here.comm);
        } catch (const invalid_argument&) {
          continue;
        }
        throw std::logic_error("this was no device memory");
      }
    });
  }
}

}  // namespace fanin::test
