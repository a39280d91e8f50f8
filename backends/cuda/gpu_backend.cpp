#include "backends/cuda/gpu_backend.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include <fanin/error.hpp>

#include "backends/cpu/environment.hpp"
#include "backends/cuda/host_data/host_feed.hpp"
#include "backends/cuda/runtime/probe.hpp"
#include "backends/offer.hpp"

namespace fanin::cuda {
namespace {

const host_fold& fold_of(const request& asked, const device_fold& kernel) {
  return *find_fold(asked.what, asked.input.type, asked.how, kernel.leaves_totals());
}

/// The value and what it guarantees.
outcome finished(const gpu_backend& by, const request& asked, const void* total, std::uint64_t count,
                 const chain& way) {
  const auto known = by.variants();
  const auto chosen = std::find_if(known.begin(), known.end(), [&](const variant_info& v) {
    return v.how == asked.how && (asked.variant.empty() || asked.variant == v.name);
  });
  const device_fold& kernel = *by.find_kernel(asked);
  const host_fold& fold = fold_of(asked, kernel);
  const bool same_bits = fold.reproducibility == reproducibility::exact || kernel.ordered();
  const cpu::environment_guard guard;
  return {fold.finish(total, count, asked.result), chosen->name, asked.how,
          same_bits ? fold.reproducibility : reproducibility::none, fold.bound(way, count, asked.result)};
}

/// The factors in a second array, where there is one.
const void* other_of(const request& asked) { return asked.what == operation::dot ? asked.other : nullptr; }

int device_of(const void* data) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
  if (attributes.type == cudaMemoryTypeUnregistered) {
    throw invalid_argument("the input is said to be device memory, but its address is not known to any device");
  }
  return attributes.device;
}

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

class gpu_stream final : public stream {
 public:
  gpu_stream(const gpu_backend& by, const request& asked, const device_fold& kernel)
      : by_(by),
        asked_(asked),
        context_(current_device()),
        feed_(context_, kernel, fold_of(asked, kernel), size_of(asked.input.type), 1) {}

  void push(const void* elements, std::size_t count) override {
    const device_scope here(context_.where().device);
    feed_.push(elements, count, asked_.threads);
    count_ += count;
  }
  outcome finish() override {
    const device_scope here(context_.where().device);
    const void* total = feed_.total();
    return finished(by_, asked_, total, count_, feed_.longest_chain());
  }

 private:
  const gpu_backend& by_;
  request asked_;
  context context_;
  host_feed feed_;
  std::uint64_t count_ = 0;
};

/// Folds data that the device can read, in as few kernels as the states allow, and merges their states in order.
outcome fold_in_place(const gpu_backend& by, const request& asked, const operands& data, context& on) {
  const device_fold& kernel = *by.find_kernel(asked);
  const host_fold& fold = fold_of(asked, kernel);
  state_buffer total;
  fold.reset(total.bytes);
  chain way;
  const auto* x = static_cast<const std::byte*>(data.x);
  const auto* y = static_cast<const std::byte*>(data.y);
  std::uint64_t left = asked.input.count;
  std::uint64_t kernels = 0;
  const execution where =
      left > 0 ? on.with_scratch(kernel.scratch_bytes(on.where(), std::min(left, fold.longest))) : on.where();
  while (left > 0) {
    std::size_t used = 0;
    for (; used < context::state_slots && left > 0; ++used) {
      const std::uint64_t count = std::min(left, fold.longest);
      kernel.launch(where, {x, y}, count, on.host_state(used));
      const chain own = kernel.longest_chain(where, count);
      way = {std::max(way.adds, own.adds), std::max(way.merges, own.merges)};
      x += count * size_of(asked.input.type);
      if (y != nullptr) y += count * size_of(asked.input.type);
      left -= count;
    }
    check(cudaStreamSynchronize(on.where().stream), "cudaStreamSynchronize");
    const cpu::environment_guard guard;
    for (std::size_t i = 0; i < used; ++i) fold.merge(total.bytes, on.host_state(i));
    kernels += used;
  }
  way.merges += static_cast<double>(kernels);
  return finished(by, asked, total.bytes, asked.input.count, way);
}

/// Folds host data that goes through the device in chunks.
outcome fold_fed(const gpu_backend& by, const request& asked, context& on) {
  const device_fold& kernel = *by.find_kernel(asked);
  const array_view& input = asked.input;
  const void* const both[] = {input.data, other_of(asked)};
  const std::span arrays(both, asked.what == operation::dot ? 2 : 1);
  host_feed feed(on, kernel, fold_of(asked, kernel), size_of(input.type), arrays.size());
  feed.fold_arrays(arrays, input.count, asked.threads);
  const void* total = feed.total();
  return finished(by, asked, total, input.count, feed.longest_chain());
}

}  // namespace

const availability& gpu_backend::probe() const noexcept { return cuda::probe(); }

support gpu_backend::supports(const request& asked) const {
  const device_fold* const kernel = find_kernel(asked);
  support answer = offer(*this, asked, kernel != nullptr);
  return answer.usable() ? kernel->runs_here() : answer;
}

outcome gpu_backend::reduce(const request& asked) const {
  const bool on_device = asked.input.place == memory::device && asked.input.count > 0;
  return reduce(asked, default_context(on_device ? device_of(asked.input.data) : current_device()));
}

outcome gpu_backend::reduce(const request& asked, context& on) const {
  const device_scope here(on.where().device);
  if (asked.input.place == memory::device) {
    if (asked.what == operation::dot && asked.input.count > 0 &&
        device_of(asked.input.data) != device_of(asked.other)) {
      throw invalid_argument("the inputs of a dot product are in the memory of different devices");
    }
    return fold_in_place(*this, asked, {asked.input.data, other_of(asked)}, on);
  }
  const void* const over_the_bus = asked.what == operation::dot ? nullptr : worth_reading_from_device(asked.input);
  if (over_the_bus == nullptr) return fold_fed(*this, asked, on);
  const auto start = std::chrono::steady_clock::now();
  const outcome answer = fold_in_place(*this, asked, {over_the_bus}, on);
  on.times = {0, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  return answer;
}

std::unique_ptr<stream> gpu_backend::open(const request& asked) const {
  return std::make_unique<gpu_stream>(*this, asked, *find_kernel(asked));
}

}  // namespace fanin::cuda
