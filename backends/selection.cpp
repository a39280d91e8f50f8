// SPDX-License-Identifier: Apache-2.0
// The choice of a backend, a pure function of its arguments.
#include <algorithm>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/error.hpp>
#include <fanin/loop.hpp>

#include "backends/checks.hpp"
#include "backends/fallback.hpp"
#include "backends/presence_rule.hpp"
#include "base/words.hpp"

namespace fanin {
namespace {

using candidate_list = std::span<const backend* const>;

std::string quoted(std::string_view word) { return "'" + detail::printable(word) + "'"; }

const backend& backend_named(candidate_list candidates, std::string_view name) {
  for (const backend* b : candidates) {
    if (b->name() == name) return *b;
  }
  if (name.empty()) throw invalid_argument("the list of backends has an empty name");
  if (name == "auto")
    throw invalid_argument("'auto' cannot be in a list of backends; name it alone, or name backends");
  std::vector<std::string_view> known{"auto"};
  for (const backend* b : candidates) known.push_back(b->name());
  throw invalid_argument("unknown backend " + quoted(name) + detail::suggestion(name, known));
}

/// Whether `b` has a variant of that name. An empty name stands for any variant.
bool has_variant(const backend& b, std::string_view name) {
  const auto known = b.variants();
  return name.empty() ||
         std::any_of(known.begin(), known.end(), [&](const variant_info& v) { return v.name == name; });
}

void check_variant_name(candidate_list candidates, std::string_view name) {
  if (name.empty()) return;
  if (std::any_of(candidates.begin(), candidates.end(), [&](const backend* b) { return has_variant(*b, name); })) {
    return;
  }
  std::vector<std::string_view> known;
  for (const backend* b : candidates) {
    for (const variant_info& v : b->variants()) known.push_back(v.name);
  }
  throw invalid_argument("unknown variant " + quoted(name) + detail::suggestion(name, known));
}

/// Writes the named variant and its method, unless the caller chose a method, to the request. The name is the
/// backend's own string, which is in static storage; the caller's string may not live as long as the request.
void apply_variant(const backend& b, const options& chosen, request& request) {
  if (chosen.variant.empty()) return;
  for (const variant_info& v : b.variants()) {
    if (v.name != chosen.variant) continue;
    request.variant = v.name;
    request.method = chosen.method.value_or(v.method);
  }
}

/// Whether devices are named for a backend that runs on none.
bool lacks_devices(const backend& b, const request& wanted) {
  return !wanted.devices.empty() && b.home() == memory::host && b.probe().usable();
}

/// Whether the backend is usable, and refused only this request.
bool concerns_request(reason why) { return why == reason::unsupported || why == reason::wrong_memory; }

/// Throws the reason of the first usable backend of the list, or the reasons of all backends if none is usable.
[[noreturn]] void refuse_all(const std::vector<passed_over>& trail) {
  std::string text = "no backend of the list is usable here";
  for (const passed_over& p : trail) {
    if (concerns_request(p.why)) throw unsupported(p.detail);
    text += "; " + std::string(p.backend) + ": " + p.detail;
  }
  throw backend_unavailable(text);
}

/// The state of a choice: the arguments, and what was found so far.
struct search {
  candidate_list candidates;
  const request& wanted;
  const options& chosen;
  std::span<const passed_over> failed;
  selection result;

  /// Chooses `b` if it can serve the request; otherwise adds the reason to the list of fallbacks.
  bool try_backend(const backend& b) {
    const auto failure = std::ranges::find(failed, b.name(), &passed_over::backend);
    if (failure != failed.end()) {
      result.fallback.push_back(*failure);
      return false;
    }
    const availability& here = b.probe();
    if (!here.usable()) {
      result.fallback.push_back({b.name(), here.why, std::string(here.detail)});
      return false;
    }
    if (lacks_devices(b, wanted)) {
      const std::string detail = std::string(b.name()) + " has no devices: leave out the option `devices`";
      result.fallback.push_back({b.name(), reason::unsupported, detail});
      return false;
    }
    result.what = wanted;
    apply_variant(b, chosen, result.what);
    support answer = b.prepare(result.what);
    if (!answer.usable()) {
      result.fallback.push_back({b.name(), answer.why, std::move(answer.detail)});
      return false;
    }
    result.chosen = &b;
    return true;
  }

  /// Tries one of several backends. If it has no memory left to prepare the request, the next one can be tried.
  bool try_one_of_several(const backend& b) {
    try {
      return try_backend(b);
    } catch (const error& failure) {
      if (!concerns_backend(failure)) throw;
      result.fallback.push_back({b.name(), reason::failed, failure.what()});
      return false;
    }
  }
};

/// Calls f(name) for the names of a comma-separated list until a call returns true. Returns whether a call did.
template <class F>
bool any_name(std::string_view list, F f) {
  for (;;) {
    const std::size_t comma = list.find(',');
    if (f(list.substr(0, comma))) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

/// Whether `b` would have to copy host data over the bus, which takes longer than a sum on the CPU.
bool needs_bus(const backend& b, const request& wanted) {
  return b.home() == memory::device && wanted.inputs.place() == memory::host && b.probe().usable();
}

bool prefers_serial(const request& wanted) {
  const std::size_t bytes = wanted.own != nullptr ? wanted.own->element_bytes : byte_size(wanted.inputs.type());
  return wanted.inputs.place() == memory::host && wanted.inputs.count() < small_input_bytes / bytes;
}

selection choose_automatically(search& state) {
  const auto is_candidate = [&](const backend& b) {
    return has_variant(b, state.chosen.variant) && !lacks_devices(b, state.wanted);
  };
  if (prefers_serial(state.wanted)) {
    for (const backend* b : state.candidates) {
      if (b->name() == "serial" && is_candidate(*b) && state.try_one_of_several(*b)) {
        return std::move(state.result);
      }
    }
    state.result.fallback.clear();
  }
  for (const backend* b : state.candidates) {
    if (!is_candidate(*b)) continue;
    if (needs_bus(*b, state.wanted)) {
      state.result.fallback.push_back({b->name(), reason::wrong_memory, "the data is in host memory"});
    } else if (state.try_one_of_several(*b)) {
      return std::move(state.result);
    }
  }
  if (state.wanted.inputs.place() == memory::host) {
    std::erase_if(state.result.fallback, [](const passed_over& p) { return p.why == reason::wrong_memory; });
  }
  for (const backend* b : state.candidates) {
    if (needs_bus(*b, state.wanted) && state.try_one_of_several(*b)) return std::move(state.result);
  }
  refuse_all(state.result.fallback);
}

selection choose(candidate_list candidates, std::string_view name, const request& wanted, const options& chosen,
                 std::span<const passed_over> failed) {
  search state{candidates, wanted, chosen, failed, {}};
  if (name.empty() || name == "auto") {
    check_variant_name(candidates, chosen.variant);
    return choose_automatically(state);
  }
  if (name.find(',') == std::string_view::npos) {
    const backend& chosen_backend = backend_named(candidates, name);
    if (!has_variant(chosen_backend, chosen.variant)) check_variant_name(candidates, chosen.variant);
    require_usable(chosen_backend);
    if (!state.try_backend(chosen_backend)) throw unsupported(state.result.fallback.front().detail);
    return std::move(state.result);
  }
  check_variant_name(candidates, chosen.variant);
  any_name(name, [&](std::string_view one) {  // an unknown name is an error wherever it stands
    backend_named(candidates, one);
    return false;
  });
  const auto try_named = [&](std::string_view one) {
    return state.try_one_of_several(backend_named(candidates, one));
  };
  if (!any_name(name, try_named)) refuse_all(state.result.fallback);
  return std::move(state.result);
}

unsigned threads_of(const options& chosen) { return chosen.threads != 0 ? chosen.threads : default_threads(); }

}  // namespace

selection select(candidate_list candidates, std::string_view wanted, operation what, const input_views& inputs,
                 const options& chosen, std::span<const passed_over> failed, layout kind, bool adds) {
  check_bound(chosen);
  check_known(what, inputs, chosen.method);
  if (is_partial(inputs, chosen.nan)) presence_rule(what, inputs.type(), chosen.nan).require_stand_in();
  const request query{what,
                      inputs,
                      chosen.method.value_or(default_method(what, inputs.type())),
                      chosen.result.value_or(default_result(what, inputs.type())),
                      chosen.variant,
                      threads_of(chosen),
                      chosen.nan,
                      kind,
                      adds,
                      chosen.devices};
  return choose(candidates, wanted, query, chosen, failed);
}

selection select(candidate_list candidates, std::string_view wanted, const detail::arithmetic& own,
                 const input_views& inputs, const options& chosen, std::span<const passed_over> failed) {
  check_bound(chosen);
  request query{};
  query.inputs = inputs;
  query.threads = threads_of(chosen);
  query.own = &own;
  query.devices = chosen.devices;
  return choose(candidates, wanted, query, chosen, failed);
}

const backend& find_backend(std::string_view name) { return backend_named(backends(), name); }

}  // namespace fanin
