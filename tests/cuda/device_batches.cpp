// SPDX-License-Identifier: Apache-2.0
// Batches in device memory against the contract of a backend: one that copies its input to the device and reduces it
// there as the only row or group of a batch, or as the batch that it is given.
#include <doctest/doctest.h>

#include <fanin/device.hpp>

#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_memory.hpp"

namespace fanin::test {
namespace {

/// Device memory that calls share, filled from its end. What one call copies is overwritten by the next.
class arena {
 public:
  void clear() { used_ = 0; }
  /// The copy of [low, high) bytes from `data`, at the same distance from a boundary of 16 bytes, and `shift` bytes
  /// more. Returns where `data` itself would be.
  std::byte* copy(const void* data, std::ptrdiff_t low, std::ptrdiff_t high, std::size_t shift) {
    const auto bytes = static_cast<std::size_t>(high - low);
    const auto* const from = static_cast<const std::byte*>(data) + low;
    const std::size_t place = (used_ + 255) / 256 * 256 + 64 + shift;
    if (place + bytes > size) throw out_of_memory("the arena is too small");
    used_ = place + bytes;
    std::byte* const to = memory_.get() + place;
    if (bytes > 0) cuda::check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return to - low;
  }

 private:
  static constexpr std::size_t size = std::size_t{1} << 27;
  cuda::device_memory memory_ = cuda::allocate_device(size);
  std::size_t used_ = 0;
};

/// The first and the end of an input's elements, in elements, and of its mask's entries.
struct reach {
  std::ptrdiff_t low = 0, high = 0, mask_high = 0;
};
reach reach_of(const batch& many, std::size_t input) {
  const auto count = static_cast<std::ptrdiff_t>(many.inputs.count());
  if (many.kind != layout::rows || count == 0) return {0, count, count};
  reach found{0, 1, 1};
  for (std::size_t a = 0; a < many.kept + many.reduced; ++a) {
    const array_axis& axis = many.axes[a];
    const auto last = static_cast<std::ptrdiff_t>(axis.count) - 1;
    (axis.stride[input] < 0 ? found.low : found.high) += last * axis.stride[input];
    found.mask_high += last * axis.mask_stride;
  }
  return found;
}

class batches_on_device final : public backend {
 public:
  /// `alone`: as what an array is reduced, a row or a group.
  explicit batches_on_device(layout alone) : alone_(alone) {}
  std::string_view name() const noexcept override { return device().name(); }
  const availability& probe() const noexcept override { return device().probe(); }
  std::span<const variant_info> variants() const noexcept override { return device().variants().first(3); }
  support prepare(request& request) const override {
    fanin::request there = on_device(request);
    support answer = device().prepare(there);
    request.variant = there.variant;
    request.prepared = there.prepared;
    request.threads = 1;
    return answer;
  }
  outcome reduce(const request& request, void* result) const override {
    const std::size_t count = request.inputs.count(), shape[] = {count};
    const int along[] = {0};
    const std::vector<std::uint32_t> keys(count);
    fanin::request batched = request;
    batched.kind = alone_;
    const batch one = alone_ == layout::rows
                          ? rows(request.inputs, shape, along)
                          : groups(request.inputs, array_view(keys.data(), count, element_type::u32), 1);
    return reduce_each(batched, one, {result, 1, request.result, row_of(request.what).form});
  }
  outcome reduce_each(const request& request, const batch& many, const results_view& out) const override {
    memory_.clear();
    shift_ = (shift_ + 1) % 7;
    const std::size_t bytes = byte_size(request.inputs.type());
    batch there = many;
    array_view x[2];
    for (int i = 0; i < many.inputs.size(); ++i) {
      const reach all = reach_of(many, static_cast<std::size_t>(i));
      const auto width = static_cast<std::ptrdiff_t>(bytes);
      x[i] = array_view(memory_.copy(many.inputs[i].data, all.low * width, all.high * width, shift_ * bytes),
                        many.inputs.count(), request.inputs.type(), memory::device);
    }
    there.inputs = many.inputs.size() == 2 ? input_views(x[0], x[1]) : input_views(x[0]);
    if (mask_view mask = many.inputs.mask()) {
      const std::uint64_t entries = mask.first + static_cast<std::uint64_t>(reach_of(many, 0).mask_high);
      const std::uint64_t mask_bytes = mask.form == mask_form::bits ? (entries + 7) / 8 : entries;
      mask.data = memory_.copy(mask.data, 0, static_cast<std::ptrdiff_t>(mask_bytes), 1);
      there.inputs = there.inputs.where(mask);
    }
    if (many.kind != layout::rows) {
      there.index.data = memory_.copy(many.index.data, 0, static_cast<std::ptrdiff_t>(many.index.bytes()), 0);
      there.index.place = memory::device;
    }
    fanin::request asked = on_device(request);
    asked.inputs = there.inputs;
    asked.kind = many.kind;
    return device().reduce_each(asked, there, out);
  }
  std::unique_ptr<stream> open(const request&) const override {
    throw unsupported("batches do not arrive in blocks");
  }

 private:
  static const backend& device() { return find_backend("cuda"); }
  request on_device(request request) const {
    array_view x[2] = {request.inputs[0], request.inputs[1]};
    for (array_view& one : x) one.place = memory::device;
    const mask_view mask = request.inputs.mask();
    request.inputs = (request.inputs.size() == 2 ? input_views(x[0], x[1]) : input_views(x[0])).where(mask);
    if (request.kind == layout::array) request.kind = alone_;
    return request;
  }

  layout alone_;
  mutable arena memory_;
  mutable std::size_t shift_ = 0;
};

/// Runs the checks of the contract that have these names.
void check_on_device(layout alone, std::initializer_list<const char*> names) {
  if (!device_is_here()) return;
  const batches_on_device b(alone);
  for (const char* const name : names) {
    SUBCASE(name) { CHECK(findings_of(name, b) == ""); }
  }
}

}  // namespace

// Several suites, since each takes minutes.
TEST_SUITE("conformance/batches_on_device") {
  TEST_CASE("rows and segments keep the contract") {
    check_on_device(layout::rows, {"batches", "additions", "one hash"});
  }
}
TEST_SUITE("conformance/groups_on_device") {
  TEST_CASE("groups keep the contract") {
    check_on_device(layout::groups, {"groups", "keys", "group additions", "special values", "float sizes", "bounds"});
  }
}
TEST_SUITE("conformance/floats_as_rows_on_device") {
  TEST_CASE("one row keeps the contract") {
    check_on_device(layout::rows, {"special values", "float sizes", "complex numbers", "bounds"});
  }
}
TEST_SUITE("conformance/integers_as_rows_on_device") {
  TEST_CASE("one row keeps the contract") { check_on_device(layout::rows, {"integer limits", "integer sizes"}); }
}

}  // namespace fanin::test
