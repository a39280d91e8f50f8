// The contract a backend fulfils. backends/README.md tells how to add one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
class stream {
 public:
  virtual ~stream() = default;
  /// Folds the next `count` elements; the memory is free again on return. Any count; the blocks' sizes do not change
  /// the result's bits where the variant is `fixed_order` or `exact`.
  virtual void push(const void* elements, std::size_t count) = 0;
  /// The value of everything pushed. Call once, last. @throws as backend::reduce
  virtual outcome finish() = 0;
};

/// A machine that runs reductions. Implementations are stateless to the caller: every member may be called from many
/// threads at once, and objects live as long as the process.
class backend {
 public:
  virtual ~backend() = default;

  virtual std::string_view name() const noexcept = 0;
  /// Usable here or not. Cached after the first call; never throws, never prints.
  virtual const availability& probe() const noexcept = 0;
  /// The memory that it works in; what lies elsewhere it has to fetch, or refuses.
  virtual memory home() const noexcept { return memory::host; }
  /// What it offers, the shipped ones first; the first variant with the wanted method is its choice.
  virtual std::span<const variant_info> variants() const noexcept = 0;
  /// Whether it can serve the request; looks at everything but input.data.
  virtual support supports(const request&) const = 0;

  /// The reduction of request.input.
  /// Preconditions, checked by fanin::reduce and not again: probe() and supports(request) are usable(), input.data is
  /// non-null unless input.count is 0, and input.count > 0 for min, max, mean and variance.
  /// In steady state it allocates nothing and touches neither environment nor files.
  /// @throws overflow (integer result does not fit), out_of_memory, device_error
  virtual outcome reduce(const request&) const = 0;

  /// The same for input that arrives in blocks; request.input carries only the type. The same preconditions hold for
  /// the whole of what is pushed.
  virtual std::unique_ptr<stream> open(const request&) const = 0;
};

/// Every backend this library knows, in order of preference, whether compiled in or not.
std::span<const backend* const> backends() noexcept;

/// The backend of that name. @throws invalid_argument with a suggestion if there is none.
const backend& find_backend(std::string_view name);

/// The backend that will run, its variant and method resolved into `what`, and who was passed over.
struct selection {
  const backend* chosen = nullptr;
  request what;
  std::vector<passed_over> fallback;
};

/// The threads that options::threads == 0 stands for: the cores this process may use, also when an OpenMP runtime has
/// bound the main thread to one of them. At least 1; cached.
unsigned default_threads() noexcept;

/// Chooses a backend. A pure function of its arguments: `wanted` is options::backend with the environment already
/// applied ("" means "auto"). For `auto` the candidates are tried in their order, except that host input below
/// `small_input_bytes` prefers "serial", whose call costs least, and a device gets host input only if nobody else can
/// serve: the bus takes longer than the fold. A variant's name leaves `auto` only the backends that have it.
/// @throws invalid_argument      unknown backend or variant name (with a suggestion), malformed list
/// @throws unsupported           a single named backend cannot serve the request, or nobody in the list can
/// @throws backend_unavailable   a single named backend is not usable here, or none of the list is
selection select(std::span<const backend* const> candidates, std::string_view wanted, operation what,
                 const array_view& input, const options& chosen);

inline constexpr std::size_t small_input_bytes = std::size_t{1} << 18;

}  // namespace fanin
