// Choosing a backend: a pure function of its arguments.
#include <algorithm>
#include <vector>

#include <fanin/backend.hpp>
#include <fanin/error.hpp>

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
  if (std::any_of(candidates.begin(), candidates.end(), [&](const backend* b) { return has_variant(*b, name); })) {
    return;
  }
  std::vector<std::string_view> known;
  for (const backend* b : candidates) {
    for (const variant_info& v : b->variants()) known.push_back(v.name);
  }
  throw invalid_argument("unknown variant " + quoted(name) + detail::suggestion(name, known));
}

/// What `b` would be asked: a named variant brings its own method and leaves the caller's memory for static storage.
request request_for(const backend& b, operation what, const array_view& input, const options& chosen) {
  request asked{what,
                input,
                chosen.how.value_or(default_method(what)),
                chosen.result.value_or(default_result(what, input.type)),
                chosen.variant,
                chosen.threads != 0 ? chosen.threads : default_threads()};
  if (chosen.variant.empty()) return asked;
  for (const variant_info& v : b.variants()) {
    if (v.name != chosen.variant) continue;
    asked.variant = v.name;
    asked.how = chosen.how.value_or(v.how);
  }
  return asked;
}

bool fits_request_only(reason why) { return why == reason::unsupported || why == reason::wrong_memory; }

[[noreturn]] void refuse(const passed_over& p) {
  if (fits_request_only(p.why)) throw unsupported(p.detail);
  throw backend_unavailable("backend " + quoted(p.backend) + " is not usable here (" + std::string(to_string(p.why)) +
                            "): " + p.detail);
}

/// Says what the first usable backend of the list said; where none is usable, what all said.
[[noreturn]] void refuse_all(const std::vector<passed_over>& trail) {
  std::string text = "no backend of the list is usable here";
  for (const passed_over& p : trail) {
    if (fits_request_only(p.why)) throw unsupported(p.detail);
    text += "; " + std::string(p.backend) + ": " + p.detail;
  }
  throw backend_unavailable(text);
}

/// Takes `b` if it can serve; otherwise notes why not.
bool take(selection& found, const backend& b, operation what, const array_view& input, const options& chosen) {
  const availability& here = b.probe();
  if (!here.usable()) {
    found.fallback.push_back({b.name(), here.why, std::string(here.detail)});
    return false;
  }
  found.what = request_for(b, what, input, chosen);
  support answer = b.supports(found.what);
  if (!answer.usable()) {
    found.fallback.push_back({b.name(), answer.why, std::move(answer.detail)});
    return false;
  }
  found.chosen = &b;
  return true;
}

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
bool is_far(const backend& b, const array_view& input) {
  return b.home() == memory::device && input.place == memory::host && b.probe().usable();
}

bool prefers_serial(const array_view& input) {
  return input.place == memory::host && input.count < small_input_bytes / size_of(input.type);
}

}  // namespace

selection select(candidate_list candidates, std::string_view wanted, operation what, const array_view& input,
                 const options& chosen) {
  if (!chosen.variant.empty()) check_variant_name(candidates, chosen.variant);
  selection found;
  if (wanted.empty() || wanted == "auto") {
    if (prefers_serial(input)) {
      for (const backend* b : candidates) {
        if (b->name() == "serial" && has_variant(*b, chosen.variant) && take(found, *b, what, input, chosen))
          return found;
      }
      found.fallback.clear();
    }
    for (const backend* b : candidates) {
      if (!has_variant(*b, chosen.variant)) continue;
      if (is_far(*b, input)) {
        found.fallback.push_back({b->name(), reason::wrong_memory, "the data lie in host memory"});
      } else if (take(found, *b, what, input, chosen)) {
        return found;
      }
    }
    if (input.place == memory::host) {
      std::erase_if(found.fallback, [](const passed_over& p) { return p.why == reason::wrong_memory; });
    }
    for (const backend* b : candidates) {
      if (is_far(*b, input) && take(found, *b, what, input, chosen)) return found;
    }
    refuse_all(found.fallback);
  }
  if (wanted.find(',') == std::string_view::npos) {
    if (!take(found, named(candidates, wanted), what, input, chosen)) refuse(found.fallback.front());
    return found;
  }
  any_name(wanted, [&](std::string_view name) {  // every name of the list has to be one
    named(candidates, name);
    return false;
  });
  if (!any_name(wanted,
                [&](std::string_view name) { return take(found, named(candidates, name), what, input, chosen); })) {
    refuse_all(found.fallback);
  }
  return found;
}

const backend& find_backend(std::string_view name) { return named(backends(), name); }

}  // namespace fanin
