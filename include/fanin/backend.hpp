// The contract a backend fulfils. backends/README.md tells how to add one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/cuda/execution.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// Whether a backend can run on this machine, and if not, why.
struct availability {
  reason why = reason::usable;
  std::string_view detail;  ///< one sentence; static storage
  bool usable() const noexcept { return why == reason::usable; }
};

/// Whether a usable backend can serve a request, and if not, why.
struct support {
  reason why = reason::usable;
  std::string detail;  ///< one sentence; empty when it can
  bool usable() const noexcept { return why == reason::usable; }
};

/// One of several ways a backend can form the same reduction.
struct variant_info {
  std::string_view name;
  method how = method::fast;
  std::string_view story;  ///< one line: the idea
  std::string_view needs;  ///< what it needs beyond the backend; empty: nothing
};

/// A reduction fed block by block, for input that is never in memory as a whole. Not thread-safe; owns its scratch.
/// After an exception it can only be destroyed.
class FANIN_API stream {
 public:
  virtual ~stream() = default;
  /// Folds the next elements of each input, in host memory, which is free again on return. Any count; the blocks'
  /// sizes do not change the result's bits where the variant is `fixed_order` or `exact`.
  virtual void push(const input_views& blocks) = 0;
  /// Writes the value of everything pushed, of the request's result type. Call once, last. @throws as backend::reduce
  virtual outcome finish(void* result) = 0;
};

/// Seconds of a call with host data in which copies and in which kernels ran. They overlap.
struct device_times {
  double copy_seconds = 0;
  double kernel_seconds = 0;
};

/// What calls on one device and stream share. Not thread-safe.
class FANIN_API device_work {
 public:
  virtual ~device_work() = default;
  virtual device_times last_times() const noexcept = 0;
  /// Where kernels run, with at least so much scratch. @throws out_of_memory, device_error
  virtual device_code::execution where(std::size_t scratch_bytes) = 0;
  /// As backend::reduce, for a request that the backend prepared, after what the stream holds.
  virtual outcome reduce(const request&, void* result) = 0;
  /// Enqueues the same of device memory; `result` is a device_result in device memory. @throws device_error
  virtual void enqueue(const request&, void* result) = 0;
};

/// A machine that runs reductions. Implementations are stateless to the caller: every member may be called from many
/// threads at once, and objects live as long as the process.
class FANIN_API backend {
 public:
  virtual ~backend() = default;

  virtual std::string_view name() const noexcept = 0;
  /// Usable here or not. Cached after the first call; never throws, never prints.
  virtual const availability& probe() const noexcept = 0;
  /// The memory that it works in; what lies elsewhere it has to fetch, or refuses.
  virtual memory home() const noexcept { return memory::host; }
  /// What it offers, the shipped ones first; the first variant with the wanted method is its choice.
  virtual std::span<const variant_info> variants() const noexcept = 0;
  /// Whether it can serve the request, whose data it does not look at. If so, fills in request::variant and
  /// request::prepared, so that reduce() and open() need not look anything up.
  virtual support prepare(request&) const = 0;
  /// The same without keeping what was found.
  support supports(request what) const { return prepare(what); }

  /// Writes the reduction of the request's inputs, of its result type, to `result`, which is host memory.
  /// Preconditions, checked by fanin::reduce and not again: probe() is usable() and prepare() succeeded, the inputs'
  /// data is non-null unless their count is 0, and the count is not 0 where the operation has no value for that.
  /// In steady state it allocates nothing and touches neither environment nor files.
  /// @throws overflow (integer result does not fit), out_of_memory, device_error
  virtual outcome reduce(const request&, void* result) const = 0;

  /// The same for input that arrives in blocks; the request's inputs carry only the type. The same preconditions hold
  /// for the whole of what is pushed.
  virtual std::unique_ptr<stream> open(const request&) const = 0;

  /// Work on a device of this backend; `stream` is the device's own kind of stream, null for a new one.
  /// @throws backend_unavailable, unsupported if it has no devices, invalid_argument (no such device), device_error
  virtual std::unique_ptr<device_work> open_device(int device, void* stream) const;
};

/// Every backend this library knows, in order of preference, whether compiled in or not.
FANIN_API std::span<const backend* const> backends() noexcept;

/// The backend of that name. @throws invalid_argument with a suggestion if there is none.
FANIN_API const backend& find_backend(std::string_view name);

/// The backend that will run, the request as it prepared it, and who was passed over.
struct selection {
  const backend* chosen = nullptr;
  request what;
  std::vector<passed_over> fallback;
};

/// The threads that options::threads == 0 stands for: the cores this process may use, also when an OpenMP runtime has
/// bound the main thread to one of them. At least 1; cached.
FANIN_API unsigned default_threads() noexcept;

/// Chooses a backend. A pure function of its arguments: `wanted` is options::backend with the environment already
/// applied ("" means "auto"). For `auto` the candidates are tried in their order, except that host input below
/// `small_input_bytes` prefers "serial", whose call costs least, and a device gets host input only if nobody else can
/// serve: the bus takes longer than the fold. A variant's name leaves `auto` only the backends that have it.
/// @throws invalid_argument      unknown backend or variant name (with a suggestion), malformed list, an operation,
///                               type or method that does not exist, or another number of inputs than it reads
/// @throws unsupported           a single named backend cannot serve the request, or nobody in the list can
/// @throws backend_unavailable   a single named backend is not usable here, or none of the list is
selection select(std::span<const backend* const> candidates, std::string_view wanted, operation what,
                 const input_views& inputs, const options& chosen);

/// The same for the caller's own accumulator.
selection select(std::span<const backend* const> candidates, std::string_view wanted, const detail::arithmetic& own,
                 const input_views& inputs, const options& chosen);

inline constexpr std::size_t small_input_bytes = std::size_t{1} << 18;

}  // namespace fanin
