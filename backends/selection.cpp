// Choosing a backend: a pure function of its arguments.
#include <algorithm>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/error.hpp>
#include <fanin/loop.hpp>

#include "backends/checks.hpp"
#include "backends/words.hpp"

namespace fanin {
namespace {

using candidate_list = std::span<const backend* const>;

std::string quoted(std::string_view word) { return "'" + std::string(word) + "'"; }

const backend& named(candidate_list candidates, std::string_view name) {
  for (const backend* b : candidates) {
    if (b->name() == name) return *b;
  }
  if (name.empty()) throw invalid_argument("empty name in the list of backends");
  if (name == "auto") throw invalid_argument("'auto' stands alone; a list names backends");
  std::vector<std::string_view> known{"auto"};
  for (const backend* b : candidates) known.push_back(b->name());
  throw invalid_argument("unknown backend " + quoted(name) + detail::suggestion(name, known));
}

/// A variant belongs to a backend: the others are no candidates.
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

/// The options that a backend's variant decides: a named variant brings its own method, and its name is in static
/// storage where the caller's may not be.
void apply_variant(const backend& b, const options& chosen, request& request) {
  if (chosen.variant.empty()) return;
  for (const variant_info& v : b.variants()) {
    if (v.name != chosen.variant) continue;
    request.variant = v.name;
    request.how = chosen.how.value_or(v.how);
  }
}

bool fits_request_only(reason why) { return why == reason::unsupported || why == reason::wrong_memory; }

/// Says what the first usable backend of the list said; where none is usable, what all said.
[[noreturn]] void refuse_all(const std::vector<passed_over>& trail) {
  std::string text = "no backend of the list is usable here";
  for (const passed_over& p : trail) {
    if (fits_request_only(p.why)) throw unsupported(p.detail);
    text += "; " + std::string(p.backend) + ": " + p.detail;
  }
  throw backend_unavailable(text);
}

/// A choice under way: who was found, for what request.
struct search {
  candidate_list candidates;
  const request& wanted;
  const options& chosen;
  selection found;

  /// Takes `b` if it can serve; otherwise notes why not.
  bool take(const backend& b) {
    const availability& here = b.probe();
    if (!here.usable()) {
      found.fallback.push_back({b.name(), here.why, std::string(here.detail)});
      return false;
    }
    found.what = wanted;
    apply_variant(b, chosen, found.what);
    support answer = b.prepare(found.what);
    if (!answer.usable()) {
      found.fallback.push_back({b.name(), answer.why, std::move(answer.detail)});
      return false;
    }
    found.chosen = &b;
    return true;
  }
};

/// Calls f(name) for each name of a comma list until one call returns true; whether one did.
template <class F>
bool any_name(std::string_view list, F f) {
  for (;;) {
    const std::size_t comma = list.find(',');
    if (f(list.substr(0, comma))) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

/// Whether `b` would have to fetch the data over the bus, which takes longer than to fold them where they lie.
bool is_far(const backend& b, const request& wanted) {
  return b.home() == memory::device && wanted.inputs.place() == memory::host && b.probe().usable();
}

bool prefers_serial(const request& wanted) {
  const std::size_t bytes = wanted.own != nullptr ? wanted.own->element_bytes : size_of(wanted.inputs.type());
  return wanted.inputs.place() == memory::host && wanted.inputs.count() < small_input_bytes / bytes;
}

selection choose_automatically(search& any) {
  const auto has_wanted_variant = [&](const backend& b) { return has_variant(b, any.chosen.variant); };
  if (prefers_serial(any.wanted)) {
    for (const backend* b : any.candidates) {
      if (b->name() == "serial" && has_wanted_variant(*b) && any.take(*b)) return std::move(any.found);
    }
    any.found.fallback.clear();
  }
  for (const backend* b : any.candidates) {
    if (!has_wanted_variant(*b)) continue;
    if (is_far(*b, any.wanted)) {
      any.found.fallback.push_back({b->name(), reason::wrong_memory, "the data lie in host memory"});
    } else if (any.take(*b)) {
      return std::move(any.found);
    }
  }
  if (any.wanted.inputs.place() == memory::host) {
    std::erase_if(any.found.fallback, [](const passed_over& p) { return p.why == reason::wrong_memory; });
  }
  for (const backend* b : any.candidates) {
    if (is_far(*b, any.wanted) && any.take(*b)) return std::move(any.found);
  }
  refuse_all(any.found.fallback);
}

selection choose(candidate_list candidates, std::string_view name, const request& wanted, const options& chosen) {
  search among{candidates, wanted, chosen, {}};
  if (name.empty() || name == "auto") {
    check_variant_name(candidates, chosen.variant);
    return choose_automatically(among);
  }
  if (name.find(',') == std::string_view::npos) {
    const backend& only = named(candidates, name);
    if (!has_variant(only, chosen.variant)) check_variant_name(candidates, chosen.variant);
    require(only);
    if (!among.take(only)) throw unsupported(among.found.fallback.front().detail);
    return std::move(among.found);
  }
  check_variant_name(candidates, chosen.variant);
  any_name(name, [&](std::string_view one) {  // every name of the list has to be one
    named(candidates, one);
    return false;
  });
  if (!any_name(name, [&](std::string_view one) { return among.take(named(candidates, one)); })) {
    refuse_all(among.found.fallback);
  }
  return std::move(among.found);
}

unsigned threads_of(const options& chosen) { return chosen.threads != 0 ? chosen.threads : default_threads(); }

}  // namespace

selection select(candidate_list candidates, std::string_view wanted, operation what, const input_views& inputs,
                 const options& chosen) {
  check_known(what, inputs, chosen.how);
  const request query{what,
                      inputs,
                      chosen.how.value_or(default_method(what)),
                      chosen.result.value_or(default_result(what, inputs.type())),
                      chosen.variant,
                      threads_of(chosen)};
  return choose(candidates, wanted, query, chosen);
}

selection select(candidate_list candidates, std::string_view wanted, const detail::arithmetic& own,
                 const input_views& inputs, const options& chosen) {
  request query{};
  query.inputs = inputs;
  query.threads = threads_of(chosen);
  query.own = &own;
  return choose(candidates, wanted, query, chosen);
}

const backend& find_backend(std::string_view name) { return named(backends(), name); }

}  // namespace fanin
