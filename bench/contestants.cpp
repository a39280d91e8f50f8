// SPDX-License-Identifier: Apache-2.0
#include "bench/contestants.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fanin/fanin.hpp>

#include "bench/peers.hpp"

namespace fanin::bench {

namespace {

volatile double sink;  ///< receives the results, so that the compiler keeps the calls

/// A contestant whose seconds() times `f`, which maps an array to a number.
template <class F>
contestant timed(std::string name, const measure::rotation& input, const measure::stopping_rule& limit, F f) {
  return {std::move(name), [&input, limit, f] {
            return measure::time_calls([&](std::size_t i) { sink = static_cast<double>(f(input.at(i))); }, limit)
                .seconds();
          }};
}

}  // namespace

std::vector<const backend*> cpu_backends() {
  std::vector<const backend*> all;
  std::ranges::copy_if(backends(), std::back_inserter(all),
                       [](const backend* one) { return one->home() == memory::host && one->probe().usable(); });
  return all;
}

template <class T>
std::vector<contestant> sums_of_backend(const backend& b, const measure::rotation& input,
                                        const measure::stopping_rule& limit) {
  std::vector<contestant> all;
  for (const std::string_view variant : {"simd", "compensated", "exact"}) {
    const plan sum(operation::sum, type_of<T>, {.backend = b.name(), .variant = variant});
    all.push_back(timed(std::string(b.name()) + "/" + std::string(variant), input, limit,
                        [sum](const array_view& x) { return fanin::get<T>(sum(x).value); }));
  }
  return all;
}

template <class T>
std::vector<contestant> ceilings_and_peers(const measure::rotation& input, measure::reader* all_threads,
                                           const measure::stopping_rule& limit) {
  const auto add = [&](std::vector<contestant>& to, const char* name, auto f) {
    to.push_back(timed(name, input, limit, f));
  };
  const auto data = [](const array_view& x) { return static_cast<const T*>(x.data); };
  std::vector<contestant> all;
  add(all, "ceiling/one-thread", [](const array_view& x) { return measure::read_alone(x.data, x.bytes()); });
  add(all, "peer/eigen", [=](const array_view& x) { return eigen_sum(data(x), x.count); });
  add(all, "peer/std-reduce-unseq", [=](const array_view& x) { return std_reduce_unseq(data(x), x.count); });
  if (all_threads == nullptr) return all;
  add(all, "ceiling/all-threads", [=](const array_view& x) { return all_threads->read(x.data, x.bytes()); });
  add(all, "peer/std-reduce-par-unseq", [=](const array_view& x) { return std_reduce_par_unseq(data(x), x.count); });
  return all;
}

template std::vector<contestant> sums_of_backend<float>(const backend&, const measure::rotation&,
                                                        const measure::stopping_rule&);
template std::vector<contestant> sums_of_backend<double>(const backend&, const measure::rotation&,
                                                         const measure::stopping_rule&);
template std::vector<contestant> ceilings_and_peers<float>(const measure::rotation&, measure::reader*,
                                                           const measure::stopping_rule&);
template std::vector<contestant> ceilings_and_peers<double>(const measure::rotation&, measure::reader*,
                                                            const measure::stopping_rule&);

}  // namespace fanin::bench
