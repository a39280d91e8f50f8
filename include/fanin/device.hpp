// Reductions of data in device memory, with streams, results on the device and CUDA graphs under the caller's
// control. Plain C++: no CUDA header is needed to include this. `fanin::reduce` takes a device_span too.
//
//   fanin::device_context context(0, stream);                                  // one for each thread; keep it
//   fanin::reduce(fanin::operation::sum, fanin::device_span(x, n), context);   // the value on the host
//   fanin::enqueue<fanin::operation::sum>(fanin::device_span(x, n), total, context);  // on the device, no waiting
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include <fanin/fanin.hpp>

namespace fanin {

/// `size` elements in device memory, contiguous, aligned to the element. Does not own them.
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

/// What enqueue() leaves in device memory.
template <element R>
struct device_result {
  R value;  ///< where `overflowed`, the low 64 bits or fewer of what does not fit
  /// Not 0 where a call on the host throws `overflow`. As wide as the value, so that there is no padding.
  std::conditional_t<sizeof(R) == 8, std::uint64_t, std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint8_t>>
      overflowed;
  static_assert(sizeof(R) == 8 || sizeof(R) == 4 || sizeof(R) == 1);
};

/// What the calls on one device and stream share: stream, workspace, pinned buffers. Once the largest request has
/// been served, calls allocate nothing and wait for nothing but their own result. Memory: 1 to 2 MiB on the device,
/// and for stages of the ladder that work in place the longest copy of their input; for host data up to 64 MiB more
/// there and as much pinned, from the first such call on, and up to 15 threads that copy. Threads: one at a time.
/// Work that a context has enqueued must not run at the same time as its other work: graphs captured with one context
/// are launched one after another.
class FANIN_API device_context {
 public:
  /// `stream`: a cudaStream_t of that device, which has to outlive the context; null: one of its own, which waits for
  /// the legacy default stream. @throws backend_unavailable, invalid_argument (no such device), device_error
  explicit device_context(int device = 0, void* stream = nullptr);

  int device() const noexcept { return device_; }
  void* stream() const noexcept { return stream_; }

  /// Of the last call with host data. Short arrays in pinned memory are read over the bus by the kernel itself: no
  /// copy, and the kernel's time is the call's.
  device_times last_times() const noexcept { return work_->last_times(); }

  device_work& work() noexcept { return *work_; }

 private:
  std::unique_ptr<device_work> work_;
  int device_;
  void* stream_;
};

/// As fanin::reduce, by the backend `cuda`, of device or host memory. What the context's stream holds comes first.
/// @throws as fanin::reduce; device_error
FANIN_API report reduce(operation what, const input_views& inputs, const result_view& value, device_context& context,
                        options chosen = {});
FANIN_API result<scalar> reduce(operation what, const input_views& inputs, device_context& context,
                                const options& chosen = {});

/// Enqueues the reduction of device memory and returns. `result` is in device memory (or pinned): a
/// device_result of the type that options::result or default_result() names. An empty mean or variance is NaN, an
/// empty min or max its identity. Only kernel launches, but for stages of the ladder: may be captured
/// into a CUDA graph, once the same call was made without. The context has to outlive the graph.
/// @throws as fanin::reduce, but not `overflow`
FANIN_API void enqueue(operation what, const input_views& inputs, void* result, device_context& context,
                       const options& chosen = {});

/// The same with types that are checked.
template <operation What, element T, element R>
requires(row_of(What).inputs == 1) void enqueue(device_span<T> input, device_result<R>* result,
                                                device_context& context, options chosen = {}) {
  chosen.result = type_of<R>;
  enqueue(What, input, static_cast<void*>(result), context, chosen);
}
template <operation What, element T, element R>
requires(row_of(What).inputs == 2) void enqueue(device_span<T> x, device_span<T> y, device_result<R>* result,
                                                device_context& context, options chosen = {}) {
  chosen.result = type_of<R>;
  enqueue(What, {x, y}, static_cast<void*>(result), context, chosen);
}

}  // namespace fanin
