#include "backends/offer.hpp"

#include <algorithm>
#include <string>

#include <fanin/error.hpp>

namespace fanin {

support offer(const backend& b, const request& asked, bool exists) {
  const auto known = b.variants();
  const auto type = asked.input.type;
  const auto how = [&] { return std::string(to_string(asked.how)); };  // words are made only for a refusal
  const auto what = [&] {
    return how() + " " + std::string(to_string(asked.what)) + " of " + std::string(to_string(type));
  };
  if (!asked.variant.empty() && std::none_of(known.begin(), known.end(), [&](const variant_info& v) {
        return v.name == asked.variant && v.how == asked.how;
      })) {
    return {reason::unsupported,
            std::string(b.name()) + " has no variant '" + std::string(asked.variant) + "' for method " + how()};
  }
  if (std::none_of(known.begin(), known.end(), [&](const variant_info& v) { return v.how == asked.how; })) {
    return {reason::unsupported, std::string(b.name()) + " does not offer method " + how()};
  }
  if (!exists && !asked.variant.empty()) {
    return {reason::unsupported, "variant '" + std::string(asked.variant) + "' has no " + what()};
  }
  if (!exists) return {reason::unsupported, "there is no " + what()};
  const bool widened = type == element_type::f32 && asked.result == element_type::f64 && asked.how == method::exact &&
                       asked.what != operation::min && asked.what != operation::max;
  if (asked.result != default_result(asked.what, type) && !widened) {
    return {reason::unsupported, "the " + what() + " is not offered as " + std::string(to_string(asked.result))};
  }
  return {};
}

void check_count(operation what, std::uint64_t count) {
  const bool needs_an_element =
      what == operation::min || what == operation::max || what == operation::mean || what == operation::variance;
  if (count == 0 && needs_an_element) {
    throw invalid_argument("the " + std::string(to_string(what)) + " of no elements does not exist");
  }
}

void check_data(const array_view& input) {
  if (input.data == nullptr && input.count > 0) throw invalid_argument("the input is null, but its count is not 0");
}

void check_takes_one_input(operation what) {
  if (what == operation::dot) throw invalid_argument("a dot product has two inputs; fanin::dot takes them");
}

void check_pair(const array_view& x, const array_view& y) {
  if (x.count != y.count) throw invalid_argument("the inputs of a dot product have different lengths");
  if (x.type != y.type || x.place != y.place) {
    throw invalid_argument("the inputs of a dot product differ in type or place");
  }
}

}  // namespace fanin
