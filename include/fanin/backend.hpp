// SPDX-License-Identifier: Apache-2.0
// The contract of a backend. backends/README.md says how to add one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/batch.hpp>
#include <fanin/cuda/execution.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

struct device_allocator;

/// Whether a backend can run on this machine, and if not, why.
struct availability {
  reason why = reason::usable;
  std::string_view detail;  ///< one sentence; static storage
  bool usable() const noexcept { return why == reason::usable; }
};

/// Whether a usable backend can serve a request, and if not, why.
struct support {
  reason why = reason::usable;
  std::string detail;  ///< one sentence; empty if the backend can serve the request
  bool usable() const noexcept { return why == reason::usable; }
};

/// One of several implementations of the same reductions by one backend.
struct variant_info {
  std::string_view name;
  fanin::method method = fanin::method::fast;
  std::string_view story;  ///< the idea in one line
  std::string_view needs;  ///< the hardware or library that it needs beyond the backend; may be empty
};

/// A reduction of input that arrives in blocks and is never in memory as a whole. Not thread-safe. A stream owns its
/// scratch memory. After an exception it can only be destroyed.
class FANIN_API stream {
 public:
  virtual ~stream() = default;
  /// Adds the next elements of each input. The blocks are in host memory, which the caller may reuse on return, and
  /// may have any count. Their sizes do not change the result's bits if the variant is `fixed_order` or `exact`.
  virtual void push(const input_views& blocks) = 0;
  /// Writes the value of all elements pushed, in the request's result type. Call once, after the last push().
  /// @throws as backend::reduce
  virtual outcome finish(void* result) = 0;
};

/// How long copies ran, and how long kernels ran, in a call with host data. The two overlap.
struct device_times {
  double copy_seconds = 0;
  double kernel_seconds = 0;
};

/// Vectors in device memory whose sum is formed. Each vector has `count` floating-point numbers of 16 bits or more.
/// The first vector is `first`. `rest_count` more vectors begin at `rest`, `stride` bytes apart. The sums are rounded
/// once to `type`, and go to `out`, which may be one of the vectors.
struct vector_sums {
  element_type type;
  std::size_t count;
  const void* first;
  const void* rest;
  unsigned rest_count;
  std::size_t stride;
  void* out;
};

/// Rows in device memory that keys scatter, of `columns` floating-point numbers of 16 bits or more. Row i of x is
/// added to row keys[i] of `base`, which has `groups` rows, or is null. The sums are rounded once to `type`, and go
/// to `out`, which may be the base.
struct scattered_rows {
  element_type type;
  std::size_t columns, groups;
  const void* x;
  array_view keys;
  const void* base;
  void* out;
};

/// The resources that calls on one device and stream share. Not thread-safe.
class FANIN_API device_work {
 public:
  virtual ~device_work() = default;
  virtual device_times last_times() const noexcept = 0;
  /// The arguments of a kernel launch, with at least `scratch_bytes` of scratch. @throws out_of_memory, device_error
  virtual device_code::execution where(std::size_t scratch_bytes) = 0;
  /// Reduces like backend::reduce, after the work that is already on the stream.
  virtual outcome reduce(const request&, void* result) = 0;
  /// Enqueues the reduction of device memory and returns. `result` is a device_result in device memory.
  /// @throws device_error
  virtual void enqueue(const request&, void* result) = 0;
  /// These two enqueue the exact sum of arrays in device memory as lanes, and the value of summed lanes
  /// (fanin/state.hpp). The request is prepared for the first array.
  virtual void enqueue_lanes(const request&, std::span<const input_views> arrays, std::int64_t* lanes) = 0;
  virtual void enqueue_value_of_lanes(const request&, const std::int64_t* lanes, void* result) = 0;
  /// These two enqueue the conversion of a device_result of min or max to an integer, and back. The integers have the
  /// order of the numbers. NaN is beyond all numbers.
  virtual void enqueue_key(operation what, element_type, const void* result, std::int64_t* key) = 0;
  virtual void enqueue_value_of_key(element_type, const std::int64_t* key, void* result) = 0;
  /// Enqueues sums of vectors to the second stream, or to the context's own.
  virtual void enqueue_vector_sums(const vector_sums&, bool on_second_stream) = 0;
  /// A stream beside the context's own stream, for work that overlaps with work on the caller's stream.
  virtual CUstream_st* second_stream() = 0;
  /// Reduces a batch like reduce(), and writes plain results.
  virtual outcome reduce_each(const request&, const batch&, const results_view& out) = 0;
  /// Enqueues the reduction of a batch by each operation, with results out[i] in device memory. Operations may share
  /// a read of the elements.
  virtual void enqueue_each(std::span<const request>, const batch&, std::span<const results_view> out) = 0;
  /// Enqueues the conversion of a device_result of argmin or argmax of `count` elements to three integers, and of
  /// the integers of many participants, whose elements follow each other, to the result of all.
  virtual void enqueue_candidate(operation what, element_type, const void* result, std::uint64_t count,
                                 std::int64_t* candidate) = 0;
  virtual void enqueue_first_candidate(operation what, element_type, const std::int64_t* candidates,
                                       std::size_t number, void* result) = 0;
  /// Enqueues sums of scattered rows.
  virtual void enqueue_scattered_rows(const scattered_rows&) = 0;
};

/// Runs reductions on one kind of machine or by one library. A backend has no state that callers can see: many
/// threads may call every member at once. Backends live as long as the process. The library calls a backend with
/// rounding to nearest and subnormals kept (environment.hpp). A backend sets the same on the threads that it starts.
class FANIN_API backend {
 public:
  virtual ~backend() = default;

  virtual std::string_view name() const noexcept = 0;
  /// Whether the backend can run on this machine. The first call finds the answer, which later calls repeat. No call
  /// throws or prints.
  virtual const availability& probe() const noexcept = 0;
  /// The memory that the backend reads. It copies data from other memory, or refuses the request.
  virtual memory home() const noexcept { return memory::host; }
  /// The backend's variants. The first variant of a method is the default variant of that method.
  virtual std::span<const variant_info> variants() const noexcept = 0;
  /// Whether the backend can serve the request. prepare() does not read the data. If the backend can serve it,
  /// prepare() sets request::variant and request::prepared, so that reduce() and open() need not look anything up. It
  /// lowers request::threads if the backend uses fewer threads.
  virtual support prepare(request&) const = 0;
  /// Answers like prepare(), but leaves the caller's request unchanged, and refuses what has no row in the catalogue:
  /// operations of floats alone for integers, which fanin::reduce may let a backend read in place of f64.
  support supports(request what) const;

  /// Writes the reduction of the request's inputs to `result`, which is host memory for the request's result type.
  /// fanin::reduce has checked these preconditions: probe() is usable(), prepare() succeeded, the inputs' data is
  /// non-null unless their count is 0, and the count is not 0 if the operation has no value for no elements.
  /// In steady state reduce() allocates nothing and reads neither the environment nor files.
  /// @throws overflow (integer result does not fit), out_of_memory, device_error. If elements may be absent, by
  /// request::nan or the inputs' mask: also invalid_argument if too few take part, and unsupported if the variant
  /// takes whole arrays only
  virtual outcome reduce(const request&, void* result) const = 0;
  /// Reduces `inputs` in place of the request's inputs, and returns the report for the caller. `inputs` has the
  /// number of arrays, the type and the place of the request's inputs. CPU backends copy neither the request nor
  /// their outcome here, because both copies together would take longer than the sum of a short array.
  virtual report reduce_inputs(const request& prepared, const input_views& inputs, void* result) const;

  /// Writes the results of the batch. If request::adds is set, adds the elements to the results instead. prepare()
  /// succeeded for the layout and the inputs of the batch, which rows(), segments() or groups() made. fanin::reduce
  /// has checked the memory. This function checks whether offsets and keys are within their limits.
  /// @throws as fanin::reduce of a batch
  virtual outcome reduce_each(const request&, const batch&, const results_view& out) const;
  /// Writes the results of several operations of the batch: out[i] has the results of asked[i]. The requests are as
  /// for reduce_each(), and differ only in their operations, methods and results. CPU backends read the elements of
  /// rows and segments once; others call reduce_each() for each request.
  virtual std::vector<outcome> reduce_jointly(std::span<const request> asked, const batch&,
                                              std::span<const results_view> out) const;

  /// The devices that options::devices may name are 0, 1, ..., device_count() - 1.
  virtual int device_count() const noexcept { return 0; }
  /// Reduces all parts as if they were one array, in place of the request's inputs. Each part is in the memory of a
  /// device, and has the request's number of inputs and type.
  virtual outcome reduce_parts(const request&, std::span<const input_views> parts, void* result) const;

  /// Opens a stream for input that arrives in blocks. The request's inputs have a type, but no data. The
  /// preconditions of reduce() hold for all elements pushed together.
  virtual std::unique_ptr<stream> open(const request&) const = 0;

  /// The resources for calls on a device of this backend. `stream` is a stream of the device's runtime, or null for a
  /// new one. Device memory comes from the allocator `from`, or from the runtime if `from` is null.
  /// @throws backend_unavailable, unsupported if it has no devices, invalid_argument (no such device), device_error
  virtual std::unique_ptr<device_work> open_device(int device, void* stream, const device_allocator* from) const;
};

/// Every backend this library knows, in order of preference, whether compiled in or not.
FANIN_API std::span<const backend* const> backends() noexcept;

/// The backend of that name. @throws invalid_argument with a suggestion if there is none.
FANIN_API const backend& find_backend(std::string_view name);

/// The chosen backend, the request that it prepared, and the backends that were passed over.
struct selection {
  const backend* chosen = nullptr;
  request what;
  std::vector<passed_over> fallback;
};

/// The number of threads for options::threads == 0: the cores that this process may use, even if an OpenMP runtime
/// has bound the main thread to one of them. At least 1; cached.
FANIN_API unsigned default_threads() noexcept;

/// Chooses a backend. A pure function of its arguments: `wanted` is options::backend with the environment already
/// applied ("" means "auto"). For `auto` the candidates are tried in their order, with these rules:
/// - Host input below `small_input_bytes` prefers "serial", whose call costs least.
/// - A device gets host input only if no CPU backend can serve the request, because the bus is slower than a CPU.
/// - If a variant is named, only backends that have it are considered.
/// - If devices are named, only backends that have devices are considered.
/// - Backends in `failed` are passed over with the reason there.
/// @throws invalid_argument      unknown backend or variant name (with a suggestion), malformed list, an operation,
///                               type or method that does not exist, or another number of inputs than it reads
/// @throws unsupported           a single named backend cannot serve the request, or no backend in the list can
/// @throws backend_unavailable   a single named backend is not usable here, or none of the list is
selection select(std::span<const backend* const> candidates, std::string_view wanted, operation what,
                 const input_views& inputs, const options& chosen, std::span<const passed_over> failed = {},
                 layout kind = layout::array, bool adds = false);

/// Chooses as the other select() does, for the caller's own accumulator.
selection select(std::span<const backend* const> candidates, std::string_view wanted, const detail::arithmetic& own,
                 const input_views& inputs, const options& chosen, std::span<const passed_over> failed = {});

inline constexpr std::size_t small_input_bytes = std::size_t{1} << 18;

}  // namespace fanin
