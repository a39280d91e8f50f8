// SPDX-License-Identifier: Apache-2.0
// Groups of device memory. Their elements are sorted by key, stably, and are then segments.
#pragma once

#include "backends/cuda/batch/elements.hpp"
#include "backends/cuda/runtime/kernel_launcher.hpp"
#include "backends/cuda/runtime/scratch_pieces.hpp"

namespace fanin::cuda {

/// The method by which groups are reduced: sums and means of f32 and f64 that may be fast are exact, so that the
/// same groups have the same bits whether they are sorted or not.
inline method method_of_groups(const request& request) {
  const element_type type = request.inputs.type();
  const bool is_sum = row_of(request.what).adds == summand::elements;
  const bool is_exact = is_sum && (type == element_type::f32 || type == element_type::f64);
  return is_exact && request.method == method::fast ? method::exact : request.method;
}

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
  /// Arrays of as many entries as there are elements, except for `offsets`. Keys of no group are equal to the
  /// number of groups. Places are places of elements in the input.
  struct arrays {
    std::uint32_t *keys, *sorted_keys, *places, *sorted_places, *offsets;
    void *x, *y, *mask, *sort_scratch;
    std::size_t sort_scratch_bytes;
  };
  arrays take_from(scratch_pieces& scratch) const;
  void sort(void* scratch, std::size_t& scratch_bytes, const arrays& to, cudaStream_t stream) const;

  const batch& groups_;
  std::size_t element_bytes_;
  bool is_indexed_;
  /// Whether elements are sorted, and not the places of elements.
  bool sorts_elements_;
};

}  // namespace fanin::cuda
