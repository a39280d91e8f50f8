// SPDX-License-Identifier: Apache-2.0
// The functions behind the verbs of fanin.hpp: their element types are values, not template parameters.
#include <cstdlib>

#include <fanin/fanin.hpp>
#include <fanin/fold.hpp>

#include "backends/as_scalar.hpp"
#include "backends/checks.hpp"
#include "backends/fallback.hpp"

namespace fanin {
namespace {

/// options::backend, or FANIN_BACKEND from the environment if that is empty. The environment is read once.
std::string_view wanted_backend(const options& chosen) {
  static const std::string from_environment = [] {
    const char* value = std::getenv("FANIN_BACKEND");
    return std::string(value != nullptr ? value : "");
  }();
  return chosen.backend.empty() ? std::string_view(from_environment) : chosen.backend;
}

report report_of(const outcome& answer, const backend& chosen, std::vector<passed_over> fallback) {
  return {chosen.name(), answer.variant, answer.how, answer.reproducibility, answer.bound, std::move(fallback)};
}

/// The operation's inputs without their data, which come later: for plans and streams.
input_views views_without_data(operation what, element_type type, std::size_t expected_count, memory place) {
  return detail::repeated(what, {nullptr, expected_count, type, place});
}

selection choose(operation what, const input_views& inputs, const options& chosen,
                 std::span<const passed_over> failed = {}) {
  return select(backends(), wanted_backend(chosen), what, inputs, chosen, failed);
}

/// Whether the options name more than one backend, and the data lie where each of them can read them.
bool leaves_choice(const options& chosen, memory place) {
  const std::string_view wanted = wanted_backend(chosen);
  const bool many = wanted.empty() || wanted == "auto" || wanted.find(',') != std::string_view::npos;
  return many && place == memory::host;
}

/// Writes the value by the backend that `choose` returns.
template <class Choose>
report reduce_by(Choose choose, memory place, void* value, const options& chosen) {
  const auto run = [&](selection& s) {
    return report_of(s.chosen->reduce(s.what, value), *s.chosen, std::move(s.fallback));
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
  return some;
}

report reduce(operation what, const input_views& inputs, const result_view& value, options chosen) {
  check_data(inputs);
  check_count(what, inputs.count());
  check_result(value, chosen.result);
  chosen.result = value.type;
  const auto select_backend = [&](std::span<const passed_over> failed) {
    return choose(what, inputs, chosen, failed);
  };
  return reduce_by(select_backend, inputs.place(), value.data, chosen);
}

result<scalar> reduce(operation what, const input_views& inputs, const options& chosen) {
  return as_scalar(chosen.result.value_or(default_result(what, inputs.type())),
                   [&](const result_view& value) { return reduce(what, inputs, value, chosen); });
}

plan::plan(operation what, element_type type, const options& chosen, std::size_t expected_count, memory place)
    : chosen_(translate_bad_alloc(
          [&] { return choose(what, views_without_data(what, type, expected_count, place), chosen); })) {}

report plan::operator()(const input_views& inputs, const result_view& value) const {
  request query = chosen_.what;
  check_data(inputs);
  check_count(query.what, inputs.count());
  if (inputs.size() != query.inputs.size() || inputs.type() != query.inputs.type() ||
      inputs.place() != query.inputs.place()) {
    throw invalid_argument("the inputs' number, type or place is not the planned one");
  }
  check_result(value, query.result);
  query.inputs = inputs;
  return translate_bad_alloc(
      [&] { return report_of(chosen_.chosen->reduce(query, value.data), *chosen_.chosen, {}); });
}

result<scalar> plan::operator()(const input_views& inputs) const {
  return as_scalar(chosen_.what.result, [&](const result_view& value) { return (*this)(inputs, value); });
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
  check_result(value, chosen_.what.result);
  return translate_bad_alloc(
      [&] { return report_of(stream_->finish(value.data), *chosen_.chosen, chosen_.fallback); });
}

result<scalar> incremental::finish() {
  return as_scalar(chosen_.what.result, [&](const result_view& value) { return finish(value); });
}

namespace detail {
namespace {

selection choose_for_own(const arithmetic& own, const input_views& inputs, const options& chosen,
                         std::span<const passed_over> failed) {
  if (chosen.how || chosen.result) {
    throw invalid_argument("an accumulator of your own decides its method and its result's type itself");
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
  return translate_bad_alloc([&] { return report_of(stream_->finish(value), *chosen_.chosen, chosen_.fallback); });
}

}  // namespace detail
}  // namespace fanin
