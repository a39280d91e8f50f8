// SPDX-License-Identifier: Apache-2.0
// The arrays that a puzzle's kernel may use, and what has happened to each of their bytes.
#pragma once

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fanin/emulate.hpp>

namespace fanin::puzzle {

/// The place of an access: where the compiled code goes on, or for atomic functions the line.
struct place {
  const void* code = nullptr;
  int line = 0;
};

enum class action { read, write, atomic };

/// An access of a thread, numbered in the whole grid.
struct access {
  unsigned thread = 0;
  unsigned clock = 0;  ///< the clock of the thread
  action what = action::read;
  place at;
};

/// The history of a byte in this launch. A read since the last write is kept once for each thread.
struct byte_history {
  bool has_value = false;
  bool written = false;
  access last_write;
  std::vector<access> reads;
};

struct array_memory {
  std::string name;
  char* begin = nullptr;
  std::size_t bytes = 0, element_bytes = 4;
  std::vector<byte_history> history;
  std::vector<access> log;             ///< every access, in order
  std::vector<std::size_t> log_index;  ///< the element of each access in the log

  bool has(const char* at) const { return at >= begin && at < begin + bytes; }
  std::size_t count() const { return bytes / element_bytes; }
  void forget_threads() {
    for (byte_history& one : history) one.written = false, one.reads.clear();
    log.clear();
    log_index.clear();
  }
};

constexpr std::size_t guard_bytes = 64 << 10, arena_bytes = 64 << 20;

/// Memory for all arrays, with a guard before and after each.
struct arena {
  char* begin = static_cast<char*>(
      ::mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::size_t used = guard_bytes;
  std::vector<array_memory*> arrays;

  bool has(const char* at) const { return at >= begin && at < begin + arena_bytes; }
  /// The array whose memory or guard has the address.
  array_memory* near(const char* at) const {
    array_memory* found = nullptr;
    for (array_memory* const one : arrays) {
      if (at + guard_bytes / 2 >= one->begin && at < one->begin + one->bytes + guard_bytes / 2) found = one;
      if (one->has(at)) return one;
    }
    return found;
  }
  void place(array_memory& one) {
    one.begin = begin + used;
    used += (one.bytes + 255) / 256 * 256 + guard_bytes;
    one.history.resize(one.bytes);
    arrays.push_back(&one);
  }
  void clear() {
    arrays.clear();
    used = guard_bytes;
  }
};
inline arena all_arrays;

/// The shared memory of a block: the thread-local variables of the program.
inline array_memory& shared_memory() {
  static array_memory memory = [] {
    array_memory found;
    found.name = "shared memory";
    ::dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void* into) {
          for (int i = 0; i < program->dlpi_phnum; ++i) {
            if (program->dlpi_phdr[i].p_type != PT_TLS || program->dlpi_tls_data == nullptr) continue;
            auto& here = *static_cast<array_memory*>(into);
            here.begin = static_cast<char*>(program->dlpi_tls_data);
            here.bytes = program->dlpi_phdr[i].p_memsz;
          }
          return 1;  // The program itself comes first.
        },
        &found);
    found.history.resize(found.bytes);
    return found;
  }();
  return memory;
}

/// An array of T for a kernel. Elements are named "x[3]" in reports.
template <class T>
class array {
 public:
  array(const char* name, const std::vector<T>& values) : array(name, values.size()) {
    std::memcpy(memory_.begin, values.data(), memory_.bytes);
    for (byte_history& one : memory_.history) one.has_value = true;
  }
  /// An array without values. Its bytes are 0xa5.
  array(const char* name, std::size_t count) {
    memory_.name = name;
    memory_.bytes = count * sizeof(T);
    memory_.element_bytes = sizeof(T);
    all_arrays.place(memory_);
    std::memset(memory_.begin, 0xa5, memory_.bytes);
  }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  T* data() const { return reinterpret_cast<T*>(memory_.begin); }
  T operator[](std::size_t i) const { return data()[i]; }
  std::size_t count() const { return memory_.count(); }
  const array_memory& memory() const { return memory_; }

 private:
  array_memory memory_;
};

/// The first line of what a shell command prints; empty if the program is not installed.
inline std::string printed_by(const char* command) {
  char answer[512] = {};
  FILE* const out = ::popen(command, "r");
  if (out == nullptr) return "";
  const char* const got = std::fgets(answer, sizeof answer, out);
  ::pclose(out);
  return got != nullptr ? got : "";
}

/// The line of a place, from addr2line; 0 if it is not known.
inline int line_of(const place& at) {
  if (at.code == nullptr) return at.line;
  char command[160];
  std::snprintf(command, sizeof command, "addr2line -e /proc/%d/exe %p 2>/dev/null", static_cast<int>(::getpid()),
                static_cast<const void*>(static_cast<const char*>(at.code) - 1));
  const std::string answer = printed_by(command);
  const std::size_t colon = answer.rfind(':');
  return colon != answer.npos ? std::atoi(answer.c_str() + colon + 1) : 0;
}

/// The element for a report, as in "x[3]". nm knows the names of the variables in shared memory.
inline std::string name_of(const array_memory& of, std::size_t byte) {
  if (&of != &shared_memory()) return of.name + "[" + std::to_string(byte / of.element_bytes) + "]";
  char command[160];
  std::snprintf(command, sizeof command, "nm -C -S -n /proc/%d/exe 2>/dev/null | awk '$3 ~ /[bBdD]/' | head -n 16",
                static_cast<int>(::getpid()));
  FILE* const symbols = ::popen(command, "r");
  char line[512];
  std::string found = "byte " + std::to_string(byte) + " of shared memory";
  while (symbols != nullptr && std::fgets(line, sizeof line, symbols) != nullptr) {
    unsigned long begin = 0, bytes = 0;
    if (std::sscanf(line, "%lx %lx", &begin, &bytes) != 2 || byte < begin || byte >= begin + bytes) continue;
    std::string name(line);
    name.pop_back();
    name.erase(0, name.find_last_of(": ") + 1);
    found = bytes <= 4 ? name : name + "[" + std::to_string((byte - begin) / of.element_bytes) + "]";
  }
  if (symbols != nullptr) ::pclose(symbols);
  return found;
}

/// `thread` is numbered in the whole grid.
inline std::string name_of_thread(unsigned thread) {
  return "thread " + std::to_string(thread % blockDim.x) + " of block " + std::to_string(thread / blockDim.x);
}

inline std::string in_words(const access& one) {
  static const char* const words[] = {"reads it", "writes it", "changes it by an atomic function"};
  const int line = line_of(one.at);
  return name_of_thread(one.thread) + " " + words[static_cast<int>(one.what)] +
         (line > 0 ? " (line " + std::to_string(line) + ")" : "");
}

/// Who has touched the element, for a report: at most six accesses, one a line.
inline std::string story_of(const array_memory& of, std::size_t element) {
  const std::string name = of.name + "[" + std::to_string(element) + "]";
  std::string text;
  int shown = 0;
  for (std::size_t i = 0; i < of.log.size(); ++i) {
    if (of.log_index[i] != element) continue;
    if (++shown > 6) return text + "  and more\n";
    text += "  " + name + ": " + in_words(of.log[i]) + "\n";
  }
  return text.empty() ? "  " + name + ": no thread touches it\n" : text;
}

}  // namespace fanin::puzzle
