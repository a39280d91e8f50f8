// SPDX-License-Identifier: Apache-2.0
// The parts of a request: the inputs, the memory for the result, and the caller's options.
#pragma once

#include <array>
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

/// `count` elements of `type` at `data`, contiguous, aligned to the element at least, and in device memory to the
/// size of one, which is more for complex numbers. `data` may be null only if `count` is 0.
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
  /// Which elements take part, or of two inputs which pairs; without data, all. The mask lies where the inputs lie,
  /// and has an entry for each of their elements.
  const mask_view& mask() const noexcept { return mask_; }
  /// A copy of these inputs with `mask` in place of a mask that they have. The length of its data is not checked.
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

/// The caller's host memory for a result of that form, whose number is of `type`.
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
  array,     ///< all of them to one
  rows,      ///< by their indices on the other axes of an array
  segments,  ///< by offsets
  groups,    ///< by keys
};
FANIN_API std::string_view to_string(layout) noexcept;

/// What becomes of elements that are NaN.
enum class nan_policy : std::uint8_t {
  propagate,  ///< the result is NaN, or counts them: each operation says what it does
  skip,       ///< they do not take part, nor do pairs with one
};

inline constexpr std::array all_nan_policies{nan_policy::propagate, nan_policy::skip};
FANIN_API std::string_view to_string(nan_policy) noexcept;

/// The caller's choices. The defaults suit most calls.
struct options {
  /// A backend's name ("serial") chooses that backend; if it cannot serve the request, the call throws. "auto", or a
  /// list in order of preference ("cuda,tbb,serial"), chooses the first backend that can serve the request;
  /// report::fallback has the backends that were passed over, and the reasons. If the chosen one then runs out of
  /// memory, or its device fails, and the data lie in host memory, the next one serves the call. Empty: the value of
  /// the environment variable FANIN_BACKEND at the process's first call, else "auto".
  std::string_view backend = {};
  /// The name of one of the backend's variants ("kahan"). Empty: the backend's default variant of the method.
  std::string_view variant = {};
  /// Empty: the variant's own method if one is named. Otherwise `exact`, or where the operation has no `exact` for
  /// the type, the strictest method that it has: default_method().
  std::optional<fanin::method> method = {};
  /// The type of the result's number. Empty: default_result(). In place of f32, f64 and the element's type exist with
  /// method::exact only.
  std::optional<element_type> result = {};
  /// Threads that CPU backends may use, and GPU backends for copying host data, the caller's included; 0: as many as
  /// the process has cores. At most 256 are used; the result's bits do not depend on it.
  unsigned threads = 0;
  /// With `skip` only elements that are no NaN are reduced; report::absent counts the others.
  nan_policy nan = nan_policy::propagate;
  /// The numbers of the devices among which host data is divided, in this order: part i of k has count / k elements,
  /// and one more if i < count % k. Each device copies and folds its parts on a bus of its own, all devices at once,
  /// and their states are merged in the order of the parts: the bits of `exact` results are those of one device and
  /// of the CPU, those of other methods depend on the number of parts. A device that is named twice folds two parts,
  /// one after the other. Named devices leave backends without devices out of the choice. Empty: the calling thread's
  /// current device. The numbers are not copied: they have to live as long as a plan that is made with them.
  /// Only whole arrays in host memory take it: streams, batches, descriptions, contexts and device memory refuse it.
  std::span<const int> devices = {};
  /// Computes the report's bound for this input, so that result::error_bound() is a number where the bound depends on
  /// the magnitudes of the elements, as in `fast` sums. The call then reads the input once more, or two inputs. Only
  /// fanin::reduce and the verbs of one array take it; plans, blocks, batches and results on a device refuse it.
  bool bound = false;
};

namespace detail {
struct arithmetic;
}

/// A request as a backend receives it: checked, and with a value in place of every empty option but `variant`.
struct request {
  operation what = operation::sum;
  input_views inputs = array_view();
  fanin::method method = fanin::method::fast;
  element_type result = element_type::f64;
  std::string_view variant;  ///< empty: the backend's choice, which backend::prepare() fills in
  unsigned threads = 1;      ///< at least 1
  nan_policy nan = nan_policy::propagate;
  layout kind = layout::array;
  bool adds = false;  ///< results of a batch are added to what their memory holds: add_to()
  std::span<const int> devices = {};
  /// The caller's own accumulator (fold.hpp), in place of operation, method and types. Null for operations of the
  /// catalogue.
  const detail::arithmetic* own = nullptr;
  /// If not 0, the state of an exact sum, which has so many bytes, is written in place of its value (state.hpp).
  std::size_t state_bytes = 0;
  /// The backend's code for the request, which backend::prepare() looked up. Only that backend interprets it.
  const void* prepared = nullptr;
};

}  // namespace fanin
