// SPDX-License-Identifier: Apache-2.0
// The fuzzers of the command's readers link these backends in place of the library's. The backends compute
// nothing. One of them is not usable, and one reads device memory. Exact sums are added one element at a time.
#include <array>
#include <memory>
#include <vector>

#include <fanin/backend.hpp>

#include "backends/checks.hpp"
#include "backends/cpu/exact.hpp"

namespace fanin {

namespace {

class idle_backend final : public backend {
 public:
  idle_backend(std::string_view name, memory home, availability here) : name_(name), home_(home), here_(here) {}

  std::string_view name() const noexcept override { return name_; }
  const availability& probe() const noexcept override { return here_; }
  memory home() const noexcept override { return home_; }
  std::span<const variant_info> variants() const noexcept override {
    static constexpr variant_info all[] = {{"pairwise", method::fast, "", ""},
                                           {"recursive", method::fast, "", ""},
                                           {"kahan", method::compensated, "", ""},
                                           {"exact", method::exact, "", ""}};
    return all;
  }
  support prepare(request& wanted) const override {
    return check_offer(*this, wanted, is_offered(wanted.what, wanted.inputs.type(), wanted.method));
  }
  outcome reduce(const request& wanted, void*) const override { return {wanted.variant, wanted.method, {}, {}}; }
  std::unique_ptr<stream> open(const request&) const override { return nullptr; }

 private:
  std::string_view name_;
  memory home_;
  availability here_;
};

}  // namespace

std::span<const backend* const> backends() noexcept {
  static const idle_backend cuda("cuda", memory::device, {}), serial("serial", memory::host, {}),
      openmp("openmp", memory::host, {}),
      tbb("tbb", memory::host, {reason::not_compiled, "this build left the backend out"});
  static const std::array<const backend*, 4> all{&cuda, &tbb, &openmp, &serial};
  return all;
}

report backend::reduce_inputs(const request&, const input_views&, void*) const { return {name(), outcome()}; }
outcome backend::reduce_each(const request&, const batch&, const results_view&) const { return {}; }
std::vector<outcome> backend::reduce_jointly(std::span<const request>, const batch&,
                                             std::span<const results_view>) const {
  return {};
}
outcome backend::reduce_parts(const request&, std::span<const input_views>, void*) const { return {}; }
std::unique_ptr<device_work> backend::open_device(int, void*, const device_allocator*) const { return nullptr; }

unsigned default_threads() noexcept { return 2; }

void cpu::add_exact(const float* x, std::size_t count, exact_accumulator<float>& into) { into.add({x, count}); }
void cpu::add_exact(const double* x, std::size_t count, exact_accumulator<double>& into) { into.add({x, count}); }

}  // namespace fanin
