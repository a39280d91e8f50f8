// SPDX-License-Identifier: Apache-2.0
// The functions behind the verbs of fanin.hpp: their element types are values, not template parameters.
#include <fanin/fanin.hpp>
#include <fanin/fold.hpp>
#include <fanin/state.hpp>

#include "backends/as_scalar.hpp"
#include "backends/checks.hpp"
#include "backends/choice.hpp"
#include "backends/cpu/environment.hpp"
#include "backends/cpu/exact.hpp"
#include "backends/fallback.hpp"
#include "backends/presence_rule.hpp"
#include "backends/short_sum.hpp"

namespace fanin {
namespace {

/// The requests of `serial` for each operation, element type and method, with the default variant and result. A call
/// that one of them serves makes no choice, which would take longer than the reduction of a short array.
class prepared_requests {
 public:
  prepared_requests() {
    for (const operation what : all_operations) {
      for (const element_type type : all_element_types) {
        for (const method how : all_methods) prepare(what, type, how);
      }
    }
  }
  static const prepared_requests& all() {
    static const prepared_requests ready;
    return ready;
  }
  /// Null if `serial` does not offer that. The operation and the method exist.
  const request* find(operation what, element_type type, method how) const {
    if (static_cast<std::size_t>(type) >= element_count) return nullptr;
    const request& found = requests_[index(what, type, how)];
    return found.prepared != nullptr ? &found : nullptr;
  }
  const backend& serial = find_backend("serial");

 private:
  static std::size_t index(operation what, element_type type, method how) {
    const auto row = static_cast<std::size_t>(what) * element_count + static_cast<std::size_t>(type);
    return row * std::size(method_rows) + static_cast<std::size_t>(how);
  }
  void prepare(operation what, element_type type, method how) {
    request one{what, views_without_data(what, type, 0, memory::host), how, default_result(what, type), {}};
    if (is_offered(what, type, how) && serial.prepare(one).usable()) requests_[index(what, type, how)] = one;
  }
  request requests_[operation_count * element_count * std::size(method_rows)];
};

/// Whether select() chooses `serial` for host input.
bool chooses_serial(const input_views& inputs, const options& chosen) {
  const std::string_view wanted = wanted_backend(chosen);
  const bool automatic = wanted.empty() || wanted == "auto";
  return automatic ? inputs.count() < small_input_bytes / size_of(inputs.type()) : wanted == "serial";
}

/// The request that serves the call, or null. The inputs' data and count are checked.
const request* find_prepared(const prepared_requests& all, operation what, const input_views& inputs,
                             element_type result, const options& chosen) {
  const method how = chosen.how.value_or(default_method(what));
  if (inputs.place() != memory::host || inputs.size() != row_of(what).inputs || !is_method(how)) return nullptr;
  const request* const found = all.find(what, inputs.type(), how);
  if (found == nullptr || found->result != result || !chooses_serial(inputs, chosen)) return nullptr;
  if (chosen.nan != nan_policy::propagate || !chosen.devices.empty()) return nullptr;
  return chosen.variant.empty() || chosen.variant == found->variant ? found : nullptr;
}

/// Writes the value by the backend that `choose` returns.
template <class Choose>
report reduce_by(Choose choose, memory place, void* value, const options& chosen) {
  const auto run = [&](selection& s) {
    return report(s.chosen->name(), s.chosen->reduce(s.what, value), std::move(s.fallback));
  };
  return with_fallback(choose, run, [&] { return leaves_choice(chosen, place); });
}

/// Sets `found` to what `choose` returns, and returns that backend's stream.
template <class Choose>
std::unique_ptr<stream> open_by(Choose choose, const options& chosen, selection& found) {
  const auto run = [&](selection& s) {
    auto opened = s.chosen->open(s.what);
    found = std::move(s);
    return opened;
  };
  return with_fallback(choose, run, [&] { return leaves_choice(chosen, memory::host); });
}

}  // namespace

input_views input_views::part(std::size_t first, std::size_t count) const {
  input_views some = *this;
  for (int i = 0; i < size_; ++i) {
    some.views_[i].data = static_cast<const std::byte*>(views_[i].data) + first * size_of(views_[i].type);
    some.views_[i].count = count;
  }
  some.mask_ = mask_.from(first);
  return some;
}

report reduce(operation what, const input_views& inputs, const result_view& value, const options& chosen) {
  check_data(inputs);
  check_count(what, inputs.count());
  check_result(what, value, chosen.result);
  const prepared_requests& ready = prepared_requests::all();
  if (const request* const found = find_prepared(ready, what, inputs, value.type, chosen)) {
    return ready.serial.reduce_inputs(*found, inputs, value.data);
  }
  options with_result = chosen;
  with_result.result = value.type;
  const auto select_backend = [&](std::span<const passed_over> failed) {
    return choose(what, inputs, with_result, failed);
  };
  return reduce_by(select_backend, inputs.place(), value.data, with_result);
}

result<scalar> reduce(operation what, const input_views& inputs, const options& chosen) {
  return as_scalar(what, chosen.result.value_or(default_result(what, inputs.type())),
                   [&](const result_view& value) { return reduce(what, inputs, value, chosen); });
}

report detail::exact_state(operation what, element_type type, const input_views& x, void* state, std::size_t bytes,
                           options chosen) {
  check_data(x);
  check_state(type, x.type(), chosen);
  const prepared_requests& ready = prepared_requests::all();
  if (const request* const found = find_prepared(ready, what, x, default_result(what, x.type()), chosen)) {
    request for_state = *found;
    for_state.state_bytes = bytes;
    return ready.serial.reduce_inputs(for_state, x, state);
  }
  const auto select_backend = [&](std::span<const passed_over> failed) {
    selection s = choose(what, x, chosen, failed);
    s.what.state_bytes = bytes;
    return s;
  };
  return reduce_by(select_backend, x.place(), state, chosen);
}

bool detail::short_exact_sum(const input_views& x, const options& chosen, double (&terms)[2], report& done) {
  if (x.type() != element_type::f64 || x.count() - 1 >= cpu::longest_short_sum || is_partial(x, chosen.nan)) {
    return false;
  }
  if (chosen.how.value_or(method::exact) != method::exact || chosen.result || !chosen.variant.empty() ||
      !chosen.devices.empty() || x.place() != memory::host || !chooses_serial(x, chosen)) {
    return false;
  }
  check_data(x);
  const prepared_requests& ready = prepared_requests::all();
  const request* const found = ready.find(operation::sum, element_type::f64, method::exact);
  const cpu::environment_guard guard;
  if (!cpu::sum_in_two(static_cast<const double*>(x[0].data), x.count(), terms)) return false;
  // Field by field: a whole report is copied by loads that wait for its narrower stores.
  done.backend = ready.serial.name();
  done.variant = found->variant;
  done.how = method::exact;
  done.reproducibility = reproducibility::exact;
  done.bound = accumulator::rounded_bound<double>();
  return true;
}

plan::plan(operation what, element_type type, const options& chosen, std::size_t expected_count, memory place,
           layout kind)
    : chosen_(translate_bad_alloc(
          [&] { return choose(what, views_without_data(what, type, expected_count, place), chosen, {}, kind); })) {}

report plan::operator()(const input_views& inputs, const result_view& value) const {
  const request& planned = chosen_.what;
  check_data(inputs);
  check_count(planned.what, inputs.count());
  if (planned.kind != layout::array || inputs.size() != planned.inputs.size() ||
      inputs.type() != planned.inputs.type() || inputs.place() != planned.inputs.place()) {
    throw invalid_argument("the inputs' layout, number, type or place is not the planned one");
  }
  check_result(planned.what, value, planned.result);
  return translate_bad_alloc([&] { return chosen_.chosen->reduce_inputs(planned, inputs, value.data); });
}

result<scalar> plan::operator()(const input_views& inputs) const {
  return as_scalar(chosen_.what.what, chosen_.what.result,
                   [&](const result_view& value) { return (*this)(inputs, value); });
}

incremental::incremental(operation what, element_type type, const options& chosen)
    : stream_(open_by(
          [&](std::span<const passed_over> failed) {
            return choose(what, views_without_data(what, type, plan::unknown_count, memory::host), chosen, failed);
          },
          chosen, chosen_)) {}

void incremental::push(const input_views& blocks) {
  check_data(blocks);
  if (blocks.size() != chosen_.what.inputs.size() || blocks.type() != chosen_.what.inputs.type() ||
      blocks.place() != memory::host) {
    throw invalid_argument("the blocks' number, type or place is not the stream's");
  }
  count_ += blocks.count();
  translate_bad_alloc([&] { stream_->push(blocks); });
}

report incremental::finish(const result_view& value) {
  check_count(chosen_.what.what, count_);
  check_result(chosen_.what.what, value, chosen_.what.result);
  return translate_bad_alloc(
      [&] { return report(chosen_.chosen->name(), stream_->finish(value.data), chosen_.fallback); });
}

result<scalar> incremental::finish() {
  return as_scalar(chosen_.what.what, chosen_.what.result, [&](const result_view& value) { return finish(value); });
}

namespace detail {
namespace {

selection choose_for_own(const arithmetic& own, const input_views& inputs, const options& chosen,
                         std::span<const passed_over> failed) {
  if (chosen.how || chosen.result || chosen.nan != nan_policy::propagate) {
    throw invalid_argument("an accumulator of your own decides itself about method, type of the result and NaN");
  }
  return select(backends(), wanted_backend(chosen), own, inputs, chosen, failed);
}

}  // namespace

report fold_own(const arithmetic& own, const input_views& inputs, void* value, const options& chosen) {
  check_data(inputs);
  const auto select_backend = [&](std::span<const passed_over> failed) {
    return choose_for_own(own, inputs, chosen, failed);
  };
  return reduce_by(select_backend, inputs.place(), value, chosen);
}

own_stream::own_stream(const arithmetic& own, const options& chosen)
    : stream_(open_by(
          [&](std::span<const passed_over> failed) {
            return choose_for_own(own, array_view(nullptr, plan::unknown_count, element_type::f64), chosen, failed);
          },
          chosen, chosen_)) {}

void own_stream::push(const input_views& blocks) {
  check_data(blocks);
  translate_bad_alloc([&] { stream_->push(blocks); });
}

report own_stream::finish(void* value) {
  return translate_bad_alloc(
      [&] { return report(chosen_.chosen->name(), stream_->finish(value), chosen_.fallback); });
}

}  // namespace detail
}  // namespace fanin
