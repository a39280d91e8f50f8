// SPDX-License-Identifier: Apache-2.0
// Tests of the selection of a backend, with fake backends that compute nothing.
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <string>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/describe.hpp>
#include <fanin/error.hpp>
#include <fanin/fanin.hpp>
#include <fanin/loop.hpp>

#include "backends/cpu/cpu_backend.hpp"
#include "backends/fallback.hpp"

namespace {

using namespace fanin;

/// A backend that counts its calls, and whose capabilities are public members.
class fake_backend final : public backend {
 public:
  explicit fake_backend(std::string_view name) : name_(name) {}

  std::string_view name() const noexcept override { return name_; }
  const availability& probe() const noexcept override { return here; }
  memory home() const noexcept override { return works_in; }
  std::span<const variant_info> variants() const noexcept override { return offered; }
  support prepare(request& query) const override {
    if (prepare_fails_with != nullptr) prepare_fails_with();
    if (query.inputs.place() != reads) return {reason::wrong_memory, name_ + " reads elsewhere"};
    if (query.method == refused) return {reason::unsupported, name_ + " has no such method"};
    for (const variant_info& v : offered) {
      if (query.variant.empty() || (query.variant == v.name && query.method == v.method)) return {};
    }
    return {reason::unsupported, name_ + " has no such variant"};
  }
  outcome reduce(const request& query, void*) const override {
    ++reduced;
    if (fails_with != nullptr) fails_with();
    return {query.variant, query.method, reproducibility::none, {}};
  }
  std::unique_ptr<stream> open(const request&) const override { return nullptr; }

  availability here;
  memory reads = memory::host;
  memory works_in = memory::host;
  std::optional<method> refused;
  std::vector<variant_info> offered = {{"plain", method::fast, "one", ""},
                                       {"careful", method::compensated, "two", ""},
                                       {"right", method::exact, "three", ""}};
  void (*fails_with)() = nullptr, (*prepare_fails_with)() = nullptr;  ///< throw what reduce() or prepare() throws
  mutable int reduced = 0;

 private:
  std::string name_;
};

struct machine {
  fake_backend cuda{"cuda"}, tbb{"tbb"}, openmp{"openmp"}, serial{"serial"};
  std::vector<const backend*> all{&cuda, &tbb, &openmp, &serial};

  machine() {
    cuda.reads = memory::device;
    cuda.offered.push_back({"warp-shuffle", method::fast, "four", ""});
    serial.offered.push_back({"kahan", method::compensated, "five", ""});
  }
  selection choose(std::string_view wanted, const array_view& input, const options& chosen = {}) const {
    return select(all, wanted, operation::sum, input, chosen);
  }
};

void runs_out_of_memory() { throw out_of_memory("no memory left"); }
void loses_its_device() { throw device_error("the device is gone"); }
void overflows() { throw overflow("too large"); }

const array_view large(nullptr, std::size_t{1} << 24, element_type::f64);
const array_view small(nullptr, 1000, element_type::f64);
const array_view on_device(nullptr, 1000, element_type::f64, memory::device);

/// The message of the Error that `call()` throws; "" if it throws no Error.
template <class Error, class Call>
std::string words_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  } catch (const std::exception&) {
  }
  return "";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_SUITE("unit/selection") {
  TEST_CASE("auto takes the first that can, and tells who could not") {
    machine m;
    m.cuda.here = {reason::no_driver, "no driver here"};
    const selection s = m.choose("auto", large);
    CHECK(s.chosen == &m.tbb);
    REQUIRE(s.fallback.size() == 1);
    CHECK(s.fallback[0].backend == "cuda");
    CHECK(s.fallback[0].why == reason::no_driver);
    CHECK(s.fallback[0].detail == "no driver here");
    CHECK(m.choose("", large).chosen == &m.tbb);
  }

  TEST_CASE("auto without a first choice that serves goes on in order") {
    machine m;
    m.cuda.reads = memory::host;
    CHECK(m.choose("auto", large).chosen == &m.cuda);
    m.cuda.refused = method::exact;
    m.tbb.here = {reason::not_compiled, "left out"};
    const selection s = m.choose("auto", large, {.method = method::exact});
    CHECK(s.chosen == &m.openmp);
    REQUIRE(s.fallback.size() == 2);
    CHECK(s.fallback[0].why == reason::unsupported);
    CHECK(s.fallback[1].why == reason::not_compiled);
  }

  TEST_CASE("auto gives small host input to serial, without a word") {
    machine m;
    const selection s = m.choose("auto", small);
    CHECK(s.chosen == &m.serial);
    CHECK(s.fallback.empty());
    const std::size_t limit = small_input_bytes / 8;
    CHECK(m.choose("auto", {nullptr, limit - 1, element_type::f64}).chosen == &m.serial);
    CHECK(m.choose("auto", {nullptr, limit, element_type::f64}).chosen == &m.tbb);
    CHECK(m.choose("auto", {nullptr, 2 * limit - 1, element_type::f32}).chosen == &m.serial);
    CHECK(m.choose("auto", {nullptr, static_cast<std::size_t>(-1), element_type::f64}).chosen == &m.tbb);
    detail::arithmetic own{};
    own.element_bytes = 1024;
    const auto choose_for = [&](std::size_t count) {
      return select(m.all, "auto", own, array_view(nullptr, count, element_type::f64), {}).chosen;
    };
    CHECK(choose_for(small_input_bytes / 1024 - 1) == &m.serial);
    CHECK(choose_for(small_input_bytes / 1024) == &m.tbb);
    m.serial.refused = method::exact;
    CHECK(m.choose("auto", small).chosen == &m.tbb);
    CHECK(m.choose("tbb,serial", small).chosen == &m.tbb);
  }

  TEST_CASE("device data goes to who reads it, however small") {
    machine m;
    CHECK(m.choose("auto", on_device).chosen == &m.cuda);
    m.cuda.here = {reason::no_device, "no device here"};
    CHECK(words_of<unsupported>([&] { m.choose("auto", on_device); }) != "");
    CHECK(has(words_of<unsupported>([&] { m.choose("serial", on_device); }), "reads elsewhere"));
  }

  TEST_CASE("auto sends host data to a device only if nobody else can serve") {
    machine m;
    m.cuda.reads = memory::host;
    m.cuda.works_in = memory::device;
    const selection near = m.choose("auto", large);
    CHECK(near.chosen == &m.tbb);
    REQUIRE(near.fallback.size() == 1);
    CHECK(near.fallback[0].backend == "cuda");
    CHECK(near.fallback[0].why == reason::wrong_memory);
    CHECK(m.choose("cuda,tbb", large).chosen == &m.cuda);

    m.cuda.here = {reason::no_driver, "no driver here"};
    REQUIRE(m.choose("auto", large).fallback.size() == 1);
    CHECK(m.choose("auto", large).fallback[0].why == reason::no_driver);
    m.cuda.here = {};

    for (fake_backend* b : {&m.tbb, &m.openmp, &m.serial}) b->refused = method::exact;
    const selection far = m.choose("auto", large);
    CHECK(far.chosen == &m.cuda);
    REQUIRE(far.fallback.size() == 3);
    CHECK(far.fallback[0].backend == "tbb");
  }

  TEST_CASE("named devices leave out the backends that have none") {
    machine m;
    m.cuda.reads = memory::host;
    m.cuda.works_in = memory::device;
    const int numbers[] = {1, 0};
    const options on_devices{.devices = numbers};
    for (const array_view& input : {small, large}) {
      const selection s = m.choose("auto", input, on_devices);
      CHECK(s.chosen == &m.cuda);
      CHECK(s.what.devices.data() == numbers);
      CHECK(s.what.devices.size() == 2);
    }
    CHECK(m.choose("cuda", large).what.devices.empty());
    const selection s = m.choose("serial,cuda", large, on_devices);
    CHECK(s.chosen == &m.cuda);
    REQUIRE(s.fallback.size() == 1);
    CHECK(s.fallback[0].why == reason::unsupported);
    CHECK(words_of<unsupported>([&] { m.choose("tbb", large, on_devices); }) ==
          "tbb has no devices: leave out the option `devices`");
    m.cuda.here = {reason::no_driver, "no driver here"};
    CHECK(has(words_of<backend_unavailable>([&] { m.choose("auto", large, on_devices); }), "no driver here"));
    detail::arithmetic own{};
    own.element_bytes = 8;
    CHECK(words_of<unsupported>([&] { select(m.all, "serial", own, large, on_devices); }) != "");
  }

  TEST_CASE("verbs of backends without devices refuse named devices, however short the input") {
    const int numbers[] = {0};
    const std::vector<double> x = {1, 2};
    const options on_device{.backend = "serial", .devices = numbers};
    CHECK(has(words_of<unsupported>([&] { static_cast<void>(sum(x, on_device)); }), "serial has no devices"));
    CHECK(words_of<unsupported>([&] { static_cast<void>(describe(x, on_device)); }) != "");
    CHECK(words_of<unsupported>([&] { incremental(operation::sum, element_type::f64, on_device); }) != "");
  }

  TEST_CASE("one name means that one or an error") {
    machine m;
    CHECK(m.choose("openmp", small).chosen == &m.openmp);
    CHECK(m.choose("openmp", small).fallback.empty());
    m.openmp.here = {reason::too_old, "an old thing"};
    const std::string words = words_of<backend_unavailable>([&] { m.choose("openmp", small); });
    CHECK(has(words, "openmp"));
    CHECK(has(words, "too_old"));
    CHECK(has(words, "an old thing"));
    m.serial.refused = method::exact;
    CHECK(words_of<unsupported>([&] { m.choose("serial", small, {.method = method::exact}); }) ==
          "serial has no such method");
  }

  TEST_CASE("a list is tried in its own order") {
    machine m;
    m.cuda.here = {reason::no_driver, "no driver here"};
    const selection s = m.choose("cuda,serial,tbb", large);
    CHECK(s.chosen == &m.serial);
    REQUIRE(s.fallback.size() == 1);
    CHECK(s.fallback[0].backend == "cuda");
    m.serial.refused = method::exact;
    CHECK(m.choose("cuda,serial,tbb", large).chosen == &m.tbb);
    CHECK(m.choose("cuda,serial,tbb", large).fallback.size() == 2);
    CHECK(m.choose("tbb,tbb", large).chosen == &m.tbb);
  }

  TEST_CASE("a list of which nobody can") {
    machine m;
    m.cuda.here = {reason::no_driver, "no driver here"};
    m.tbb.here = {reason::not_compiled, "left out"};
    const std::string words = words_of<backend_unavailable>([&] { m.choose("cuda,tbb", large); });
    CHECK(has(words, "cuda: no driver here"));
    CHECK(has(words, "tbb: left out"));
    m.serial.refused = method::exact;
    CHECK(words_of<unsupported>([&] { m.choose("cuda,serial", large); }) != "");
    for (fake_backend* b : {&m.openmp, &m.serial}) b->here = {reason::not_compiled, "left out"};
    CHECK(words_of<backend_unavailable>([&] { m.choose("auto", small); }) != "");
  }

  TEST_CASE("unknown names, with what was meant") {
    machine m;
    CHECK(has(words_of<invalid_argument>([&] { m.choose("opnmp", large); }), "did you mean 'openmp'"));
    CHECK(has(words_of<invalid_argument>([&] { m.choose("atuo", large); }), "did you mean 'auto'"));
    CHECK(!has(words_of<invalid_argument>([&] { m.choose("quantum", large); }), "did you mean"));
    CHECK(has(words_of<invalid_argument>([&] { m.choose("serial,cdua", large); }), "did you mean 'cuda'"));
    CHECK(has(words_of<invalid_argument>([&] { m.choose("se\nri\x9b", large); }), "'se\\x0ari\\x9b'"));
    CHECK(words_of<invalid_argument>([&] { m.choose("Serial", large); }) != "");
    for (const std::string_view list : {"cuda,", ",cuda", "cuda,,tbb", ",", "cuda, tbb", " cuda", "auto,tbb"}) {
      CAPTURE(list);
      CHECK(words_of<invalid_argument>([&] { m.choose(list, large); }) != "");
    }
  }

  TEST_CASE("a variant brings its backend and its method") {
    machine m;
    const std::string name = "kahan";
    const selection s = m.choose("auto", large, {.variant = name});
    CHECK(s.chosen == &m.serial);
    CHECK(s.what.method == method::compensated);
    CHECK(s.what.variant == "kahan");
    CHECK(s.what.variant.data() != name.data());
    CHECK(s.fallback.empty());  // The other backends do not have the variant, so they are no candidates.
    CHECK(m.choose("tbb", large, {.variant = "right"}).what.method == method::exact);
    CHECK(words_of<unsupported>([&] { m.choose("tbb", large, {.variant = "kahan"}); }) != "");
    CHECK(words_of<unsupported>([&] { m.choose("auto", large, {.variant = "kahan", .method = method::exact}); }) !=
          "");
    for (const char* wanted : {"auto", "tbb,serial", "tbb"}) {
      CHECK(has(words_of<invalid_argument>([&] { m.choose(wanted, large, {.variant = "kahn"}); }), "'kahan'"));
    }
    m.serial.here = {reason::no_device, "out of order"};
    CHECK(has(words_of<backend_unavailable>([&] { m.choose("auto", large, {.variant = "kahan"}); }), "out of order"));
  }

  TEST_CASE("what is not said is filled in") {
    machine m;
    const request query = m.choose("tbb", {nullptr, 10, element_type::i32}).what;
    CHECK(query.method == method::exact);
    CHECK(query.result == element_type::i64);
    CHECK(query.threads == default_threads());
    CHECK(query.variant.empty());
    CHECK(m.choose("tbb", large, {.threads = 5}).what.threads == 5);
    CHECK(m.choose("tbb", large, {.threads = 1}).what.threads == 1);
    CHECK(m.choose("tbb", large, {.result = element_type::f32}).what.result == element_type::f32);
  }

  TEST_CASE("the chosen one is called, and nobody else") {
    machine m;
    for (const fake_backend* wanted : {&m.tbb, &m.openmp, &m.serial}) {
      const int before = wanted->reduced;
      const int all_before = m.cuda.reduced + m.tbb.reduced + m.openmp.reduced + m.serial.reduced;
      const selection s = m.choose(wanted->name(), large);
      s.chosen->reduce(s.what, nullptr);
      CHECK(wanted->reduced == before + 1);
      CHECK(m.cuda.reduced + m.tbb.reduced + m.openmp.reduced + m.serial.reduced == all_before + 1);
    }
  }

  TEST_CASE("what fails at run time is passed over where there is a choice") {
    machine m;
    const auto reduce_by = [&](std::string_view wanted, bool leaves_choice) {
      return with_fallback(
          [&](std::span<const passed_over> failed) {
            return select(m.all, wanted, operation::sum, large, {}, failed);
          },
          [](selection& s) {
            s.chosen->reduce(s.what, nullptr);
            return std::move(s);
          },
          [&] { return leaves_choice; });
    };
    m.tbb.fails_with = runs_out_of_memory;
    for (const std::string_view wanted : {"auto", "tbb,serial"}) {
      const selection s = reduce_by(wanted, true);
      CHECK(s.chosen->name() == (wanted == "auto" ? "openmp" : "serial"));
      REQUIRE(!s.fallback.empty());
      CHECK(s.fallback.back().backend == "tbb");
      CHECK(s.fallback.back().why == reason::failed);
      CHECK(s.fallback.back().detail == "no memory left");
    }
    CHECK(m.tbb.reduced == 2);
    const int before = m.serial.reduced;
    for (const std::string_view wanted : {"tbb", "tbb,serial"}) {
      CHECK(words_of<out_of_memory>([&] { reduce_by(wanted, false); }) == "no memory left");
    }
    CHECK(m.serial.reduced == before);

    m.openmp.fails_with = loses_its_device;
    CHECK(reduce_by("tbb,openmp,serial", true).fallback.size() == 2);
    m.serial.fails_with = runs_out_of_memory;
    CHECK(words_of<device_error>([&] { reduce_by("openmp,tbb,serial", true); }) == "the device is gone");
    CHECK(m.serial.reduced == 3);

    m.tbb.fails_with = overflows;  // the value's own error, which every backend has
    CHECK(words_of<overflow>([&] { reduce_by("tbb,serial", true); }) == "too large");
    CHECK(m.serial.reduced == 3);
  }

  TEST_CASE("what cannot prepare a request for want of memory is passed over in a list") {
    machine m;
    m.tbb.prepare_fails_with = runs_out_of_memory;
    const selection s = m.choose("tbb,serial", large);
    CHECK(s.chosen == &m.serial);
    CHECK(s.fallback.front().why == reason::failed);
    CHECK(words_of<out_of_memory>([&] { m.choose("tbb", large); }) == "no memory left");
  }

  TEST_CASE("the registry") {
    const auto all = backends();
    REQUIRE(!all.empty());
    CHECK(all.back()->name() == "serial");
    CHECK(find_backend("serial").probe().usable());
    CHECK(has(words_of<invalid_argument>([] { find_backend("seral"); }), "did you mean 'serial'"));
    for (const backend* b : all) {
      CHECK(&find_backend(b->name()) == b);
      CHECK(b->probe().usable() == b->probe().detail.empty());
      if (b->probe().usable()) continue;
      CHECK(words_of<backend_unavailable>([&] { select(all, b->name(), operation::sum, small, {}); }) != "");
    }
  }

  TEST_CASE("a processor without an instruction set of this build is refused, with the reason") {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
      CHECK(cpu::availability_on(target).usable());
    const availability without = cpu::availability_on(~std::int64_t{HWY_TARGETS});
    CHECK(without.why == reason::too_old);
    CHECK(has(std::string(without.detail), HWY_STATIC_TARGET == HWY_SSE4 ? "SSE4.2" : "AVX"));
  }
}
