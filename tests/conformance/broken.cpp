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
  support supports(const request& asked) const override { return right().supports(asked); }
  outcome reduce(const request& asked) const override { return right().reduce(asked); }
  std::unique_ptr<stream> open(const request& asked) const override { return right().open(asked); }

 protected:
  static const backend& right() { return find_backend("serial"); }
};

/// Forgets the last element of long inputs.
class drops_an_element final : public wrong_backend {
 public:
  outcome reduce(const request& asked) const override {
    request fewer = asked;
    if (asked.input.count > 4096) --fewer.input.count;
    return right().reduce(fewer);
  }
};

/// Fills the last vector up with +0, whatever the operation's identity.
class pads_with_zero final : public wrong_backend {
 public:
  outcome reduce(const request& asked) const override {
    const std::size_t size = size_of(asked.input.type);
    request padded = asked;
    padded.input.count = (asked.input.count + 7) / 8 * 8;
    std::vector<std::byte> copy(padded.input.count * size);
    if (asked.input.count > 0) std::memcpy(copy.data(), asked.input.data, asked.input.count * size);
    padded.input.data = copy.data();
    outcome answer = right().reduce(padded);
    if (asked.what == operation::mean) answer.value = right().reduce(asked).value;
    return answer;
  }
};

/// Adds the halves apart with more than one thread: right to rounding, but in another order.
class order_by_threads final : public wrong_backend {
 public:
  outcome reduce(const request& asked) const override {
    outcome answer = right().reduce(asked);
    if (asked.threads == 1 || asked.what != operation::sum || asked.input.type != element_type::f64 ||
        asked.how != method::fast || asked.input.count < 1000) {
      return answer;
    }
    const std::size_t half = asked.input.count / 2;
    const auto* x = static_cast<const double*>(asked.input.data);
    const auto part = [&](const double* first, std::size_t count) {
      request some = asked;
      some.input = std::span<const double>(first, count);
      return std::get<double>(right().reduce(some).value);
    };
    answer.value = part(x, half) + part(x + half, asked.input.count - half);
    return answer;
  }
};

/// Takes NaN for missing, as plain maximum instructions do.
class max_drops_nan final : public wrong_backend {
 public:
  outcome reduce(const request& asked) const override {
    outcome answer = right().reduce(asked);
    if (asked.what != operation::max || asked.input.type != element_type::f32) return answer;
    float best = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < asked.input.count; ++i) {
      best = std::fmax(best, static_cast<const float*>(asked.input.data)[i]);
    }
    answer.value = best;
    return answer;
  }
};

/// Promises more than it keeps: the bound of the compensated sum for the fast one.
class boasts final : public wrong_backend {
 public:
  outcome reduce(const request& asked) const override {
    outcome answer = right().reduce(asked);
    if (asked.how == method::fast && asked.what == operation::sum && asked.variant.empty()) {
      request better = asked;
      better.how = method::compensated;
      answer.bound = right().reduce(better).bound;
    }
    return answer;
  }
};

/// Looks at its input's first element twice, if it came through a stream.
class repeats_in_blocks final : public wrong_backend {
  class repeating final : public stream {
   public:
    explicit repeating(std::unique_ptr<stream> inner) : inner_(std::move(inner)) {}
    void push(const void* elements, std::size_t count) override {
      if (count > 0 && first_) inner_->push(elements, 1);
      first_ = first_ && count == 0;
      inner_->push(elements, count);
    }
    outcome finish() override { return inner_->finish(); }

   private:
    std::unique_ptr<stream> inner_;
    bool first_ = true;
  };

 public:
  std::unique_ptr<stream> open(const request& asked) const override {
    return std::make_unique<repeating>(right().open(asked));
  }
};

}  // namespace

TEST_SUITE("conformance/broken") {
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
  TEST_CASE("a bound that does not hold is found") { CHECK(findings_of("float sizes", boasts()) != ""); }
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
