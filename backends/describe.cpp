// SPDX-License-Identifier: Apache-2.0
// Descriptions: four reductions of the same elements by one backend.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <fanin/describe.hpp>
#include <fanin/device.hpp>
#include <fanin/fanin.hpp>

#include "backends/checks.hpp"
#include "backends/choice.hpp"
#include "backends/fallback.hpp"

namespace fanin {
namespace {

/// The reductions that make a description.
constexpr operation described_by[] = {operation::sum, operation::minmax, operation::mean,
                                      operation::standard_deviation};

/// Elements of this many bytes stay in a cache while one reduction after the other reads them.
constexpr std::size_t bytes_in_cache = std::size_t{4} << 20;

/// The options of the reductions: they leave NaN out, and so count them, whatever the caller's policy is.
options options_of_parts(const options& chosen) {
  if (chosen.method.value_or(method::exact) != method::exact || !chosen.variant.empty() || chosen.result) {
    throw invalid_argument(
        "a description is always exact: leave out the method, the variant and the type of the result");
  }
  if (!chosen.devices.empty())
    throw unsupported("a description is not divided among devices: leave out the option `devices`");
  options own = chosen;
  own.method = method::exact;
  own.nan = nan_policy::skip;
  return own;
}

/// The backend for all reductions: one that has the exact standard deviation has the others.
selection choose_for_parts(const input_views& x, const options& own, std::span<const passed_over> failed) {
  return choose(operation::standard_deviation, x, own, failed);
}

/// The request for one of the reductions of x, by the backend that was chosen for the standard deviation.
request request_for(const selection& found, operation what, const input_views& x) {
  request part = found.what;
  part.what = what;
  part.inputs = x;
  part.result = default_result(what, x.type());
  part.variant = {};
  const support answer = found.chosen->prepare(part);
  if (!answer.usable()) throw unsupported(answer.detail);
  return part;
}

/// The number of elements, and the number of elements that a mask leaves out. The second number is not needed for
/// integers, which are never NaN.
struct element_counts {
  std::uint64_t all = 0, masked_out = 0;

  /// Adds the numbers of x. If there is a context, its device counts the elements that the mask leaves out.
  template <class... Context>
  void add(const input_views& x, unsigned threads, Context&... context) {
    all += x.count();
    if (!x.mask() || !is_floating(x.type())) return;
    masked_out +=
        reduce(operation::count_nonzero, x, context..., {.backend = "auto", .threads = threads}).report.absent;
  }
};

/// Finishes the sum with finish(what, out), and where an integer sum does not fit, says so and finishes the mean
/// instead. Returns the outcome or report of what was finished, which counts the same elements.
template <element T, class Finish>
auto finish_sum(Finish& finish, description<T>& all) {
  try {
    return finish(operation::sum, &all.sum);
  } catch (const overflow&) {
    all.sum = {};
    all.sum_overflows = true;
    return finish(operation::mean, &all.mean);
  }
}

/// Writes the description. finish(what, out) writes a part of it, and returns an outcome or a report. Returns the
/// outcome or the report of the whole description.
template <element T, class Finish>
auto finish_parts(const element_counts& elements, nan_policy nan, Finish finish, description<T>& value) {
  description<T> all{};
  auto done = finish_sum(finish, all);
  all.count = elements.all - done.absent;
  if constexpr (floating<T>) {
    all.nan = done.absent - elements.masked_out;
    if (nan == nan_policy::propagate && all.nan > 0) {
      all.min = all.max = std::numeric_limits<T>::quiet_NaN();
      all.sum = all.mean = all.standard_deviation = std::numeric_limits<computed_as<T>>::quiet_NaN();
      value = all;
      done.absent = elements.masked_out;
      return done;
    }
  }
  if (all.count == 0) {
    throw invalid_argument(done.absent == 0 ? "no elements to describe"
                                            : "no elements to describe: all are left out");
  }
  extremes<T> both{};
  finish(operation::minmax, &both);
  all.min = both.min;
  all.max = both.max;
  if (!all.sum_overflows) finish(operation::mean, &all.mean);
  done = finish(operation::standard_deviation, &all.standard_deviation);
  value = all;
  return done;
}
template <class Finish>
auto finish_parts(const element_counts& elements, nan_policy nan, Finish finish,
                  const detail::description_view& value) {
  return with_element(value.type, [&]<class T>() {
    return finish_parts(elements, nan, finish, *static_cast<description<T>*>(value.data));
  });
}

/// The description of elements that each reduction reads. These elements are in a cache, or in device memory.
report describe_in_place(selection& found, const input_views& x, nan_policy nan,
                         const detail::description_view& value) {
  element_counts elements;
  elements.add(x, found.what.threads);
  const auto finish = [&](operation what, void* out) {
    return found.chosen->reduce(request_for(found, what, x), out);
  };
  return {found.chosen->name(), finish_parts(elements, nan, finish, value), std::move(found.fallback)};
}

}  // namespace

namespace detail {

/// The streams of the reductions, which take turns with each piece of a block.
class description_fold {
 public:
  description_fold(selection found, nan_policy nan) : found_(std::move(found)), nan_(nan) {
    for (std::size_t i = 0; i < std::size(described_by); ++i) {
      const input_views none = views_without_data(described_by[i], type(), plan::unknown_count, memory::host);
      parts_[i] = found_.chosen->open(request_for(found_, described_by[i], none));
    }
  }

  element_type type() const { return found_.what.inputs.type(); }

  void push(const input_views& block) {
    if (block.count() == 0) return;
    // Pieces have one length. Streams copy a piece that is too short for threads, and a shorter last piece could
    // be.
    const std::size_t pieces = (block.count() - 1) / (bytes_in_cache / byte_size(type())) + 1;
    const std::size_t length = (block.count() - 1) / pieces + 1;
    for (std::size_t first = 0; first < block.count(); first += length) {
      const input_views piece = block.part(first, std::min(length, block.count() - first));
      for (const auto& part : parts_) part->push(piece);
      elements_.add(piece, found_.what.threads);
    }
  }

  report finish(const description_view& value) {
    const auto finish_part = [&](operation what, void* out) {
      return parts_[std::ranges::find(described_by, what) - described_by]->finish(out);
    };
    return {found_.chosen->name(), finish_parts(elements_, nan_, finish_part, value), std::move(found_.fallback)};
  }

 private:
  selection found_;
  nan_policy nan_;
  std::unique_ptr<stream> parts_[std::size(described_by)];
  element_counts elements_;
};

report describe(const input_views& x, const description_view& value, const options& chosen) {
  check_data(x);
  const options own = options_of_parts(chosen);
  const auto run = [&](selection& found) -> report {
    if (x.place() == memory::device || x[0].bytes() <= bytes_in_cache) {
      return describe_in_place(found, x, chosen.nan, value);
    }
    description_fold fold(std::move(found), chosen.nan);
    fold.push(x);
    return fold.finish(value);
  };
  return with_fallback([&](std::span<const passed_over> failed) { return choose_for_parts(x, own, failed); }, run,
                       [&] { return leaves_choice(own, x.place()); });
}

report describe(const input_views& x, const description_view& value, const options& chosen, device_context& context) {
  check_data(x);
  const options own = options_of_parts(chosen);
  element_counts elements;
  elements.add(x, own.threads, context);
  const auto reduce_part = [&](operation what, void* out) {
    return reduce(what, x, {out, default_result(what, x.type()), row_of(what).form}, context, own);
  };
  return finish_parts(elements, chosen.nan, reduce_part, value);
}

}  // namespace detail

describer::describer(element_type type, const options& chosen) {
  const options own = options_of_parts(chosen);
  const input_views none = views_without_data(operation::standard_deviation, type, plan::unknown_count, memory::host);
  fold_ = with_fallback(
      [&](std::span<const passed_over> failed) { return choose_for_parts(none, own, failed); },
      [&](selection& found) { return std::make_unique<detail::description_fold>(std::move(found), chosen.nan); },
      [&] { return leaves_choice(own, memory::host); });
}

describer::~describer() = default;

void describer::push(const input_views& block) {
  check_data(block);
  if (block.size() != 1 || block.type() != fold_->type() || block.place() != memory::host) {
    throw invalid_argument("the block has another type or place than the description");
  }
  compute([&] { fold_->push(block); });
}

report describer::finish_to(const detail::description_view& value) {
  if (value.type != fold_->type()) throw invalid_argument("the description has another type than the elements");
  return compute([&] { return fold_->finish(value); });
}

result<any_description> describer::finish() {
  return with_element(fold_->type(), [&]<class T>() {
    description<T> all{};
    report how = finish(all);
    return result<any_description>{
        {all.count, all.nan, all.min, all.max, all.sum, all.mean, all.standard_deviation, all.sum_overflows},
        std::move(how)};
  });
}

}  // namespace fanin
