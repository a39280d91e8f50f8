// SPDX-License-Identifier: Apache-2.0
#include <fanin/scalar.hpp>

namespace fanin {

bool scalar::equals(const scalar& other) const {
  return visit(
      [&]<class R>(const R& value) {
        const R* const same = get_if<R>(&other);
        return same != nullptr && value == *same;
      },
      *this);
}

}  // namespace fanin
