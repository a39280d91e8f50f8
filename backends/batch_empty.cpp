// SPDX-License-Identifier: Apache-2.0
#include "backends/batch_empty.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fanin/error.hpp>

namespace fanin {

bool write_empty(const request& request, const batch& many, std::byte* result) {
  return with_result_type(request.what, request.result, [&]<class R>() {
    using T = typename result_traits<R>::number;
    if (many.of_empty) {
      const R* const given = fanin::get_if<R>(&*many.of_empty);
      if (given == nullptr) {
        throw invalid_argument("the value of if_empty() has another type than the results");
      }
      std::memcpy(result, given, sizeof *given);
      return true;
    }
    if constexpr (result_traits<R>::form == result_form::indexed || !(floating<T> || complex_number<T>)) {
      return false;
    } else {
      using part = part_of<T>;
      part nan[sizeof(R) / sizeof(part)];
      std::fill(std::begin(nan), std::end(nan), part(std::numeric_limits<double>::quiet_NaN()));
      std::memcpy(result, nan, sizeof nan);
      return true;
    }
  });
}

std::string too_few(operation what) { return "too few elements for " + std::string(to_string(what)); }

std::string name_of_result(layout kind, std::uint64_t i) {
  const char* const each = kind == layout::segments ? "segment " : kind == layout::groups ? "group " : "result ";
  return each + std::to_string(i);
}

}  // namespace fanin
