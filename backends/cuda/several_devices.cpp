// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/several_devices.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

#include <fanin/environment.hpp>
#include <fanin/error.hpp>

#include "backends/cuda/fold_inputs.hpp"
#include "base/threads.hpp"

namespace fanin::cuda {
namespace {

/// The work of one device.
struct share {
  int device;
  fanin::cuda::context& context;
  std::exception_ptr failure;
};

std::vector<share> shares_of(std::span<const device_part> parts) {
  std::vector<share> shares;
  for (const device_part& part : parts) {
    if (std::ranges::find(shares, part.device, &share::device) != shares.end()) continue;
    shares.push_back({part.device, default_context(part.device), nullptr});
  }
  return shares;
}

/// Folds the parts of one device, with its share of the threads that copy.
void fold_share(const request& whole, std::span<const device_part> parts, const share& mine, unsigned threads,
                std::span<partial_result> into) {
  const device_scope here(mine.device);
  if (const support answer = prepared_launcher(whole).runs_here(); !answer.usable()) throw unsupported(answer.detail);
  request request = whole;
  request.threads = threads;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].device != mine.device) continue;
    request.inputs = parts[i].inputs;
    fold_inputs(request, mine.context, into[i]);
  }
}

/// Calls f(share) for all shares at once, and throws the error of the first share that fails.
template <class F>
void for_each_at_once(std::vector<share>& shares, F f) {
  const auto run = [&](share& one) {
    try {
      f(one);
    } catch (...) {
      one.failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(shares.size());
    for (share& one : std::span(shares).subspan(1)) {
      try {
        threads.emplace_back([&run, &one] {
          const detail::environment_guard guard;
          unbind_this_thread();
          run(one);
        });
      } catch (const std::system_error&) {  // There is no thread left: the calling one does it.
        run(one);
      }
    }
    run(shares[0]);
  }
  for (const share& one : shares) {
    if (one.failure) std::rethrow_exception(one.failure);
  }
}

}  // namespace

std::vector<device_part> divided_among_devices(const request& request) {
  const std::uint64_t devices = request.devices.size(), count = request.inputs.count();
  std::vector<device_part> parts;
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < devices; ++i) {
    const std::uint64_t length = count / devices + (i < count % devices ? 1 : 0);
    parts.push_back({request.devices[i], request.inputs.part(first, length)});
    first += length;
  }
  return parts;
}

outcome reduce_on_devices(const request& request, std::span<const device_part> parts, void* result) {
  std::vector<share> shares = shares_of(parts);
  std::vector<partial_result> partials(parts.size());
  const unsigned threads = std::max(1u, request.threads / static_cast<unsigned>(shares.size()));
  for_each_at_once(shares, [&](const share& one) { fold_share(request, parts, one, threads, partials); });
  for (partial_result& next : std::span(partials).subspan(1)) {
    partials[0].append(prepared_launcher(request).host(), next);
  }
  return finished(request, partials[0], result);
}

}  // namespace fanin::cuda
