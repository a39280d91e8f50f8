// SPDX-License-Identifier: Apache-2.0
// The functions behind the verbs of fanin.hpp: their element types are values, not template parameters.
#include <fanin/fanin.hpp>
#include <fanin/fold.hpp>

#include "backends/as_scalar.hpp"
#include "backends/checks.hpp"
#include "backends/choice.hpp"
#include "backends/doubles.hpp"
#include "backends/error_bounds.hpp"
#include "backends/prepared_requests.hpp"

namespace fanin {
namespace {

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

// Functions of their own for what short calls leave out, so that short calls save fewer registers.

/// What reduce() does with options::bound.
[[gnu::noinline]] report reduce_and_bound(operation what, const input_views& inputs, const result_view& value,
                                          const options& chosen) {
  const auto on_any = [](operation other, const input_views& x, const result_view& out, const options& how) {
    return reduce(other, x, out, how);
  };
  return reduce_with_bound(what, inputs, value, chosen, "auto", on_any);
}

/// What reduce() does for integers that the operation takes as f64.
report reduce_as_f64(operation what, const input_views& integers, const result_view& value, const options& chosen) {
  check_known(what, integers, chosen.method);
  options with_result = chosen;
  with_result.result = value.type;
  const auto select_backend = [&](std::span<const passed_over> failed) {
    return choose(what, views_as_f64(integers), with_result, failed);
  };
  const auto run = [&](selection& s) {
    const outcome done = run_as_f64(
        s, integers, [&](const request& asked, const input_views&) { return s.chosen->reduce(asked, value.data); });
    return report(s.chosen->name(), done, std::move(s.fallback));
  };
  return with_fallback(select_backend, run, [&] { return leaves_choice(chosen, memory::host); });
}

/// What reduce() does for requests that are not prepared.
[[gnu::noinline]] report reduce_by_choice(operation what, const input_views& inputs, const result_view& value,
                                          const options& chosen) {
  if (is_taken_as_f64(what, inputs.type(), inputs.place())) {
    return reduce_as_f64(what, inputs, value, chosen);
  }
  options with_result = chosen;
  with_result.result = value.type;
  const auto select_backend = [&](std::span<const passed_over> failed) {
    return choose(what, inputs, with_result, failed);
  };
  return reduce_by(select_backend, inputs.place(), value.data, with_result);
}

/// Whether the inputs are those of the plan, but for their data and count.
bool are_planned(const request& planned, const input_views& inputs) {
  return planned.kind == layout::array && inputs.size() == planned.inputs.size() &&
         inputs.type() == planned.inputs.type() && inputs.place() == planned.inputs.place();
}

/// What a plan does for other inputs than planned.
[[gnu::noinline]] report reduce_unplanned(const plan& by, const input_views& inputs, const result_view& value) {
  const request& planned = by.chosen().what;
  if (planned.kind != layout::array || !serves_as_f64(planned, inputs)) {
    throw invalid_argument("the inputs are not like the plan: their layout, number, type or place differs");
  }
  check_known(planned.what, inputs, planned.method);
  check_result(planned.what, value, planned.result);
  const backend& chosen = *by.chosen().chosen;
  return compute([&] {
    const outcome done = translate_bad_alloc([&] {
      return run_as_f64(by.chosen(), inputs,
                        [&](const request& asked, const input_views&) { return chosen.reduce(asked, value.data); });
    });
    return report(chosen.name(), done);
  });
}

}  // namespace

input_views input_views::part(std::size_t first, std::size_t count) const {
  input_views some = *this;
  for (int i = 0; i < size_; ++i) {
    some.views_[i].data = static_cast<const std::byte*>(views_[i].data) + first * byte_size(views_[i].type);
    some.views_[i].count = count;
  }
  some.mask_ = mask_.from(first);
  return some;
}

report reduce(operation what, const input_views& inputs, const result_view& value, const options& chosen) {
  if (chosen.bound) return reduce_and_bound(what, inputs, value, chosen);
  check_data(inputs);
  check_count(what, inputs.count());
  check_result(what, value, chosen.result);
  const prepared_requests& ready = prepared_requests::all();
  if (const request* const found = find_prepared(ready, what, inputs, value.type, chosen)) {
    return compute([&] { return ready.serial.reduce_inputs(*found, inputs, value.data); });
  }
  return reduce_by_choice(what, inputs, value, chosen);
}

result<scalar> reduce(operation what, const input_views& inputs, const options& chosen) {
  return as_scalar(what, chosen.result.value_or(default_result(what, inputs.type())),
                   [&](const result_view& value) { return reduce(what, inputs, value, chosen); });
}

plan::plan(operation what, element_type type, const options& chosen, std::size_t expected_count, memory place,
           layout kind)
    : chosen_(translate_bad_alloc([&] {
        return choose(what, views_without_data(what, taken_as(what, type, place), expected_count, place), chosen, {},
                      kind);
      })) {}

report plan::operator()(const input_views& inputs, const result_view& value) const {
  const request& planned = chosen_.what;
  check_data(inputs);
  check_count(planned.what, inputs.count());
  if (!are_planned(planned, inputs)) return reduce_unplanned(*this, inputs, value);
  check_result(planned.what, value, planned.result);
  return compute([&] { return chosen_.chosen->reduce_inputs(planned, inputs, value.data); });
}

result<scalar> plan::operator()(const input_views& inputs) const {
  return as_scalar(chosen_.what.what, chosen_.what.result,
                   [&](const result_view& value) { return (*this)(inputs, value); });
}

incremental::incremental(operation what, element_type type, const options& chosen)
    : stream_(open_by(
          [&](std::span<const passed_over> failed) {
            return choose(what, views_without_data(what, taken_as(what, type), plan::unknown_count, memory::host),
                          chosen, failed);
          },
          chosen, chosen_)) {}

void incremental::push(const input_views& blocks) {
  check_data(blocks);
  if (is_taken_as_f64(chosen_.what.what, blocks.type(), blocks.place())) {
    check_known(chosen_.what.what, blocks, chosen_.what.method);
    return translate_bad_alloc([&] { push(doubles(blocks).inputs()); });
  }
  if (blocks.size() != chosen_.what.inputs.size() || blocks.type() != chosen_.what.inputs.type() ||
      blocks.place() != memory::host) {
    throw invalid_argument("the blocks are not like the stream: their number, type or place differs");
  }
  count_ += blocks.count();
  compute([&] { stream_->push(blocks); });
}

report incremental::finish(const result_view& value) {
  check_count(chosen_.what.what, count_);
  check_result(chosen_.what.what, value, chosen_.what.result);
  return compute([&] { return report(chosen_.chosen->name(), stream_->finish(value.data), chosen_.fallback); });
}

result<scalar> incremental::finish() {
  return as_scalar(chosen_.what.what, chosen_.what.result, [&](const result_view& value) { return finish(value); });
}

namespace detail {
namespace {

selection choose_for_own(const arithmetic& own, const input_views& inputs, const options& chosen,
                         std::span<const passed_over> failed) {
  if (chosen.method || chosen.result || chosen.nan != nan_policy::propagate) {
    throw invalid_argument(
        "your own accumulator decides the method, the type of the result and the treatment of NaN: leave these "
        "options out");
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
  compute([&] { stream_->push(blocks); });
}

report own_stream::finish(void* value) {
  return compute([&] { return report(chosen_.chosen->name(), stream_->finish(value), chosen_.fallback); });
}

}  // namespace detail
}  // namespace fanin
