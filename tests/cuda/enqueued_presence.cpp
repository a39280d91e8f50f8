// SPDX-License-Identifier: Apache-2.0
// Results that stay on the device, where some elements do not take part: the values of the calls that wait.
#include "backends/cuda/runtime/context.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/cuda/captured_graph.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/masked.hpp"

namespace fanin::test {
namespace {

/// A case's elements and masks on the device.
template <class T>
struct masked_on_device {
  device_array<T> x;
  device_array<std::uint8_t> bytes, bits;

  explicit masked_on_device(const masked_case<T>& of)
      : x(std::span<const T>(of.x), 1),
        bytes(std::span<const std::uint8_t>(of.mask), 3),
        bits(std::span<const std::uint8_t>(bits_of_mask(of.mask, 5))) {}
  std::vector<input_views> inputs_for_each_mask(operation what) const {
    const input_views inputs = inputs_for(what, x.elements());
    return {inputs.where({bytes.data(), 0, mask_form::bytes}), inputs.where({bits.data(), 5, mask_form::bits}),
            inputs};
  }
};

/// Calls f with every operation and method that T has, and for which others can stand for absent elements.
template <class T, class F>
void for_each_reduction(F f) {
  for (const operation what : all_operations) {
    if (what == operation::log_sum_exp && !std::numeric_limits<T>::has_infinity) continue;
    for (const method how : all_methods) {
      if (has(find_backend("cuda"), what, type_of<T>, how)) f(what, options{.method = how, .nan = nan_policy::skip});
    }
  }
}

}  // namespace

TEST_SUITE("enqueued_presence") {
  TEST_CASE("masks and NaN, by every operation, type and method") {
    if (!device_is_here()) return;
    device_context context;
    generator random(11);
    for_each_element([&]<class T>(T) {
      for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{100003}}) {
        for_each_reduction<T>([&](operation what, const options& chosen) {
          const masked_case<T> of = masked(
              what == operation::product ? unit_factors<T>(n, 61) : mixed_values<T>(n, 61), random() % n, 3, random);
          if (!has_value(what, of.present.size())) return;
          const masked_on_device<T> there(of);
          for (const input_views& inputs : there.inputs_for_each_mask(what)) {
            INFO(told(what, there.x.elements(), chosen));
            CHECK(same(enqueued(what, inputs, chosen, context), reduce(what, inputs, context, chosen).value));
          }
          CHECK(there.x.untouched());
        });
      }
    });
  }

  TEST_CASE("where no element takes part, or too few, the value is that of too few elements") {
    if (!device_is_here()) return;
    device_context context;
    for_each_element([&]<class T>(T) {
      const std::vector<T> ones(1000, static_cast<T>(1.0f));
      const device_array<T> x{std::span<const T>(ones)};
      const std::vector<std::uint8_t> none(1000, 0);
      const device_array<std::uint8_t> mask{std::span<const std::uint8_t>(none)};
      for_each_reduction<T>([&](operation what, const options& chosen) {
        INFO(told(what, x.elements(), chosen));
        const input_views all = inputs_for(what, x.elements());
        const scalar of_nothing = enqueued(what, inputs_for(what, device_span<T>()), chosen, context);
        CHECK(same(enqueued(what, all.where({mask.data()}), chosen, context), of_nothing));
        CHECK(same(enqueued(what, all.part(0, 0).where({mask.data()}), chosen, context), of_nothing));
      });
    });
    const std::vector<float> one_number{std::nanf(""), 2.0f, std::nanf("")};
    const device_array<float> x{std::span<const float>(one_number)};
    for (const method how : all_methods) {
      const options skipping{.method = how, .nan = nan_policy::skip};
      CHECK(same(enqueued(operation::mean, x.elements(), skipping, context), scalar(2.0f)));
      CHECK(same(enqueued(operation::variance, x.elements(), skipping, context), scalar(0.0f)));
      CHECK(std::isnan(fanin::get<float>(enqueued(operation::sample_variance, x.elements(), skipping, context))));
    }
  }

  TEST_CASE("a graph is replayed with another mask, and other NaN") {
    if (!device_is_here()) return;
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    device_context context(0, stream.get()), waiting;
    generator random(12);
    const std::size_t count = 9000001;  // two copies
    const options skipping{.method = method::exact, .nan = nan_policy::skip};
    masked_case<float> of = masked(mixed_values<float>(count, 5), 10, 3, random);
    const device_array<float> x{std::span<const float>(of.x)};
    const device_array<std::uint8_t> mask{std::span<const std::uint8_t>(of.mask)};
    const input_views inputs = input_views(x.elements()).where({mask.data()});
    const device_value<device_result<indexed<float>>> largest;
    const device_value<device_result<float>> mean;
    const captured_graph graph(stream.get(), [&] {
      enqueue(operation::argmax, inputs, largest.get(), context, skipping);
      enqueue(operation::mean, inputs, mean.get(), context, skipping);
    });
    for (const std::size_t lead : {std::size_t{0}, std::size_t{1234567}, count - 1}) {
      of = masked(mixed_values<float>(count, 6), lead, 3, random);
      cuda::check(cudaMemcpy(x.data(), of.x.data(), count * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
      cuda::check(cudaMemcpy(mask.data(), of.mask.data(), count, cudaMemcpyHostToDevice), "cudaMemcpy");
      graph.replay();
      if (of.present.empty()) continue;
      const auto expected = [&](operation what) { return reduce(what, inputs, waiting, skipping).value; };
      CHECK(same(scalar(largest.read().value), expected(operation::argmax)));
      CHECK(same(scalar(mean.read().value), expected(operation::mean)));
    }
  }

  TEST_CASE("more copies than a context has states") {
    if (!device_is_here()) return;
    constexpr std::size_t count = (std::size_t{2 * cuda::context::state_slots + 1} << 25) + 80;  // bytes
    std::size_t free_bytes = 0, all_bytes = 0;
    cuda::check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
    if (free_bytes < count + count / 8 + (std::size_t{1} << 27)) {
      test::skip("the device has less than 5 GiB of free memory");
      return;
    }
    const auto elements = cuda::allocate_device(count), mask = cuda::allocate_device(count / 8 + 1);
    cuda::check(cudaMemset(elements.get(), 0x3d, count), "cudaMemset");
    cuda::check(cudaMemset(mask.get(), 0x6b, count / 8 + 1), "cudaMemset");
    cuda::check(cudaMemset(mask.get(), 0, 1000), "cudaMemset");
    device_context context;
    for_each_type<std::uint8_t, double>([&]<class T>(T) {
      const device_span<T> x(reinterpret_cast<const T*>(elements.get()), count / sizeof(T));
      for (const operation what : {operation::sum, operation::mean, operation::variance, operation::argmin}) {
        const input_views inputs = inputs_for(what, x).where({mask.get(), 3, mask_form::bits});
        const options chosen{.method = method::exact};
        INFO(told(what, x, chosen));
        CHECK(same(enqueued(what, inputs, chosen, context), reduce(what, inputs, context, chosen).value));
      }
    });
  }
}

}  // namespace fanin::test
