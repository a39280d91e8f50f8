// SPDX-License-Identifier: Apache-2.0
// Contexts: the caller's stream, results on the device, graphs, several at once, errors that leave all usable.
#include <algorithm>
#include <optional>
#include <thread>

#include "backends/cuda/cuda.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/cuda/captured_graph.hpp"
#include "tests/cuda/device_memory.hpp"

namespace fanin::test {
namespace {

template <class T>
void expect_same_on_device(operation what, const std::vector<T>& x, const options& chosen, device_context& context) {
  const device_array<T> on_device{std::span<const T>(x)};
  const input_views inputs = inputs_for(what, on_device.elements());
  INFO(told(what, inputs[0], chosen));
  const scalar expected = reduce(what, inputs, context, chosen).value;
  with_result_type(what, chosen.result.value_or(default_result(what, inputs.type())), [&]<class R>() {
    const device_value<device_result<R>> result;
    enqueue(what, inputs, result.get(), context, chosen);
    wait_for(context);
    CHECK(same(scalar(result.read().value), expected));
    CHECK(result.read().overflowed == 0);
  });
}

TEST_SUITE("contexts") {
  TEST_CASE("results on the device are those on the host") {
    if (!device_is_here()) return;
    device_context context;
    for_each_element([&]<class T>(T) {
      for (const std::size_t length : {1, 1000, 100003}) {
        for (const operation what : all_operations) {
          const auto x = what == operation::product ? unit_factors<T>(length, 61) : mixed_values<T>(length, 61);
          for (const method how : all_methods) {
            if (!has(find_backend("cuda"), what, type_of<T>, how) || !has_value(what, length)) continue;
            expect_same_on_device(what, x, {.method = how}, context);
          }
        }
      }
    });
    for_each_type<float, double, std::int32_t>([&]<class T>(T) {
      for (const char* stage : {"global-neighbored", "shared-mask", "bulk-copy"}) {
        expect_same_on_device(operation::sum, unit_factors<T>(5000, 63), {.variant = stage}, context);
      }
      expect_same_on_device(operation::sum_of_squares, unit_factors<T>(5000, 63), {.variant = "shared-mask"},
                            context);
    });
    expect_same_on_device(operation::sum, mixed_values<float>(5000, 62),
                          {.method = method::exact, .result = element_type::f64}, context);
    for_each_type<f16, bf16, e5m2, e4m3>([&]<class T>(T) {
      const options rounded{.method = method::exact, .result = type_of<T>};
      for (const operation what : {operation::sum, operation::mean, operation::norm2, operation::sample_variance,
                                   operation::sum_of_magnitudes}) {
        for (const std::size_t length : {2, 5000, 100003}) {
          expect_same_on_device(what, mixed_values<T>(length, 64), rounded, context);
        }
      }
    });
  }

  TEST_CASE("special values and overflow on the device") {
    if (!device_is_here()) return;
    device_context context;
    const double inf = std::numeric_limits<double>::infinity();
    for (const auto& x : {std::vector<double>{-0.0, -0.0}, {inf, -inf}, {std::nan("7"), 1}, {inf, 1}}) {
      for (const method how : all_methods) expect_same_on_device(operation::sum, x, {.method = how}, context);
      for (const operation what : {operation::min, operation::max, operation::mean}) {
        expect_same_on_device(what, x, {}, context);
      }
    }
    const std::vector<std::int64_t> large{INT64_MAX, 1};
    const device_array<std::int64_t> on_device{std::span<const std::int64_t>(large)};
    const device_value<device_result<std::int64_t>> result;
    enqueue<operation::sum>(on_device.elements(), result.get(), context);
    wait_for(context);
    CHECK(result.read().overflowed != 0);
    CHECK_THROWS_AS(reduce(operation::sum, on_device.elements(), context), overflow);
    const device_value<device_result<double>> of_nothing;
    enqueue<operation::sum>(device_span<double>(), of_nothing.get(), context);
    wait_for(context);
    CHECK(same(scalar(of_nothing.read().value), scalar(0.0)));
    for (const method how : all_methods) {
      enqueue<operation::mean>(device_span<double>(), of_nothing.get(), context, {.method = how});
      wait_for(context);
      CHECK(std::isnan(of_nothing.read().value));
    }
    enqueue<operation::mean>(device_span<std::int32_t>(), of_nothing.get(), context);
    wait_for(context);
    CHECK(std::isnan(of_nothing.read().value));
  }

  TEST_CASE("kernels that may not overlap, on devices of any size, with any room for copies, give the same sums") {
    if (!device_is_here()) return;
    for_each_type<std::int64_t, float, double>([]<class T>(T) {
      const std::vector<T> x = mixed_values<T>(9000001, 63);
      const scalar expected = sum(x, {.backend = "serial", .method = method::exact}).value;
      const device_array<T> on_device{std::span<const T>(x)};
      const request exact{operation::sum, on_device.elements(), method::exact, type_of<T>, "", 1};
      const cuda::kernel_launcher& kernel = *cuda::instance().find_kernel(exact);
      const cuda::state_functions& fold = kernel.host();
      cuda::context own(0);
      for (const int multiprocessors : {1, 7, own.where().multiprocessors}) {
        for (const bool overlap : {false, own.where().programmatic}) {
          for (const std::size_t room : {own.where().copy_room, std::min<std::size_t>(own.where().copy_room, 1)}) {
            cuda::execution where = own.where();
            where.multiprocessors = multiprocessors;
            where.programmatic = overlap;
            where.copy_room = room;
            for (int i = 0; i < 20; ++i)
              kernel.launch(where, {exact.inputs[0].data}, exact.inputs.count(), own.host_state(0));
            device_code::check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");
            cuda::state_buffer total;
            fold.reset(total.bytes);
            fold.merge_partial(total.bytes, own.host_state(0));
            T value{};
            fold.finish(total.bytes, x.size(), type_of<T>, &value);
            CHECK(same(scalar(value), expected));
          }
        }
      }
    });
  }

  TEST_CASE("a graph is replayed on new data") {
    if (!device_is_here()) return;
    cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    device_context context(0, stream.get());
    for (const std::size_t count : {std::size_t{100}, std::size_t{1000003}, (std::size_t{1} << 26) + 3}) {
      std::vector<float> x(count, 1.0f);
      const device_array<float> on_device{std::span<const float>(x)};
      const device_value<device_result<float>> fast, exact;
      const captured_graph graph(stream.get(), [&] {
        enqueue<operation::max>(on_device.elements(), fast.get(), context);
        enqueue<operation::sum>(on_device.elements(), exact.get(), context, {.method = method::exact});
      });
      for (int round = 2; round < 5; ++round) {
        x.assign(count, 1.0f);
        x[count / 2] = static_cast<float>(round);
        device_code::check(cudaMemcpy(on_device.data(), x.data(), count * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
        graph.replay();
        CHECK(fast.read().value == static_cast<float>(round));
        CHECK(exact.read().value == static_cast<float>(count - 1 + static_cast<std::size_t>(round)));
      }
    }
  }

  /// An allocator that counts its memory. It gives memory of one array, from which nothing is taken twice.
  struct counting_allocator {
    cuda::device_memory all = cuda::allocate_device(std::size_t{1} << 28);
    std::size_t taken = 0;
    int held = 0;

    device_allocator get() {
      const auto allocate = [](std::size_t bytes, void* user) -> void* {
        auto& self = *static_cast<counting_allocator*>(user);
        std::byte* const found = self.all.get() + self.taken;
        self.taken += (bytes + 255) / 256 * 256;
        if (self.taken > std::size_t{1} << 28) return nullptr;
        ++self.held;
        return found;
      };
      return {allocate, [](void*, void* user) { --static_cast<counting_allocator*>(user)->held; }, this};
    }
  };

  TEST_CASE("a context of the caller's memory is made and ended during a capture") {
    if (!device_is_here()) return;
    counting_allocator memory;
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    const std::vector<float> x(1000000, 1.0f);
    const device_array<float> on_device{std::span<const float>(x)};
    const device_value<device_result<float>> total;
    const cuda::device_memory of_rows = cuda::allocate_device(500000 * sizeof(float));
    const captured_graph graph(stream.get(), [&] {
      device_context context(0, stream.get(), memory.get());
      enqueue<operation::sum>(on_device.elements(), total.get(), context, {.method = method::exact});
      enqueue(operation::sum, rows(on_device.elements(), {500000, 2}, 1),
              device_results<float>(reinterpret_cast<float*>(of_rows.get()), 500000), context,
              {.method = method::exact});
      CHECK(memory.held > 0);
    });
    CHECK(memory.held == 0);
    for (int round = 0; round < 3; ++round) {
      graph.replay();
      CHECK(total.read().value == 1000000);
      float last = 0;
      device_code::check(cudaMemcpy(&last, of_rows.get() + 499999 * 4, 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
      CHECK(last == 2);
    }
  }

  TEST_CASE("a context that is made during a capture serves a graph that runs first") {
    if (!device_is_here()) return;
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    const std::vector<float> x(1000000, 1.0f);
    const device_array<float> on_device{std::span<const float>(x)};
    const device_value<device_result<float>> first, second;
    // Memory that is allocated next is not zero by chance.
    for (const std::size_t bytes :
         {std::size_t{4096}, std::size_t{16384}, std::size_t{1} << 20, std::size_t{1} << 23}) {
      const cuda::device_memory used = cuda::allocate_device(bytes);
      cuda::check(cudaMemset(used.get(), 0x55, bytes), "cudaMemset");
    }
    std::optional<device_context> context;
    const captured_graph made_with_context(stream.get(), [&] {
      context.emplace(0, stream.get());
      enqueue<operation::sum>(on_device.elements(), first.get(), *context);
    });
    const captured_graph other(stream.get(),
                               [&] { enqueue<operation::sum>(on_device.elements(), second.get(), *context); });
    other.replay();
    CHECK(second.read().value == 1000000);
    made_with_context.replay();
    CHECK(first.read().value == 1000000);
  }

  TEST_CASE("an allocator without memory") {
    if (!device_is_here()) return;
    const device_allocator none{[](std::size_t, void*) -> void* { return nullptr; }, [](void*, void*) {}, nullptr};
    CHECK_THROWS_AS(device_context(0, nullptr, none), out_of_memory);
  }

  TEST_CASE("two threads with two contexts, and two contexts on one thread") {
    if (!device_is_here()) return;
    const auto x = mixed_values<double>(3000017, 63);
    const device_array<double> on_device{std::span<const double>(x)};
    const scalar expected = reduce(operation::sum, on_device.elements()).value;
    int wrong[2] = {};
    const auto work = [&](int& count_of_wrong) {
      device_context context;
      for (int i = 0; i < 300; ++i) {
        count_of_wrong += same(reduce(operation::sum, on_device.elements(), context).value, expected) ? 0 : 1;
      }
    };
    std::thread other(work, std::ref(wrong[0]));
    work(wrong[1]);
    other.join();
    CHECK(wrong[0] == 0);
    CHECK(wrong[1] == 0);

    device_context a, b;
    const device_value<device_result<double>> of_a[8], of_b[8];
    for (int i = 0; i < 8; ++i) {
      enqueue<operation::sum>(on_device.elements(), of_a[i].get(), a);
      enqueue<operation::sum>(on_device.elements(), of_b[i].get(), b);
    }
    wait_for(a);
    wait_for(b);
    for (int i = 0; i < 8; ++i) {
      CHECK(same(scalar(of_a[i].read().value), expected));
      CHECK(same(scalar(of_b[i].read().value), expected));
    }
  }

  TEST_CASE("every device, by its index, whichever is the current one") {
    if (!device_is_here()) return;
    int devices = 0;
    device_code::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    const auto x = mixed_values<double>(1000003, 65);
    const options chosen{.method = method::exact};
    const scalar expected = call(find_backend("serial"), operation::sum, std::span<const double>(x), chosen).value;
    for (int device = 0; device < devices; ++device) {
      CAPTURE(device);
      device_context context(device);
      CHECK(context.device() == device);
      const auto on_device = [&] {
        const cuda::device_scope here(device);
        return device_array<double>(std::span<const double>(x));
      }();
      for (int current = 0; current < devices; ++current) {
        const cuda::device_scope here(current);
        CHECK(same(reduce(operation::sum, on_device.elements(), context, chosen).value, expected));
        CHECK(same(reduce(operation::sum, on_device.elements(), chosen).value, expected));
        CHECK(same(reduce(operation::sum, std::span<const double>(x), context, chosen).value, expected));
        int now = -1;
        device_code::check(cudaGetDevice(&now), "cudaGetDevice");
        CHECK(now == current);
      }
    }
  }

  TEST_CASE("pinned, pageable and streamed host data, over several chunks, have the same bits") {
    if (!device_is_here()) return;
    const auto x = mixed_values<float>((std::size_t{100} << 20) / 4 + 7, 64);
    const auto pinned = cuda::allocate_pinned(x.size() * 4);
    std::memcpy(pinned.get(), x.data(), x.size() * 4);
    device_context context;
    for (const method how : all_methods) {
      const options chosen{.method = how};
      const scalar expected = reduce(operation::sum, std::span<const float>(x), context, chosen).value;
      CHECK(context.last_times().copy_seconds > 0);
      CHECK(context.last_times().kernel_seconds > 0);
      const std::span<const float> elsewhere(reinterpret_cast<const float*>(pinned.get()), x.size());
      CHECK(same(reduce(operation::sum, elsewhere, context, chosen).value, expected));
      const scalar streamed =
          call_in_blocks(find_backend("cuda"), operation::sum, element_type::f32, chosen, [&](block_feed& into) {
            into.push(x.data(), 1000003);
            into.push(x.data() + 1000003, x.size() - 1000003);
          }).value;
      CHECK(same(streamed, expected));
    }
  }

  TEST_CASE("dot of pinned and pageable host data, over several chunks") {
    if (!device_is_here()) return;
    const auto x = mixed_values<double>((std::size_t{50} << 20) / 8 + 5, 65), y = mixed_values<double>(x.size(), 66);
    const auto pinned = cuda::allocate_pinned(2 * x.size() * 8);
    auto* const copies = reinterpret_cast<double*>(pinned.get());
    std::copy(x.begin(), x.end(), copies);
    std::copy(y.begin(), y.end(), copies + x.size());
    device_context context;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, x.size()}) {
      CAPTURE(count);
      const std::span<const double> left(x.data(), count), right(y.data(), count);
      const scalar expected = dot(left, right, {.backend = "serial", .method = method::exact}).value;
      const std::span<const double> pinned_left(copies, count), pinned_right(copies + x.size(), count);
      for (const array_view a : {array_view(left), array_view(pinned_left)}) {
        for (const array_view b : {array_view(right), array_view(pinned_right)}) {
          CHECK(same(reduce(operation::dot, {a, b}, context, {.method = method::exact}).value, expected));
          CHECK(same(reduce(operation::dot, {a, b}, {.backend = "cuda", .method = method::exact}).value, expected));
        }
      }
    }
  }

  TEST_CASE("errors are told and nothing is broken after them") {
    if (!device_is_here()) return;
    {
      const device_array<float> four{std::span<const float>(std::vector<float>(4, 1.0f))};
      cuda::context own(0);
      const void* const scratch = own.where().scratch;
      CHECK_THROWS_AS(own.with_scratch(std::size_t{1} << 50), out_of_memory);
      CHECK(own.where().scratch == scratch);
      CHECK(own.with_scratch(std::size_t{1} << 24).scratch_bytes >= std::size_t{1} << 24);
      device_context context;
      CHECK_THROWS_AS(reduce(operation::sum, four.elements(), context, {.backend = "cub"}), invalid_argument);
      for (const operation what : {operation::min, operation::max, operation::mean, operation::variance}) {
        CHECK_THROWS_AS(reduce(what, std::span<const double>(), context, {.method = method::exact}),
                        invalid_argument);
      }
    }
    CHECK_THROWS_AS(device_context(1000), invalid_argument);
    CHECK_THROWS_AS(device_context(-1), invalid_argument);
    const std::vector<double> x(100, 0.25);
    CHECK_THROWS_AS(reduce(operation::sum, device_span<double>(x.data(), x.size())), invalid_argument);
    CHECK_THROWS_AS(cuda::allocate_device(std::size_t{1} << 60), out_of_memory);
    CHECK_THROWS_AS(device_code::check(cudaSetDevice(1000), "cudaSetDevice"), device_error);
    device_context context;
    CHECK_THROWS_AS(enqueue(operation::sum, std::span<const double>(x), &context, context), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::min, device_span<double>(), context), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::dot, std::span<const double>(x), context), invalid_argument);
    CHECK_THROWS_AS(enqueue(operation::dot, device_span<double>(), &context, context), invalid_argument);
    const auto dot_of = [&](const array_view& a, const array_view& b) {
      return reduce(operation::dot, {a, b}, context);
    };
    const array_view host{std::span<const double>(x)};
    CHECK_THROWS_AS(dot_of(host, std::span<const double>()), invalid_argument);
    CHECK_THROWS_AS(dot_of(host, device_span<double>(nullptr, 100)), invalid_argument);
    const device_array<double> there{std::span<const double>(x)};
    CHECK_THROWS_AS(dot_of(there.elements(), device_span<double>(x.data(), x.size())), invalid_argument);
    CHECK(fanin::get<double>(reduce(operation::sum, std::span<const double>(x), context).value) == 25.0);
    CHECK(sum(x, {.backend = "cuda"}).value == 25.0);
    CHECK(sum(x, {.backend = "serial"}).value == 25.0);
  }
}

}  // namespace
}  // namespace fanin::test
