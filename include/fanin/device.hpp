// SPDX-License-Identifier: Apache-2.0
// Reductions of data in device memory, with streams, results on the device and CUDA graphs under the caller's
// control. Plain C++: no CUDA header is needed to include this. `fanin::reduce` takes a device_span too.
//
//   fanin::device_context context(0, stream);                                  // one per thread, for many calls
//   fanin::reduce(fanin::operation::sum, fanin::device_span(x, n), context);   // the value on the host
//   fanin::enqueue<fanin::operation::sum>(fanin::device_span(x, n), total, context);  // does not wait
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include <fanin/fanin.hpp>

namespace fanin {

/// `size` elements in device memory, contiguous and aligned as the element type requires. Does not own them.
template <element T>
class device_span {
 public:
  constexpr device_span() noexcept = default;
  constexpr device_span(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr const T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  operator array_view() const noexcept { return {data_, size_, type_of<T>, memory::device}; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory on the device for `size` results of a batch. Does not own it.
template <result_value R>
class device_results {
 public:
  constexpr device_results(R* data, std::size_t size) noexcept : data_(data), size_(size) {}
  operator results_view() const noexcept {
    return {data_, size_, type_of<typename result_traits<R>::number>, result_traits<R>::form, memory::device};
  }

 private:
  R* data_;
  std::size_t size_;
};

/// The result that enqueue() writes to device memory.
template <result_value R>
struct device_result {
  R value;  ///< if `overflowed` is not 0, a sum has its low bits here, and other operations an unspecified value
  /// Not 0 if fanin::reduce would throw `overflow`. It has the value's alignment, so that there is no padding.
  std::conditional_t<alignof(R) == 8, std::uint64_t,
                     std::conditional_t<alignof(R) == 4, std::uint32_t,
                                        std::conditional_t<alignof(R) == 2, std::uint16_t, std::uint8_t>>>
      overflowed;
};

/// Device memory of the caller, for the workspace of a context. Released memory may be used by work that is enqueued
/// to the context's stream later. `user` is handed to both functions, which may be called while the stream is
/// captured.
struct device_allocator {
  void* (*allocate)(std::size_t bytes, void* user);  ///< aligned to 256 bytes; null if no memory is left
  void (*release)(void* memory, void* user);
  void* user;
};

/// The stream, the workspace and the pinned buffers that calls on one device share. Once the largest request has been
/// served, calls allocate nothing and wait for nothing but their own result.
/// Memory: 1 to 2 MiB on the device. Stages of the ladder that overwrite their input take a copy of the longest input
/// too. The first call with absent elements in device memory (request.hpp) adds 32 MiB on the device, into which the
/// elements that take part are copied, part by part. The first call with host data adds up to 64 MiB on the device,
/// as much pinned memory, and up to 15 threads that copy.
/// Threads: one call at a time. Two pieces of work of one context share the workspace, and so must not run on the
/// device at the same time. Graphs that were captured with one context have to be launched one after another.
class FANIN_API device_context {
 public:
  /// `stream`: a cudaStream_t of that device, which has to outlive the context. Null: a new stream, which waits for
  /// the legacy default stream. @throws backend_unavailable, invalid_argument (no such device), out_of_memory,
  /// device_error
  explicit device_context(int device = 0, void* stream = nullptr) : device_context(device, stream, nullptr) {}
  /// Takes the workspace from an allocator, except for the copies of host data. The allocator's functions and `user`
  /// have to outlive the context. A context that is created during a capture needs the graph of this capture to run
  /// before other graphs of the context. @throws as above
  device_context(int device, void* stream, const device_allocator& from) : device_context(device, stream, &from) {}

  int device() const noexcept { return device_; }
  void* stream() const noexcept { return stream_; }

  /// Times of the last call with host data. A short array in pinned memory is not copied: the kernel reads it over
  /// the bus, and the kernel's time is the time of the call.
  device_times last_times() const noexcept { return work_->last_times(); }

  /// The resources of the context, for the library and fold.cuh.
  device_work& work() noexcept { return *work_; }

 private:
  device_context(int device, void* stream, const device_allocator* from);

  std::unique_ptr<device_work> work_;
  int device_;
  void* stream_;
};

/// Reduces device or host memory like fanin::reduce, by the backend `cuda`; a mask is where the inputs are. The
/// reduction runs after the work that is already on the context's stream, and the call waits for the value.
/// @throws as fanin::reduce; device_error
FANIN_API report reduce(operation what, const input_views& inputs, const result_view& value, device_context& context,
                        options chosen = {});
/// Reduces with the value in the result, which holds the alternative of the result type.
FANIN_API result<scalar> reduce(operation what, const input_views& inputs, device_context& context,
                                const options& chosen = {});

/// Reduces a batch of device memory like fanin::reduce, by the backend `cuda` on this context. The results are in
/// host or device memory.
/// @throws as fanin::reduce of a batch; device_error
FANIN_API report reduce(operation what, const batch& many, const results_view& out, device_context& context,
                        options chosen = {});

namespace detail {
FANIN_API report describe(const input_views& x, const description_view& value, const options& chosen,
                          device_context& context);
}  // namespace detail

/// Describes x in device memory like fanin::describe, by the backend `cuda` on this context. A mask is in device
/// memory too. The call waits for the description, which is on the host. Cost: four reads of x, because x does not
/// stay in a cache from one fold to the next. Floats with a mask take one read more. @throws as fanin::describe;
/// device_error
template <element T>
auto describe(device_span<T> x, device_context& context, const options& chosen = {}, const mask_view& mask = {}) {
  return result<description<T>>(
      [&](description<T>& value) { return detail::describe(input_views(x).where(mask), value, chosen, context); });
}

/// Adds a batch of device memory to results in host or device memory like fanin::add_to, by the backend `cuda` on
/// this context. @throws as fanin::add_to; device_error
FANIN_API report add_to(operation what, const batch& many, const results_view& out, device_context& context,
                        options chosen = {});

/// Enqueues the reduction of a batch of device memory to `out`, in device memory or pinned, and returns.
/// - If a result overflows, a sum has its low bits, and other operations have an unspecified value.
/// - If a result has too few elements, it has the value that enqueue() below gives.
/// - Segments whose offsets are wrong have no elements. Elements whose keys are wrong are left out.
/// The call may be captured into a CUDA graph as below. The kernels read offsets, keys and mask when they run.
/// @throws invalid_argument, unsupported and device_error as reduce(), except for faults that only the elements and
/// the offsets show; invalid_argument if `out` is not device memory
FANIN_API void enqueue(operation what, const batch& many, const results_view& out, device_context& context,
                       options chosen = {});

/// Enqueues enqueue() of a batch for each operation, with results out[i] of what[i], and returns. May be captured
/// into a CUDA graph as below. Cost: a read of the elements for each operation, with one exception. Measures of
/// dispersion of rows or segments with one method share a read, and where they are exact, sums and means of floats
/// share the read too.
/// @throws as enqueue() of a batch, and invalid_argument as fanin::reduce_each
FANIN_API void enqueue_each(std::span<const operation> what, const batch& many, std::span<const results_view> out,
                            device_context& context, const options& chosen = {});

/// Enqueues add_to() of a batch of device memory to `out`, in device memory or pinned, and returns. A result that
/// would not fit keeps its value. If an offset or a key is wrong, all results keep their values. May be captured into
/// a CUDA graph as below; the graph adds the elements each time that it runs.
/// @throws as enqueue() of a batch, and as add_to() for operations and batches that add_to() refuses
FANIN_API void enqueue_add_to(operation what, const batch& many, const results_view& out, device_context& context,
                              options chosen = {});

/// Enqueues exact sums of rows that keys scatter, and returns. Row g of `out` is the sum of row g of `base` and of
/// each row i of `x` with keys[i] == g, column by column. Rows have `columns` elements, and lie one after another.
/// Rows whose key is of no group are left out. If the base has no elements, sums are of rows of x alone, and +0 if
/// there are none. Sums are rounded once to the type of `x`, which is f64, f32, f16 or bf16. `base` and `out` have
/// that type too. `out` may be the base, and must not overlap with other inputs. Keys are integers of any type.
/// Reproducible: the same bits for any order of the rows (exact). Memory: device. Scratch: some 24 bytes for each row
/// of x, and a fifth of a byte for each element. May be captured into a CUDA graph as below. Cost: a sort of the
/// keys, one read of x and base, and one write.
/// @throws invalid_argument if the numbers of elements do not fit together, or if memory is not the device's;
/// unsupported for other types, or for 2^32 - 1 rows or more; out_of_memory, device_error
FANIN_API void enqueue_add_rows(const array_view& x, const array_view& keys, std::size_t columns,
                                const array_view& base, const results_view& out, device_context& context);

/// Enqueues the reduction of device memory and returns. `result` is in device memory (or pinned). It is a
/// device_result of the operation's result_of<>, with a number of the type options::result or default_result(). It
/// must not overlap with the inputs.
/// - If too few elements take part, a mean, variance or standard deviation is NaN. min is the largest value of the
///   type (+inf for floats), max is the smallest value, and their index is the largest number.
/// - Absent elements are not counted.
/// - The call may be captured into a CUDA graph, except for stages of the ladder. A context may be made, and its
///   workspace may grow, during the capture. The context, or its allocator's memory, has to outlive the graph. The
///   kernels read the mask when they run.
/// @throws as fanin::reduce, but neither `overflow` nor `invalid_argument` for too few elements
FANIN_API void enqueue(operation what, const input_views& inputs, void* result, device_context& context,
                       const options& chosen = {});

/// Enqueues a reduction whose operation and types are template arguments. R is the type of the result.
template <operation What, element T, result_value R>
requires(row_of(What).inputs == 1) void enqueue(device_span<T> input, device_result<R>* result,
                                                device_context& context, options chosen = {}) {
  chosen.result = type_of<typename result_traits<R>::number>;
  enqueue(What, input, static_cast<void*>(result), context, chosen);
}
template <operation What, element T, result_value R>
requires(row_of(What).inputs == 2) void enqueue(device_span<T> x, device_span<T> y, device_result<R>* result,
                                                device_context& context, options chosen = {}) {
  chosen.result = type_of<typename result_traits<R>::number>;
  enqueue(What, {x, y}, static_cast<void*>(result), context, chosen);
}

}  // namespace fanin
