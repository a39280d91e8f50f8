// SPDX-License-Identifier: Apache-2.0
// Batches of device memory with more than 2^31 elements, and 10^8 groups, against sums known by construction.
// Up to 60 GB of device memory.
#include <doctest/doctest.h>

#include <array>
#include <type_traits>

#include "tests/cuda/device_memory.hpp"
#include "tests/scale/known_sums.hpp"

namespace fanin::test {
namespace {

constexpr unsigned blocks = 2048, threads = 256;

template <class T, class Of>
__global__ void fill_kernel(T* x, std::uint64_t count, Of of) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += blocks * threads) {
    x[i] = of(i);
  }
}
template <class T, class Of>
__global__ void compare_kernel(const T* x, std::uint64_t count, Of of, unsigned long long* differ) {
  unsigned long long found = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += blocks * threads) {
    found += x[i] == of(i) ? 0 : 1;
  }
  if (found > 0) atomicAdd(differ, found);
}

/// Values in device memory. Each value follows from its place.
template <class T>
class big_array {
 public:
  explicit big_array(std::uint64_t count) : count_(count), memory_(cuda::allocate_device(count * sizeof(T))) {}
  template <class Of>
  big_array(std::uint64_t count, Of of) : big_array(count) {
    fill_kernel<<<blocks, threads>>>(data(), count, of);
    cuda::check(cudaDeviceSynchronize(), "filling an array");
  }
  T* data() const { return reinterpret_cast<T*>(memory_.get()); }
  array_view view() const { return {data(), count_, type_of<T>, memory::device}; }
  results_view results() const { return {data(), count_, type_of<T>, result_form::number, memory::device}; }
  /// The number of values that differ from the values of `of`.
  template <class Of>
  unsigned long long differ_from(Of of) const {
    const device_value<unsigned long long> differ;
    cuda::check(cudaMemset(differ.get(), 0, sizeof(unsigned long long)), "cudaMemset");
    compare_kernel<<<blocks, threads>>>(data(), count_, of, differ.get());
    return differ.read();
  }

 private:
  std::uint64_t count_;
  cuda::device_memory memory_;
};

template <class T>
struct periodic_element {
  __device__ T operator()(std::uint64_t i) const { return T(static_cast<float>(periodic(i))); }
};
template <>
struct periodic_element<std::int8_t> {
  __device__ std::int8_t operator()(std::uint64_t i) const { return static_cast<std::int8_t>(periodic(i)); }
};

template <class T>
using sum_of = result_of<operation::sum, T>;

/// The sums of pieces of periodic elements that all have this length.
template <class R>
struct sum_of_piece {
  std::uint64_t length;
  __device__ R operator()(std::uint64_t k) const {
    return static_cast<R>(sum_before((k + 1) * length) - sum_before(k * length));
  }
};
/// The sums of two periodic elements that are `distance` apart.
template <class R>
struct sum_of_two {
  std::uint64_t distance;
  __device__ R operator()(std::uint64_t k) const { return static_cast<R>(periodic(k) + periodic(k + distance)); }
};
struct offset_of_piece {
  std::uint64_t length, last;
  __device__ std::int64_t operator()(std::uint64_t k) const {
    return static_cast<std::int64_t>(k * length < last ? k * length : last);
  }
};
struct key_of_residue {
  std::uint32_t groups;
  __device__ std::int32_t operator()(std::uint64_t i) const { return static_cast<std::int32_t>(i % groups); }
};

struct key_of_many {
  __device__ std::int32_t operator()(std::uint64_t i) const { return many_groups::key(i); }
};
struct element_of_many {
  __device__ float operator()(std::uint64_t i) const { return many_groups::element(i); }
};
struct sum_of_many {
  float times;
  __device__ float operator()(std::uint64_t k) const {
    return times * many_groups::sum(static_cast<std::int32_t>(k));
  }
};

template <class T>
void check_rows() {
  const std::array<std::size_t, 2> shape{2, many_elements};
  const big_array<T> x(2 * many_elements, periodic_element<T>());
  for (const method how : {method::fast, method::exact}) {
    if (arithmetic_method(operation::sum, type_of<T>, how) != how) continue;
    std::vector<sum_of<T>> two(2);
    reduce(operation::sum, rows(x.view(), shape, std::array{1}), two, {.backend = "cuda", .method = how});
    CHECK(two[0] == static_cast<sum_of<T>>(sum_before(many_elements)));
    CHECK(two[1] == static_cast<sum_of<T>>(sum_before(2 * many_elements) - sum_before(many_elements)));
    const big_array<sum_of<T>> all(many_elements);
    reduce(operation::sum, rows(x.view(), shape, std::array{0}), all.results(), {.backend = "cuda", .method = how});
    CHECK(all.differ_from(sum_of_two<sum_of<T>>{many_elements}) == 0);
  }
  // The last element is the largest one.
  const T largest = static_cast<T>(3.0f);
  cuda::check(cudaMemcpy(x.data() + 2 * many_elements - 1, &largest, sizeof largest, cudaMemcpyHostToDevice),
              "cudaMemcpy");
  std::vector<indexed<T>> places(2);
  reduce(operation::argmax, rows(x.view(), shape, std::array{1}), places, {.backend = "cuda"});
  CHECK(places[0].index == 4);
  CHECK(places[1].index == many_elements - 1);
}

template <class T>
void check_segments() {
  const big_array<T> x(many_elements, periodic_element<T>());
  const std::vector<std::int64_t> borders{0, 7, (1ll << 31) - 3, (1ll << 31) - 3, (1ll << 31) + 11, many_elements};
  const device_array<std::int64_t> few{std::span<const std::int64_t>(borders)};
  const std::uint64_t length = 16, pieces = many_elements / length;
  const big_array<std::int64_t> many(pieces + 1, offset_of_piece{length, many_elements});
  for (const method how : {method::fast, method::exact}) {
    if (arithmetic_method(operation::sum, type_of<T>, how) != how) continue;
    std::vector<sum_of<T>> sums(borders.size() - 1);
    const array_view offsets(few.data(), borders.size(), element_type::i64, memory::device);
    reduce(operation::sum, segments(x.view(), offsets), sums, {.backend = "cuda", .method = how});
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const auto begin = static_cast<std::uint64_t>(borders[k]), end = static_cast<std::uint64_t>(borders[k + 1]);
      CHECK(sums[k] == static_cast<sum_of<T>>(sum_before(end) - sum_before(begin)));
    }
    const big_array<sum_of<T>> all(pieces);
    reduce(operation::sum, segments(x.view(), many.view()), all.results(), {.backend = "cuda", .method = how});
    CHECK(all.differ_from(sum_of_piece<sum_of<T>>{length}) == 0);
  }
}

/// Element i belongs to group i % groups_count. The last group is left out.
template <class T, class ElementOf, class SumOf>
void check_groups(std::uint32_t groups_count, ElementOf element_of, SumOf sum_of_group) {
  const big_array<T> x(many_elements, element_of);
  const big_array<std::int32_t> keys(many_elements, key_of_residue{groups_count});
  std::vector<sum_of<T>> sums(groups_count - 1);
  const batch many = groups(x.view(), keys.view(), sums.size());
  const report told = reduce(operation::sum, many.drop_others(), sums, {.backend = "cuda", .method = method::exact});
  CHECK(told.absent == count_from(groups_count - 1, groups_count, many_elements));
  for (std::uint32_t k = 0; k < sums.size(); ++k) {
    CHECK(sums[k] == sum_of_group(k, count_from(k, groups_count, many_elements)));
  }
}

/// Around 2^20 and -2^20 in turn in each of 1000 groups.
struct alternating {
  __device__ float operator()(std::uint64_t i) const {
    return (i / 1000 % 2 == 0 ? 0x1p20f : -0x1p20f) + static_cast<float>(i % 7) * 0.125f;
  }
};

}  // namespace

TEST_SUITE("scale_on_device") {
  TEST_CASE("10^8 groups of f32, exact") {
    if (!device_is_here()) return;
    const big_array<float> x(many_groups::elements, element_of_many()), sums(many_groups::count);
    const big_array<std::int32_t> keys(many_groups::elements, key_of_many());
    const batch many = groups(x.view(), keys.view(), many_groups::count);
    const options exact{.backend = "cuda", .method = method::exact};
    reduce(operation::sum, many, sums.results(), exact);
    CHECK(sums.differ_from(sum_of_many{1}) == 0);
    add_to(many, sums.results(), exact);
    CHECK(sums.differ_from(sum_of_many{2}) == 0);
  }

  TEST_CASE("rows of more than 2^31 elements, and as many rows") {
    if (!device_is_here()) return;
    check_rows<std::int8_t>();
    check_rows<bf16>();
  }

  TEST_CASE("more than 2^31 times the same element") {
    if (!device_is_here()) return;
    const std::vector<float> three{0.75f, 5, -3};
    const device_array<float> x{std::span<const float>(three)};
    const std::array<std::size_t, 2> shape{3, many_elements};
    const std::array<std::ptrdiff_t, 2> strides{1, 0};
    std::vector<float> sums(3);
    for (const method how : {method::fast, method::exact}) {
      const report told = reduce(operation::sum, rows(x.elements(), shape, std::array{1}, strides), sums,
                                 {.backend = "cuda", .method = how});
      for (std::size_t k = 0; k < 3; ++k) {
        const double expected = static_cast<double>(three[k]) * static_cast<double>(many_elements);
        if (how == method::exact) CHECK(sums[k] == static_cast<float>(expected));
        CHECK(std::abs(sums[k] - expected) <= told.bound.of_result * std::abs(expected) +
                                                  told.bound.of_magnitudes * std::abs(expected) +
                                                  told.bound.absolute);
      }
    }
  }

  TEST_CASE("segments of more than 2^31 elements, and up to 2^27 of them") {
    if (!device_is_here()) return;
    check_segments<std::int8_t>();
    check_segments<bf16>();
  }

  TEST_CASE("groups of more than 2^31 elements") {
    if (!device_is_here()) return;
    check_groups<std::int8_t>(200, periodic_element<std::int8_t>(), [](std::uint32_t k, std::uint64_t count) {
      return periodic(k) * static_cast<std::int64_t>(count);
    });
    check_groups<bf16>(200, periodic_element<bf16>(), [](std::uint32_t k, std::uint64_t count) {
      return static_cast<float>(periodic(k) * static_cast<std::int64_t>(count));
    });
    check_groups<float>(1000, alternating(), [](std::uint32_t k, std::uint64_t count) {
      double sum = count % 2 == 0 ? 0 : 0x1p20;
      for (std::uint64_t m = 0; m < 7; ++m) {
        sum += static_cast<double>((k + 1000 * m) % 7) * 0.125 * static_cast<double>(count_from(m, 7, count));
      }
      return static_cast<float>(sum);
    });
  }
}

}  // namespace fanin::test
