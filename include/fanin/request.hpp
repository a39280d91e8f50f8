// SPDX-License-Identifier: Apache-2.0
// The parts of a request: the inputs, the memory for the result, and the caller's options.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <fanin/catalog.hpp>
#include <fanin/compiler.hpp>
#include <fanin/form.hpp>
#include <fanin/mask.hpp>

namespace fanin {

/// The memory that holds data. The caller states it; the library does not derive it from a pointer.
enum class memory : std::uint8_t { host, device };

/// The names in the catalogue, as in "sum", "f32" and "fast"; "host" or "device" for memory.
FANIN_API std::string_view to_string(operation) noexcept;
FANIN_API std::string_view to_string(element_type) noexcept;
FANIN_API std::string_view to_string(method) noexcept;
FANIN_API std::string_view to_string(memory) noexcept;

/// `count` contiguous elements of `type` at `data`. In host memory they are aligned as their type requires, and in
/// device memory to the size of an element. `data` may be null only if `count` is 0.
struct array_view {
  const void* data = nullptr;
  std::size_t count = 0;
  element_type type = element_type::f64;
  memory place = memory::host;

  array_view() = default;
  array_view(const void* data_, std::size_t count_, element_type type_, memory place_ = memory::host) noexcept
      : data(data_), count(count_), type(type_), place(place_) {}
  template <element T>
  array_view(std::span<const T> values) noexcept : array_view(values.data(), values.size(), type_of<T>) {}

  std::size_t bytes() const { return count * byte_size(type); }
};

/// The inputs of a reduction: one array, or two of the same type, place and count, and perhaps a mask.
class input_views {
 public:
  template <std::convertible_to<array_view> X>
  input_views(const X& x) noexcept : views_{x, array_view(nullptr, 0, element_type::f64)}, size_(1) {}
  template <std::convertible_to<array_view> X, std::convertible_to<array_view> Y>
  input_views(const X& x, const Y& y) noexcept : views_{x, y}, size_(2) {}

  /// The number of arrays, 1 or 2.
  int size() const noexcept { return size_; }
  const array_view& operator[](int i) const noexcept { return views_[i]; }
  element_type type() const noexcept { return views_[0].type; }
  memory place() const noexcept { return views_[0].place; }
  /// The number of elements of each array.
  std::size_t count() const noexcept { return views_[0].count; }
  /// The elements first, ..., first + count - 1 of each array.
  FANIN_API input_views part(std::size_t first, std::size_t count) const;
  /// The mask: which elements take part, or for two inputs which pairs. A mask without data lets all take part. The
  /// mask is in the same memory as the inputs, and has an entry for each element.
  const mask_view& mask() const noexcept { return mask_; }
  /// A copy of these inputs whose mask is `mask`. The length of the mask's data is not checked.
  input_views where(const mask_view& mask) const noexcept {
    input_views masked = *this;
    masked.mask_ = mask;
    return masked;
  }

 private:
  array_view views_[most_inputs];
  int size_;
  mask_view mask_ = {};
};

namespace detail {
/// `x` as every input of the operation.
inline input_views repeated(operation what, const array_view& x) {
  return row_of(what).inputs == 2 ? input_views(x, x) : input_views(x);
}
}  // namespace detail

/// The caller's host memory for a result of the form `form`, with a number of the type `type`.
struct result_view {
  void* data;
  element_type type;
  result_form form;
  template <result_value R>
  result_view(R& value) noexcept
      : data(&value), type(type_of<typename result_traits<R>::number>), form(result_traits<R>::form) {}
  result_view(void* data_, element_type type_, result_form form_ = result_form::number) noexcept
      : data(data_), type(type_), form(form_) {}
};

/// How elements belong to results.
enum class layout : std::uint8_t {
  array,     ///< all elements belong to one result
  rows,      ///< elements with the same indices on the other axes belong together
  segments,  ///< elements between two offsets belong together
  groups,    ///< elements with the same key belong together
};
FANIN_API std::string_view to_string(layout) noexcept;

/// How elements that are NaN are treated.
enum class nan_policy : std::uint8_t {
  propagate,  ///< NaN take part, and most results are then NaN (see each operation)
  skip,       ///< NaN do not take part, and neither do pairs with a NaN
};

inline constexpr std::array all_nan_policies{nan_policy::propagate, nan_policy::skip};
FANIN_API std::string_view to_string(nan_policy) noexcept;

namespace detail {
/// The type of options::how, an earlier name of options::method. A value for it is refused by one sentence.
struct renamed_to_method {
  constexpr renamed_to_method() = default;
  template <class T>
  constexpr renamed_to_method(T) {
    static_assert(sizeof(T) == 0, "options::how is called options::method: write {.method = fanin::fast}");
  }
};
}  // namespace detail

/// The caller's choices. The defaults suit most calls.
struct options {
  /// One of these:
  /// - A backend's name ("serial"). If this backend cannot serve the request, the call throws.
  /// - A list in order of preference ("cuda,tbb,serial"), or "auto". The first backend that can serve the request is
  ///   chosen. If it runs out of memory, or its device fails, and the data are in host memory, the next one takes
  ///   over. report::fallback has the backends that were passed over, and the reasons.
  /// - Empty: the value of the environment variable FANIN_BACKEND at the process's first call, else "auto".
  std::string_view backend = {};
  /// The name of one of the backend's variants ("kahan"). Empty: the backend's default variant of the method.
  std::string_view variant = {};
  /// Empty: the method of `variant`, if a variant is named. Otherwise default_method(): `exact`, or if the operation
  /// has no `exact` for the type, the strictest method that it has.
  std::optional<fanin::method> method = {};
  /// Not an option, but the earlier name of `method`. The compiler refuses it, and says so.
  [[no_unique_address]] detail::renamed_to_method how = {};
  /// The type of the result's number. Empty: default_result(). With method::exact a result that would be f32 may also
  /// be f64 or the element's type, and a result that would be c64 may also be c128.
  std::optional<element_type> result = {};
  /// How many threads a CPU backend may use, and a GPU backend for copying host data. The calling thread is one of
  /// them. 0: as many as the process has cores. At most 256 are used. The number does not change the result's bits.
  unsigned threads = 0;
  /// With `skip` NaN do not take part, and report::absent counts them.
  nan_policy nan = nan_policy::propagate;
  /// The numbers of the devices among which host data is divided. Empty: the calling thread's current device.
  /// - Part i of k has count / k elements, and one more if i < count % k. The parts are in the order of this list.
  /// - All devices work at once, each on a bus of its own. Their states are merged in the order of the parts. `exact`
  ///   results have the same bits as on one device and on the CPU. With other methods the bits depend on the number
  ///   of parts.
  /// - A device that is named twice reduces two parts, one after the other.
  /// - Only backends that have devices are chosen.
  /// - The numbers are not copied. They have to live as long as a plan that is made with them.
  /// - Only whole arrays in host memory allow this option. Streams, batches, descriptions, contexts and device memory
  ///   refuse it.
  std::span<const int> devices = {};
  /// Computes the report's bound for this input, at the cost of one more read. Some bounds depend on the magnitudes
  /// of the elements, such as the bounds of `fast` sums. Without this option result::error_bound() is infinite for
  /// such results.
  /// Only fanin::reduce and the verbs of one array allow this option. Plans, blocks, batches and results on a device
  /// refuse it.
  bool bound = false;
};

/// The last argument of the verbs: options, or a method alone, as in fanin::sum(x, fanin::fast).
template <class C>
concept choice = std::same_as<C, options> || std::same_as<C, method>;

namespace detail {
inline const options& options_of(const options& chosen) noexcept { return chosen; }
inline options options_of(method chosen) noexcept { return {.method = chosen}; }

struct arithmetic;
}  // namespace detail

/// A request as a backend receives it: checked, and with a value in place of every empty option but `variant`.
struct request {
  operation what = operation::sum;
  input_views inputs = array_view();
  fanin::method method = fanin::method::fast;
  element_type result = element_type::f64;
  std::string_view variant = {};  ///< empty: the backend's choice, which backend::prepare() fills in
  unsigned threads = 1;           ///< at least 1
  nan_policy nan = nan_policy::propagate;
  layout kind = layout::array;
  bool adds = false;  ///< results of a batch are added to what their memory holds: add_to()
  std::span<const int> devices = {};
  /// The caller's own accumulator (fold.hpp), in place of operation, method and types. Null for operations of the
  /// catalogue.
  const detail::arithmetic* own = nullptr;
  /// If not 0, the state of an exact sum is written in place of its value (state.hpp). The state has this many bytes.
  std::size_t state_bytes = 0;
  /// The backend's code for the request, which backend::prepare() looked up. Only that backend interprets it.
  const void* prepared = nullptr;
};

}  // namespace fanin
