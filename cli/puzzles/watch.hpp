// SPDX-License-Identifier: Apache-2.0
// Watches every access of a kernel to memory. The puzzle is compiled with -fsanitize=thread, and its accesses call
// the functions at the end of this header, which take the place of ThreadSanitizer's. This header is compiled without
// -fsanitize.
//
// Two accesses of two threads to one byte race unless both read, both are atomic, or a chain of barriers, exchanges,
// or fences with atomic functions orders them. Each thread has a vector clock (Lamport, Mattern): for each thread the
// latest step that is known to come before.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "cli/puzzles/arrays.hpp"

namespace fanin::puzzle {

/// The costs of a launch.
struct costs {
  std::size_t transactions = 0;  ///< pieces of 32 bytes of global memory, for each access of a warp
  std::size_t conflicts = 0;     ///< turns that a warp waits because its threads want different words of one bank
  std::size_t barriers = 0;      ///< barriers of blocks
  void add(const costs& more) {
    transactions += more.transactions;
    conflicts += more.conflicts;
    barriers += more.barriers;
  }
};

inline volatile bool is_late = false;  ///< The kernel has computed for too long.
constexpr const char* does_not_end = " does not end within 3 s of computing";

/// The report on a fault of the running thread.
inline std::string report(const char* kind, const std::string& what, place where) {
  const int line = line_of(where);
  return std::string(kind) + ": " + (line > 0 ? "line " + std::to_string(line) + ": " : "") +
         name_of_thread(blockIdx.x * blockDim.x + threadIdx.x) + what;
}

class watcher {
 public:
  void begin_launch(unsigned blocks, unsigned threads) {
    clocks_.assign(std::size_t{blocks} * threads, std::vector<unsigned>(std::size_t{blocks} * threads));
    for (std::size_t i = 0; i < clocks_.size(); ++i) clocks_[i][i] = 1;
    fenced_.assign(clocks_.size(), {});
    published_.clear();
    repeats_.assign(clocks_.size(), {});
    rounds_.assign(clocks_.size(), 0);
    accesses_.clear();
    spent_ = {};
    no_value_.clear();
    for (array_memory* const one : all_arrays.arrays) one->forget_threads();
  }
  /// The first read of a byte without a value. A write that comes later makes it a race.
  const std::string& no_value() const { return no_value_; }
  costs end_launch() {
    count_accesses();
    return spent_;
  }

  void begin_block() {
    shared_memory().forget_threads();
    for (byte_history& one : shared_memory().history) one.has_value = false;
  }

  void touch(const char* at, std::size_t bytes, action what, place where) {
    array_memory* const of = array_at(at, bytes, what, where);
    if (of == nullptr) return;
    stop_if_late(where);
    const unsigned self = number();
    const access now = {self, clocks_[self][self], what, where};
    const auto first = static_cast<std::size_t>(at - of->begin);
    for (std::size_t i = first; i < first + bytes; ++i) touch_byte(*of, i, now);
    of->log.push_back(now);
    of->log_index.push_back(first / of->element_bytes);
    note(at, bytes, of == &shared_memory(), where);
  }

  /// The calling thread has come to a mark of the emulation.
  void release(const void* mark) {
    using emulate::detail::running;
    stop_if_late({nullptr, running->current().line});
    if (mark == &running->current().fenced) {
      fenced_[number()] = clocks_[number()];
    } else if (is_of_block(mark)) {
      join(published_[{mark, blockIdx.x}], clocks_[number()]);
    } else {
      return;
    }
    ++clocks_[number()][number()];
    ++rounds_[number()];
    repeats_[number()].clear();
  }
  void acquire(const void* mark) {
    if (!is_of_block(mark)) return;
    if (is_met(mark) && threadIdx.x == 0) ++spent_.barriers;
    join(clocks_[number()], published_[{mark, blockIdx.x}]);
  }
  /// An atomic function shows what its thread did before its last fence, and sees what others have shown.
  void synchronise(const void* at) {
    std::vector<unsigned>& shown = published_[{at, ~0u}];
    join(clocks_[number()], shown);
    join(shown, fenced_[number()]);
    ++clocks_[number()][number()];
  }

 private:
  /// An access of one thread. The accesses of a warp that are made together have the same first five members.
  struct thread_access {
    unsigned warp;
    const void* code;
    int line;
    unsigned round, repeat;
    bool shared;
    std::uintptr_t at;
    std::size_t bytes;
    auto together() const { return std::tie(warp, code, line, round, repeat, shared); }
  };

  static unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }
  static void join(std::vector<unsigned>& into, const std::vector<unsigned>& more) {
    if (into.size() < more.size()) into.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) into[i] = std::max(into[i], more[i]);
  }
  static bool is_met(const void* mark) {
    const auto& met = emulate::detail::running->met;
    return mark == &met[0] || mark == &met[1];
  }
  static bool is_of_block(const void* mark) {
    const auto& threads = emulate::detail::running->threads;
    return is_met(mark) || (mark >= threads.data() && mark < threads.data() + threads.size());
  }

  array_memory* array_at(const char* at, std::size_t bytes, action what, place where) {
    if (shared_memory().has(at)) return &shared_memory();
    const std::string does = what == action::read ? " reads " : " writes ";
    if (!all_arrays.has(at)) {
      if (reinterpret_cast<std::uintptr_t>(at) < 4096) {
        stop("out of bounds", does + "at the null pointer", where);
      }
      return nullptr;  // a variable of the thread
    }
    array_memory* const of = all_arrays.near(at);
    if (of != nullptr && of->has(at) && of->has(at + bytes - 1)) return of;
    if (of == nullptr) stop("out of bounds", does + "memory of no array", where);
    const auto element = (at - of->begin) / static_cast<std::ptrdiff_t>(of->element_bytes) - (at < of->begin ? 1 : 0);
    const std::string elements = of->count() == 1 ? " element" : " elements";
    stop("out of bounds",
         does + of->name + "[" + std::to_string(at < of->begin && element == -1 ? -1 : element) + "], and " +
             of->name + " has " + std::to_string(of->count()) + elements,
         where);
    return nullptr;
  }

  static void stop_if_late(place where) {
    if (!is_late) return;
    is_late = false;
    stop("endless", does_not_end, where);
  }
  static void stop(const char* kind, const std::string& what, place where) {
    emulate::detail::stop(report(kind, what, where));
  }

  void touch_byte(array_memory& of, std::size_t i, const access& now) {
    byte_history& byte = of.history[i];
    const std::vector<unsigned>& known = clocks_[now.thread];
    const auto races = [&](const access& before) {
      const bool unordered = before.thread != now.thread && known[before.thread] < before.clock;
      return unordered && !(before.what == action::atomic && now.what == action::atomic);
    };
    const auto check = [&](const access& before) {
      if (!races(before)) return;
      const bool same_block = before.thread / blockDim.x == now.thread / blockDim.x;
      const std::string name = name_of(of, i), accesses = "\n  " + in_words(before) + "\n  " + in_words(now);
      emulate::detail::stop(
          same_block ? "race: two threads use " + name + ", and no barrier is between them" + accesses
                     : "race: threads of two blocks use " + name + accesses +
                           "\n  each block needs elements of its own, or a fence with an atomic function in between");
    };
    if (byte.written) check(byte.last_write);
    if (now.what == action::read) {
      if (!byte.has_value && no_value_.empty()) {
        no_value_ = report("uninitialised",
                           " reads " + name_of(of, i) + ", which no thread" +
                               (&of == &shared_memory() ? " of the block" : "") + " has written",
                           now.at);
      }
      for (access& read : byte.reads) {
        if (read.thread == now.thread) return void(read = now);
      }
      byte.reads.push_back(now);
      return;
    }
    for (const access& read : byte.reads) check(read);
    byte.reads.clear();
    byte.has_value = true;
    byte.written = true;
    byte.last_write = now;
  }

  void note(const char* at, std::size_t bytes, bool shared, place where) {
    const unsigned self = number();
    auto& before = repeats_[self];
    auto& repeat = before[{where.code, where.line}];
    accesses_.push_back({blockIdx.x * 64 + threadIdx.x / 32, where.code, where.line, rounds_[self], repeat++, shared,
                         reinterpret_cast<std::uintptr_t>(at), bytes});
  }

  void count_accesses() {
    const auto earlier = [](const thread_access& a, const thread_access& b) { return a.together() < b.together(); };
    std::stable_sort(accesses_.begin(), accesses_.end(), earlier);
    for (std::size_t begin = 0, end = 0; begin < accesses_.size(); begin = end) {
      std::vector<std::uintptr_t> pieces;
      const bool shared = accesses_[begin].shared;
      for (; end < accesses_.size() && accesses_[end].together() == accesses_[begin].together(); ++end) {
        const thread_access& one = accesses_[end];
        const std::uintptr_t size = shared ? 4 : 32;
        for (auto piece = one.at / size; piece <= (one.at + one.bytes - 1) / size; ++piece) pieces.push_back(piece);
      }
      std::sort(pieces.begin(), pieces.end());
      pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
      if (!shared) {
        spent_.transactions += pieces.size();
        continue;
      }
      std::size_t in_bank[32] = {};
      for (const std::uintptr_t word : pieces) ++in_bank[word % 32];
      const std::size_t turns = *std::max_element(in_bank, in_bank + 32);
      const std::size_t least = (accesses_[begin].bytes + 3) / 4;  // Accesses of 8 bytes take two turns.
      spent_.conflicts += turns > least ? turns - least : 0;
    }
  }

  std::vector<std::vector<unsigned>> clocks_, fenced_;
  std::map<std::pair<const void*, unsigned>, std::vector<unsigned>> published_;
  std::vector<std::map<std::pair<const void*, int>, unsigned>> repeats_;  ///< by place, since a barrier
  std::vector<unsigned> rounds_;                                          ///< barriers and exchanges of a thread
  std::vector<thread_access> accesses_;
  costs spent_;
  std::string no_value_;
};

inline watcher watching;
inline bool in_kernel = false;  ///< A thread of a kernel runs, and not the scheduler.

inline void watch(const void* at, std::size_t bytes, action what, place where) {
  if (in_kernel) watching.touch(static_cast<const char*>(at), bytes, what, where);
}

}  // namespace fanin::puzzle

// The functions that compiled puzzles call. One program contains this header once.
#define FANIN_WATCH(name, bytes, what)                                                              \
  void __tsan_##name##bytes(void* at) {                                                             \
    fanin::puzzle::watch(at, bytes, fanin::puzzle::action::what, {__builtin_return_address(0), 0}); \
  }
#define FANIN_WATCH_SIZE(bytes)            \
  FANIN_WATCH(read, bytes, read)           \
  FANIN_WATCH(write, bytes, write)         \
  FANIN_WATCH(unaligned_read, bytes, read) \
  FANIN_WATCH(unaligned_write, bytes, write)
// The emulation runs one thread at a time, so that an exchange never fails. g++ calls the last function, and clang++
// the one before it.
#define FANIN_WATCH_ATOMIC(bits, word)                                                                       \
  word __tsan_atomic##bits##_load(const volatile word* at, int) { return *at; }                              \
  word __tsan_atomic##bits##_compare_exchange_val(volatile word* at, word found, word wanted, int, int) {    \
    fanin::puzzle::watch(const_cast<word*>(at), bits / 8, fanin::puzzle::action::atomic,                     \
                         {nullptr, fanin::emulate::detail::running->current().line});                        \
    fanin::puzzle::watching.synchronise(const_cast<word*>(at));                                              \
    *at = wanted;                                                                                            \
    return found;                                                                                            \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile word* at, word* found, word wanted, int, int) { \
    __tsan_atomic##bits##_compare_exchange_val(at, *found, wanted, 0, 0);                                    \
    return 1;                                                                                                \
  }
extern "C" {
FANIN_WATCH_SIZE(1)
FANIN_WATCH_SIZE(2)
FANIN_WATCH_SIZE(4)
FANIN_WATCH_SIZE(8)
FANIN_WATCH_SIZE(16)
FANIN_WATCH_ATOMIC(32, unsigned)
FANIN_WATCH_ATOMIC(64, unsigned long)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* at, unsigned long bytes) {
  fanin::puzzle::watch(at, bytes, fanin::puzzle::action::read, {__builtin_return_address(0), 0});
}
void __tsan_write_range(void* at, unsigned long bytes) {
  fanin::puzzle::watch(at, bytes, fanin::puzzle::action::write, {__builtin_return_address(0), 0});
}
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  fanin::puzzle::watch(from, bytes, fanin::puzzle::action::read, {__builtin_return_address(0), 0});
  fanin::puzzle::watch(to, bytes, fanin::puzzle::action::write, {__builtin_return_address(0), 0});
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  fanin::puzzle::watch(to, bytes, fanin::puzzle::action::write, {__builtin_return_address(0), 0});
  return std::memset(to, value, bytes);
}
void* __tsan_get_current_fiber() { return nullptr; }
void* __tsan_create_fiber(unsigned) { return &fanin::puzzle::in_kernel; }
void __tsan_destroy_fiber(void*) {}
void __tsan_switch_to_fiber(void* fiber, unsigned) { fanin::puzzle::in_kernel = fiber != nullptr; }
void __tsan_acquire(void* mark) {
  if (fanin::puzzle::in_kernel) fanin::puzzle::watching.acquire(mark);
}
void __tsan_release(void* mark) {
  if (mark == &fanin::emulate::detail::running->begun) fanin::puzzle::watching.begin_block();
  if (fanin::puzzle::in_kernel) fanin::puzzle::watching.release(mark);
}
/// An index past the end of an array whose length the compiler knows.
void __ubsan_handle_out_of_bounds(void* about, unsigned long index) {
  struct known_place {
    const char* file;
    unsigned line, column;
    const struct {
      unsigned short kind, information;
      char name[1];
    } * array;
  };
  const auto& of = *static_cast<const known_place*>(about);
  fanin::emulate::detail::stop("out of bounds: line " + std::to_string(of.line) + ": thread " +
                               std::to_string(threadIdx.x) + " of block " + std::to_string(blockIdx.x) +
                               " uses index " + std::to_string(static_cast<long>(index)) + " of an array of type " +
                               of.array->name);
}
}
#undef FANIN_WATCH
#undef FANIN_WATCH_SIZE
#undef FANIN_WATCH_ATOMIC
