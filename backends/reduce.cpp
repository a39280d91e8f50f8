// The type-erased entry points behind the verbs.
#include <cstdlib>
#include <new>

#include <fanin/fanin.hpp>

#include "backends/offer.hpp"

namespace fanin {
namespace {

/// options::backend with the environment applied, which is read once.
std::string_view wanted_backend(const options& chosen) {
  static const std::string from_environment = [] {
    const char* value = std::getenv("FANIN_BACKEND");
    return std::string(value != nullptr ? value : "");
  }();
  return chosen.backend.empty() ? std::string_view(from_environment) : chosen.backend;
}

void check(operation what, const array_view& input) {
  check_data(input);
  check_count(what, input.count);
}

/// The backend for a reduction of one input.
selection choose(operation what, const array_view& input, const options& chosen) {
  check_takes_one_input(what);
  return select(backends(), wanted_backend(chosen), what, input, chosen);
}

/// Runs f; memory that ran out on the host leaves as this library's error.
template <class F>
auto translated(F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw out_of_memory("host memory ran out");
  }
}

result<scalar> with_report(const outcome& answer, const backend& by, std::vector<passed_over> fallback) {
  return {answer.value,
          {by.name(), answer.variant, answer.how, answer.reproducibility, answer.bound, std::move(fallback)}};
}

}  // namespace

result<scalar> reduce(operation what, const array_view& input, const options& chosen) {
  check(what, input);
  return translated([&] {
    selection s = choose(what, input, chosen);
    return with_report(s.chosen->reduce(s.what), *s.chosen, std::move(s.fallback));
  });
}

result<scalar> dot(const array_view& x, const array_view& y, const options& chosen) {
  check(operation::dot, x);
  check(operation::dot, y);
  check_pair(x, y);
  return translated([&] {
    selection s = select(backends(), wanted_backend(chosen), operation::dot, x, chosen);
    s.what.other = y.data;
    return with_report(s.chosen->reduce(s.what), *s.chosen, std::move(s.fallback));
  });
}

plan::plan(operation what, element_type type, const options& chosen, std::size_t expected_count, memory place)
    : chosen_(choose(what, array_view(nullptr, expected_count, type, place), chosen)) {}

result<scalar> plan::operator()(const array_view& input) const {
  request asked = chosen_.what;
  check(asked.what, input);
  if (input.type != asked.input.type || input.place != asked.input.place) {
    throw invalid_argument("the input's type or place is not the planned one");
  }
  asked.input = input;
  return translated([&] { return with_report(chosen_.chosen->reduce(asked), *chosen_.chosen, {}); });
}

incremental::incremental(operation what, element_type type, const options& chosen)
    : chosen_(choose(what, array_view(nullptr, plan::unknown_count, type), chosen)),
      stream_(chosen_.chosen->open(chosen_.what)) {}

void incremental::push(const void* elements, std::size_t count) {
  if (elements == nullptr && count > 0) throw invalid_argument("the block is null, but its count is not 0");
  count_ += count;
  translated([&] { stream_->push(elements, count); });
}

result<scalar> incremental::finish() {
  check_count(chosen_.what.what, count_);
  return translated([&] { return with_report(stream_->finish(), *chosen_.chosen, chosen_.fallback); });
}

}  // namespace fanin
