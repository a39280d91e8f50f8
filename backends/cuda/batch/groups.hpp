// SPDX-License-Identifier: Apache-2.0
// Groups of device memory. Their elements are sorted by key, stably, and are then segments.
#pragma once

#include "backends/cuda/batch/elements.hpp"
#include "backends/cuda/batch/group_numbers.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"
#include "backends/cuda/runtime/scratch_pieces.hpp"

namespace fanin::cuda {

/// Whether group_tables has the operation for the type of the elements. It has sums, means and sums of magnitudes of
/// floats of 16 bits and more, and sums of squares and norms if a double holds a square.
inline bool has_exact_tables(const request& request) {
  const element_type type = request.inputs.type();
  const int power = power_of(row_of(request.what));
  const bool is_short = type == element_type::f16 || type == element_type::bf16;
  if (!is_short && type != element_type::f32 && type != element_type::f64) return false;
  return power == 1 || (power == 2 && type != element_type::f64);
}

/// The method by which groups are reduced. What may be fast is exact where tables hold exact sums, so that the same
/// groups have the same bits whether they are sorted or not.
inline method method_of_groups(const request& request) {
  return request.method == method::fast && has_exact_tables(request) ? method::exact : request.method;
}

/// Sorts keys stably by their group, each with a value.
class key_sort {
 public:
  /// `groups`: the number of groups. `value_bytes`: the size of a value, 4 or 8; 1 or 2 where keys are short.
  /// @throws unsupported if there are 2^32 - 1 keys or groups or more
  key_sort(const array_view& index, std::size_t groups, std::size_t value_bytes = sizeof(std::uint32_t));

  /// Arrays of as many entries as there are keys, except for `offsets`, which are the numbers of sorted keys before
  /// each group and before the keys of no group.
  struct arrays {
    group_numbers keys, sorted_keys;
    std::uint32_t *places, *offsets;
    void *sorted_values, *sort_scratch;
    std::size_t sort_scratch_bytes;
  };
  /// Takes arrays for values that are there already, or for the places of keys. @throws device_error
  arrays take_from(scratch_pieces& scratch, bool of_places) const;

  /// Enqueues the sort of keys with `values`, or if it is null, with their places. Keys of no group are noted in the
  /// status: the first, or if `drops_others`, how many. @throws device_error
  void enqueue(const arrays& to, const void* values, bool drops_others, const execution& where,
               batch_status* status) const;

 private:
  void sort(const arrays& to, const void* values, std::size_t& scratch_bytes, cudaStream_t stream) const;

  array_view index_;
  std::size_t groups_, value_bytes_;
  bool has_short_keys_;
};

/// Enqueues a copy of keys of 8 or 16 bits as keys of 32 bits. A key of no group becomes the number of groups.
void widen_keys(const batch& groups, std::uint32_t* to, const execution& where);

class group_sort {
 public:
  /// @throws unsupported if there are 2^32 - 1 elements or groups or more
  group_sort(const request& request, const batch& groups);

  /// The device memory that enqueue() takes. @throws device_error
  std::size_t scratch_bytes() const;

  /// Enqueues the sort to memory of `scratch`, and makes `all` the segments of sorted elements. The keys that are of
  /// no group are noted in out.status.
  /// @throws device_error
  void enqueue(scratch_pieces& scratch, const execution& where, batch_elements& all, batch_output& out) const;

 private:
  /// The sorted keys, with the elements or with the places of elements in the input; and the sorted elements.
  struct arrays {
    key_sort::arrays of_keys;
    void *x, *y, *mask;
  };
  arrays take_from(scratch_pieces& scratch) const;

  const batch& groups_;
  std::size_t element_bytes_;
  bool is_indexed_;
  /// Whether elements are sorted, and not the places of elements.
  bool sorts_elements_;
  key_sort keys_;
};

}  // namespace fanin::cuda
