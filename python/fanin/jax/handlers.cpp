// SPDX-License-Identifier: Apache-2.0
// What XLA calls for fanin.jax: reductions along axes, and of groups, in host memory or on a stream of a device.
// The attributes are set in _functions.py.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <fanin/fanin.h>
#include <xla/ffi/api/ffi.h>

namespace {

namespace ffi = xla::ffi;
using result_buffer = ffi::Result<ffi::AnyBuffer>;

ffi::Error error_of(fanin_status status) {
  if (status == FANIN_OK) return ffi::Error::Success();
  return {status == FANIN_INVALID_ARGUMENT || status == FANIN_UNSUPPORTED ? ffi::ErrorCode::kInvalidArgument
                                                                          : ffi::ErrorCode::kInternal,
          fanin_last_error()};
}

/// The element type; FANIN_TYPE_DEFAULT, which is no type of elements, for those that the library does not have.
fanin_type type_of(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::F16:
      return FANIN_F16;
    case ffi::DataType::BF16:
      return FANIN_BF16;
    case ffi::DataType::F32:
      return FANIN_F32;
    case ffi::DataType::F64:
      return FANIN_F64;
    case ffi::DataType::S32:
      return FANIN_I32;
    case ffi::DataType::S64:
      return FANIN_I64;
    default:
      return FANIN_TYPE_DEFAULT;
  }
}

using place = std::pair<std::int32_t, void*>;  // a device and a stream

std::mutex one_at_a_time;  // guards all contexts

/// The contexts of call sites that XLA has dropped, for new ones. XLA may drop call sites while the process ends, and
/// so the list is never destroyed.
std::multimap<place, fanin_context*>& spare_contexts() {
  static auto& contexts = *new std::multimap<place, fanin_context*>;
  return contexts;
}

/// One of the calls in a compiled function, with a context for each place. XLA may make a CUDA graph of a function,
/// in which calls that do not depend on each other run at the same time. A context serves one call at a time, and so
/// call sites share none.
struct call_site {
  static ffi::TypeId id;
  std::map<place, fanin_context*> contexts;

  ~call_site() {
    const std::lock_guard lock(one_at_a_time);
    spare_contexts().merge(contexts);
  }
};
ffi::TypeId call_site::id = {};  // XLA fills in the number

ffi::ErrorOr<std::unique_ptr<call_site>> make_call_site(ffi::Dictionary) { return std::make_unique<call_site>(); }

/// A call of the library: the arrays, and a batch that the caller fills in.
struct call {
  fanin_operation what;
  fanin_input input = FANIN_INPUT_INIT;
  fanin_options options = FANIN_OPTIONS_INIT;
  fanin_batch batch = FANIN_BATCH_INIT;
  fanin_output output = FANIN_OUTPUT_INIT;

  call(const ffi::AnyBuffer& x, const ffi::AnyBuffer& results, std::int32_t what, std::int32_t method) : what(what) {
    input.x = x.untyped_data();
    input.count = x.element_count();
    input.type = type_of(x.element_type());
    options.method = method;
    options.result_type = type_of(results.element_type());
    output.data = results.untyped_data();
    output.count = results.element_count();
  }

  ffi::Error on_host() { return error_of(fanin_reduce_batch(what, &input, &batch, &options, &output, nullptr)); }
  ffi::Error on_device(call_site& site, void* stream, std::int32_t device);
};

ffi::Error call::on_device(call_site& site, void* stream, std::int32_t device) {
  const std::lock_guard lock(one_at_a_time);
  const place here(device, stream);
  if (!site.contexts.contains(here)) site.contexts.insert(spare_contexts().extract(here));
  fanin_context*& context = site.contexts[here];
  if (context == nullptr) {
    if (const fanin_status made = fanin_context_create(device, stream, &context); made != FANIN_OK) {
      return error_of(made);
    }
  }
  input.place = output.place = FANIN_DEVICE;
  return error_of(fanin_context_enqueue_batch(context, what, &input, &batch, &options, &output));
}

/// Calls run(call) for reductions along axes, which count from the last one, -1: mapped axes come before the others.
template <class Run>
ffi::Error along_axes(const ffi::AnyBuffer& x, const ffi::AnyBuffer& results, std::int32_t what, std::int32_t method,
                      ffi::Span<const std::int64_t> axes, const Run& run) {
  const auto dimensions = x.dimensions();
  const std::vector<std::uint64_t> shape(dimensions.begin(), dimensions.end());
  std::vector<std::int32_t> along;
  for (const std::int64_t axis : axes) along.push_back(static_cast<std::int32_t>(axis + std::ssize(shape)));
  call made(x, results, what, method);
  made.batch.layout = FANIN_ROWS;
  made.batch.shape = shape.data();
  made.batch.axis_count = static_cast<std::uint32_t>(shape.size());
  made.batch.along = along.data();
  made.batch.along_count = static_cast<std::uint32_t>(along.size());
  return run(made);
}

/// Calls run(call) for groups. Keys of no group leave their element out.
template <class Run>
ffi::Error by_keys(const ffi::AnyBuffer& x, const ffi::AnyBuffer& keys, const ffi::AnyBuffer& results,
                   std::int32_t what, std::int32_t method, const Run& run) {
  call made(x, results, what, method);
  made.batch.layout = FANIN_GROUPS;
  made.batch.index = keys.untyped_data();
  made.batch.index_count = keys.element_count();
  made.batch.index_type = type_of(keys.element_type());
  made.batch.drop_others = 1;
  made.batch.group_count = results.element_count();
  return run(made);
}

ffi::Error reduce(ffi::AnyBuffer x, result_buffer results, std::int32_t what, std::int32_t method,
                  ffi::Span<const std::int64_t> axes) {
  return along_axes(x, *results, what, method, axes, [](call& made) { return made.on_host(); });
}

ffi::Error reduce_on_device(call_site* site, void* stream, std::int32_t device, ffi::AnyBuffer x,
                            result_buffer results, std::int32_t what, std::int32_t method,
                            ffi::Span<const std::int64_t> axes) {
  return along_axes(x, *results, what, method, axes,
                    [&](call& made) { return made.on_device(*site, stream, device); });
}

ffi::Error groups(ffi::AnyBuffer x, ffi::AnyBuffer keys, result_buffer results, std::int32_t what,
                  std::int32_t method) {
  return by_keys(x, keys, *results, what, method, [](call& made) { return made.on_host(); });
}

ffi::Error groups_on_device(call_site* site, void* stream, std::int32_t device, ffi::AnyBuffer x, ffi::AnyBuffer keys,
                            result_buffer results, std::int32_t what, std::int32_t method) {
  return by_keys(x, keys, *results, what, method, [&](call& made) { return made.on_device(*site, stream, device); });
}

auto of_host() { return ffi::Ffi::Bind(); }
auto of_device() {
  return ffi::Ffi::Bind().Ctx<ffi::State<call_site>>().Ctx<ffi::PlatformStream<void*>>().Ctx<ffi::DeviceOrdinal>();
}

template <class Binding>
auto with_axes(Binding binding) {
  return std::move(binding)
      .template Arg<ffi::AnyBuffer>()
      .template Ret<ffi::AnyBuffer>()
      .template Attr<std::int32_t>("what")
      .template Attr<std::int32_t>("method")
      .template Attr<ffi::Span<const std::int64_t>>("axes");
}
template <class Binding>
auto with_keys(Binding binding) {
  return std::move(binding)
      .template Arg<ffi::AnyBuffer>()
      .template Arg<ffi::AnyBuffer>()
      .template Ret<ffi::AnyBuffer>()
      .template Attr<std::int32_t>("what")
      .template Attr<std::int32_t>("method");
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(fanin_jax_reduce, reduce, with_axes(of_host()));
XLA_FFI_DEFINE_HANDLER_SYMBOL(fanin_jax_groups, groups, with_keys(of_host()));
XLA_FFI_DEFINE_HANDLER_SYMBOL(fanin_jax_call_site, make_call_site,
                              ffi::Ffi::BindInstantiate().Attrs<ffi::Dictionary>());
/// The number and the deleter of call_site, by which XLA keeps states.
constexpr ffi::TypeInfo call_site_info = ffi::MakeTypeInfo<call_site>();
extern "C" {
const void* fanin_jax_call_site_type[] = {&call_site::id, &call_site_info};
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(fanin_jax_reduce_on_device, reduce_on_device, with_axes(of_device()),
                              {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(fanin_jax_groups_on_device, groups_on_device, with_keys(of_device()),
                              {ffi::Traits::kCmdBufferCompatible});
