// SPDX-License-Identifier: Apache-2.0
// Elements of text whose type is not said: integers, or the same numbers as f64.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fanin/error.hpp>
#include <fanin/request.hpp>

#include "cli/input/rounded_numbers.hpp"

namespace fanin::cli {

/// Elements in host memory, and the same numbers as elements of other types. They are converted once.
class element_forms {
 public:
  explicit element_forms(const array_view& elements) : elements_(elements) {}

  /// Whether these elements can be given as `type`: always as their own type; as u64 if they are i64 and none is
  /// negative; as f64, rounded, if they are i64 or u64.
  bool has(element_type type);
  /// The elements as elements of `type`, which can hold them. Valid as long as this object and the memory of the
  /// elements.
  array_view as(element_type type);

 private:
  array_view elements_;
  std::optional<bool> has_negative_;
  std::vector<std::byte> doubles_;
};

/// Returns the types for which check(type) does not throw unsupported. @throws unsupported as check(type) for the
/// last type if there is none
template <class Check>
std::vector<element_type> supported_types(std::span<const element_type> types, Check check) {
  std::vector<element_type> all;
  for (const element_type type : types) {
    try {
      check(type);
      all.push_back(type);
    } catch (const unsupported&) {
      if (all.empty() && type == types.back()) throw;
    }
  }
  return all;
}

/// Refuses an inferred type of integers if the operation takes integers as f64. The caller then takes the elements
/// as f64.
/// @throws unsupported
inline void check_inferred(operation what, element_type type, bool is_inferred) {
  if (is_inferred && is_integer(type) && !row_of(what).of_integers) throw unsupported("integers are taken as f64");
}

/// The type for elements that are of type `found` or, where `is_inferred`, may be taken as f64 instead: f64 if
/// check(found) throws unsupported. check(type) also sees the type that is returned. @throws as check(type)
template <class Check>
element_type supported_type(element_type found, bool is_inferred, Check check) {
  if (is_inferred && found != element_type::f64) {
    const element_type both[] = {found, element_type::f64};
    return supported_types(both, check).front();
  }
  check(found);
  return found;
}

/// Something that takes elements block by block, of a type that the last block decides: one Stream for each type that
/// is left. A Stream has push(array_view).
template <class Stream>
class typed_streams {
 public:
  /// `types` are in the order in which they are preferred. make(type) gives a std::unique_ptr<Stream>; it is called
  /// when elements come, and where all types but one are left out.
  template <class Make>
  typed_streams(std::span<const element_type> types, Make make) : make_(std::move(make)) {
    for (const element_type type : types) streams_.push_back({type, nullptr});
  }

  /// The preferred one of the types that are left.
  element_type type() const { return streams_.front().type; }
  /// Whether a type is left when all but these are left out.
  bool keep(std::span<const element_type> types) {
    return keep_if([&](element_type one) { return std::ranges::find(types, one) != types.end(); });
  }
  /// Adds elements to the stream of each type that is left and that can hold them. Returns whether there is such a
  /// type.
  bool push(element_forms& block) {
    if (!keep_if([&](element_type one) { return block.has(one); })) return false;
    for (typed& one : streams_) made(one).push(block.as(one.type));
    return true;
  }
  /// The stream that has taken the elements as elements of type().
  Stream& chosen() { return made(streams_.front()); }

 private:
  struct typed {
    element_type type;
    std::unique_ptr<Stream> stream;
  };
  template <class Is>
  bool keep_if(Is is) {
    std::erase_if(streams_, [&](const typed& one) { return !is(one.type); });
    return !streams_.empty();
  }
  Stream& made(typed& one) {
    if (!one.stream) one.stream = make_(one.type);
    return *one.stream;
  }

  std::function<std::unique_ptr<Stream>(element_type)> make_;
  std::vector<typed> streams_;
};

/// The advice for a total that overflows, if the type of the elements was inferred and they were integers.
inline std::string_view overflow_advice(bool is_inferred) {
  return is_inferred ? "; --type f64 takes the numbers as f64" : "";
}

/// Says which numbers were rounded to `type` when they were read: there are some.
std::string rounded_text(const rounded_numbers& rounded, element_type type);

/// Warns on stderr if integers were rounded to `type` when they were read. `place` is for the message.
void warn_of_rounding(const std::string& place, const rounded_numbers& rounded, element_type type);

}  // namespace fanin::cli
