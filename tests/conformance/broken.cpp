// SPDX-License-Identifier: Apache-2.0
// The suite can fail: backends that are broken on purpose, and the checks that have to notice.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/absent.hpp"
#include "tests/conformance/suite.hpp"

namespace fanin::test {
namespace {

/// The serial backend but for reduce().
class wrong_backend : public backend {
 public:
  std::string_view name() const noexcept override { return "wrong"; }
  const availability& probe() const noexcept override { return right().probe(); }
  std::span<const variant_info> variants() const noexcept override { return right().variants(); }
  support prepare(request& request) const override {
    const unsigned threads = request.threads;  // the serial backend sets it to 1
    const support answer = right().prepare(request);
    request.threads = threads;
    return answer;
  }
  outcome reduce(const request& request, void* result) const override { return right().reduce(request, result); }
  std::unique_ptr<stream> open(const request& request) const override { return right().open(request); }

 protected:
  static const backend& right() { return find_backend("serial"); }
};

/// Leaves out the last element of long inputs.
class drops_an_element final : public wrong_backend {
 public:
  outcome reduce(const request& request, void* result) const override {
    fanin::request fewer = request;
    const std::size_t count = request.inputs.count();
    if (count > 4096) fewer.inputs = request.inputs.part(0, count - 1);
    return right().reduce(fewer, result);
  }
};

/// Fills the last vector up with +0, whatever the operation's identity.
class pads_with_zero final : public wrong_backend {
 public:
  outcome reduce(const request& request, void* result) const override {
    const array_view& x = request.inputs[0];
    const std::size_t count = (x.count + 7) / 8 * 8;
    std::vector<std::byte> copy(count * byte_size(x.type));
    if (x.count > 0) std::memcpy(copy.data(), x.data, x.bytes());
    fanin::request padded = request;
    padded.inputs = inputs_for(request.what, array_view(copy.data(), count, x.type));
    return right().reduce(request.what == operation::mean ? request : padded, result);
  }
};

/// Adds the two halves separately with more than one thread: right to rounding, but in another order.
class order_by_threads final : public wrong_backend {
 public:
  outcome reduce(const request& request, void* result) const override {
    const outcome answer = right().reduce(request, result);
    const std::size_t count = request.inputs.count();
    if (request.threads == 1 || request.what != operation::sum || request.inputs.type() != element_type::f64 ||
        request.method != method::fast || count < 1000) {
      return answer;
    }
    const auto part = [&](std::size_t first, std::size_t length) {
      fanin::request some = request;
      some.inputs = request.inputs.part(first, length);
      return fanin::get<double>(reduced(right(), some).value);
    };
    *static_cast<double*>(result) = part(0, count / 2) + part(count / 2, count - count / 2);
    return answer;
  }
};

/// Skips NaN, as plain maximum instructions do.
class max_drops_nan final : public wrong_backend {
 public:
  outcome reduce(const request& request, void* result) const override {
    const outcome answer = right().reduce(request, result);
    const array_view& x = request.inputs[0];
    if (request.what != operation::max || x.type != element_type::f32) return answer;
    float best = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < x.count; ++i) best = std::fmax(best, static_cast<const float*>(x.data)[i]);
    *static_cast<float*>(result) = best;
    return answer;
  }
};

/// Claims the bound of the compensated sum for the fast one.
class claims_too_much final : public wrong_backend {
 public:
  outcome reduce(const request& request, void* result) const override {
    outcome answer = right().reduce(request, result);
    if (request.method == method::fast && request.what == operation::sum && request.variant == "simd") {
      answer.bound = call(right(), request.what, request.inputs[0], {.method = method::compensated}).bound;
    }
    return answer;
  }
};

/// Folds its input's first element twice, if it came through a stream.
class repeats_in_blocks final : public wrong_backend {
  class repeating final : public stream {
   public:
    explicit repeating(std::unique_ptr<stream> inner) : inner_(std::move(inner)) {}
    void push(const input_views& blocks) override {
      if (blocks.count() > 0 && first_) inner_->push(blocks.part(0, 1));
      first_ = first_ && blocks.count() == 0;
      inner_->push(blocks);
    }
    outcome finish(void* result) override { return inner_->finish(result); }

   private:
    std::unique_ptr<stream> inner_;
    bool first_ = true;
  };

 public:
  std::unique_ptr<stream> open(const request& request) const override {
    return std::make_unique<repeating>(right().open(request));
  }
};

/// Swaps the first two results of groups.
class swaps_groups final : public wrong_backend {
 public:
  outcome reduce_each(const request& request, const batch& many, const results_view& out) const override {
    const outcome answer = right().reduce_each(request, many, out);
    if (many.kind == layout::groups && many.result_count > 1) {
      with_result_type(request.what, request.result, [&]<class R>() {
        auto* const each = static_cast<R*>(out.data);
        std::swap(each[0], each[1]);
      });
    }
    return answer;
  }
};

/// Folds each row without one of its elements, unless the row has only one element.
class shortens_rows final : public wrong_backend {
 public:
  outcome reduce_each(const request& request, const batch& many, const results_view& out) const override {
    batch shorter = many;
    if (many.kind == layout::rows && many.result_count > 1 && many.reduced > 0) {
      array_axis& along = shorter.axes[many.kept + many.reduced - 1];
      along.count -= along.count > 1 ? 1 : 0;
    }
    return right().reduce_each(request, shorter, out);
  }
};

}  // namespace

TEST_SUITE("conformance/broken") {
  TEST_CASE("results that see their neighbours are found") {
    CHECK(findings_of("groups", swaps_groups()) != "");
    CHECK(findings_of("batches", shortens_rows()) != "");
    CHECK(findings_of("one hash", swaps_groups()) != "");
    CHECK(findings_of("one hash", shortens_rows()) != "");
  }
  TEST_CASE("a backend that is right passes through the same frame") {
    CHECK(findings_of("special values", wrong_backend()) == "");
    CHECK(findings_of("variants", wrong_backend()) == "");
  }
  TEST_CASE("a dropped element is found") {
    CHECK(findings_of("float sizes", drops_an_element()) != "");
    CHECK(findings_of("integer sizes", drops_an_element()) != "");
    CHECK(findings_of("special values", drops_an_element()) != "");
  }
  TEST_CASE("a wrong identity is found") {
    CHECK(findings_of("float sizes", pads_with_zero()) != "");
    CHECK(findings_of("integer sizes", pads_with_zero()) != "");
    CHECK(findings_of("special values", pads_with_zero()) != "");
  }
  TEST_CASE("an order that depends on threads is found") {
    CHECK(findings_of("reproducibility", order_by_threads()) != "");
    CHECK(findings_of("float sizes", order_by_threads()) == "");
  }
  TEST_CASE("a lost NaN is found") { CHECK(findings_of("special values", max_drops_nan()) != ""); }
  TEST_CASE("a bound that does not hold is found") { CHECK(findings_of("float sizes", claims_too_much()) != ""); }
  TEST_CASE("a stream that differs is found") { CHECK(findings_of("blocks", repeats_in_blocks()) != ""); }

  TEST_CASE("a backend that is not usable is skipped, unless it is required") {
    const absent_backend absent("cuda", "left out");
    CHECK(verdict_on(absent, "") == verdict::skip);
    CHECK(verdict_on(absent, "cud,cuda2,tbb") == verdict::skip);
    CHECK(verdict_on(absent, "cuda") == verdict::fail);
    CHECK(verdict_on(absent, "tbb,cuda") == verdict::fail);
    CHECK(verdict_on(find_backend("serial"), "serial") == verdict::run);
  }
}

}  // namespace fanin::test
