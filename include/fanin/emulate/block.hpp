// SPDX-License-Identifier: Apache-2.0
/// \file
/// The threads of an emulated block are fibers that take turns. This file has these threads and their barriers,
/// and <fanin/emulate.hpp> has CUDA's names for them.
#pragma once

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FANIN_EMULATE_SANITIZED 1
#endif
#if __has_feature(address_sanitizer)
#define FANIN_EMULATE_ADDRESSES 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(FANIN_EMULATE_SANITIZED)
#define FANIN_EMULATE_SWAPS 1
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#else
inline void* __tsan_get_current_fiber() { return nullptr; }
inline void* __tsan_create_fiber(unsigned) { return nullptr; }
inline void __tsan_destroy_fiber(void*) {}
inline void __tsan_switch_to_fiber(void*, unsigned) {}
inline void __tsan_acquire(void*) {}
inline void __tsan_release(void*) {}
#if defined(__SANITIZE_ADDRESS__) || defined(FANIN_EMULATE_ADDRESSES)
#define FANIN_EMULATE_SWAPS 1
#else
// longjmp() under a name for which _FORTIFY_SOURCE does not forbid jumps from stack to stack.
extern "C" [[noreturn]] void fanin_emulate_jump(jmp_buf to, int value) noexcept __asm__("_longjmp");
#endif
#endif

/// ThreadSanitizer ignores what such a function does. The scheduler and the threads of a kernel share memory
/// without a barrier.
#define FANIN_EMULATE_UNSEEN __attribute__((no_sanitize("thread")))

/// The numbers of a thread or a block.
struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
/// The shape of a block or a grid.
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace fanin::emulate {

/// A fault of a kernel. It ends the launch.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

enum class waits { no, for_warp, for_block, never };  ///< never: the thread has returned

/// Where the scheduler or a thread stands.
struct place {
  ucontext_t context;
  jmp_buf jump;
  bool is_begun = true;  ///< `jump` leads there, and not yet `context` alone
};

/// Returns when something goes on at `from`. swapcontext() sets the signal mask by a call of the kernel, and so takes
/// ten times as long as a jump. But sanitizers follow it, and do not follow jumps between stacks.
FANIN_EMULATE_UNSEEN inline void go_on(place& from, place& to) {
#if defined(FANIN_EMULATE_SWAPS)
  ::swapcontext(&from.context, &to.context);
#else
  if (_setjmp(from.jump) != 0) return;
  if (to.is_begun) fanin_emulate_jump(to.jump, 1);
  to.is_begun = true;
  ::setcontext(&to.context);
#endif
}

struct thread {
  place stands;
  void* fiber = nullptr;
  waits now = waits::no;
  unsigned mask = 0;           ///< the threads of the warp that the thread waits for
  int line = 0;                ///< the line of the last barrier, exchange, fence or atomic function
  std::uint64_t sent = 0;      ///< the value that other threads get
  std::uint64_t received[32];  ///< the values of the threads of the last exchange
  unsigned phase = 0;          ///< the number of exchanges so far, modulo 2
  unsigned phases[32];         ///< the phases of the threads at the last exchange
  char passed[2], fenced;      ///< ThreadSanitizer's marks of what the thread did before an exchange or a fence
};

constexpr std::size_t stack_bytes = 256 << 10;

/// Stacks of the threads of a block. Only pages that are used take memory.
class stacks {
 public:
  explicit stacks(std::size_t threads) : bytes_(threads * stack_bytes) {
    begin_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin_ == MAP_FAILED) throw std::runtime_error("no memory for the stacks of a block's threads");
  }
  ~stacks() { ::munmap(begin_, bytes_); }
  stacks(const stacks&) = delete;
  stacks& operator=(const stacks&) = delete;
  char* of(std::size_t thread) const { return static_cast<char*>(begin_) + thread * stack_bytes; }

 private:
  std::size_t bytes_;
  void* begin_;
};

/// The running block.
struct block {
  std::vector<thread> threads;
  place scheduler;
  void* scheduler_fiber = nullptr;
  void (*call)(void*) = nullptr;  ///< calls the kernel
  void* kernel = nullptr;
  std::exception_ptr failure;
  bool failed = false;            ///< `failure` ends the launch
  std::uint64_t sum_of_sent = 0;  ///< the sum of the values at the last barrier of the block
  unsigned barriers = 0;          ///< the number of barriers of the block so far
  char met[2];                    ///< ThreadSanitizer's marks of the last two barriers
  char begun, past;               ///< marks of what happened before the block, and before the end of a turn

  thread& current() { return threads[threadIdx.x]; }
};
inline block* running = nullptr;

/// Returns when the scheduler resumes the calling thread.
FANIN_EMULATE_UNSEEN inline void give_turn() {
  thread& self = running->current();
  __tsan_release(&running->past);
  __tsan_switch_to_fiber(running->scheduler_fiber, 1);
  go_on(self.stands, running->scheduler);
}

/// Ends the launch with this fault, and does not return. The block's threads never run again.
FANIN_EMULATE_UNSEEN inline void stop(const std::string& text) {
  running->failure = std::make_exception_ptr(fault(text));
  running->failed = true;
  while (true) give_turn();
}

/// Passes values between the threads of the mask. Returns the calling thread, which has received the values.
FANIN_EMULATE_UNSEEN inline const thread& exchange(unsigned mask, std::uint64_t mine, int line) {
  thread& self = running->current();
  const unsigned warp_thread = threadIdx.x % 32, first = threadIdx.x - warp_thread;
  self.line = line;
  if ((mask >> warp_thread & 1) == 0) {
    stop("thread " + std::to_string(threadIdx.x) + " of block " + std::to_string(blockIdx.x) +
         " is not in the mask that it passes at line " + std::to_string(line));
  }
  self.sent = mine;
  self.mask = mask;
  self.now = waits::for_warp;
  __tsan_release(&self.passed[self.phase]);
  give_turn();
  for (unsigned other = 0; other < 32; ++other) {
    if ((mask >> other & 1) != 0) __tsan_acquire(&running->threads[first + other].passed[self.phases[other]]);
  }
  return self;
}

/// All threads of the block meet. Returns the sum of their values.
FANIN_EMULATE_UNSEEN inline std::uint64_t meet(std::uint64_t mine, int line) {
  thread& self = running->current();
  char* const met = &running->met[running->barriers % 2];
  self.line = line;
  self.sent = mine;
  self.now = waits::for_block;
  __tsan_release(met);
  give_turn();
  __tsan_acquire(met);
  return running->sum_of_sent;
}

/// Lets the threads of the block go on if all of them wait for the block, at one line.
FANIN_EMULATE_UNSEEN inline void open_block() {
  std::uint64_t sum = 0;
  for (const thread& one : running->threads) {
    if (one.now != waits::for_block || one.line != running->threads[0].line) return;
    sum += one.sent;
  }
  running->sum_of_sent = sum;
  ++running->barriers;
  for (thread& one : running->threads) one.now = waits::no;
}

/// Lets the threads of the mask of thread `number` go on if all of them wait with this mask, at one line.
FANIN_EMULATE_UNSEEN inline void open_warp(std::size_t number) {
  const thread& asking = running->threads[number];
  if (asking.now != waits::for_warp) return;
  const std::size_t first = number / 32 * 32;
  thread* meeting[32] = {};
  for (std::size_t warp_thread = 0; warp_thread < 32; ++warp_thread) {
    if ((asking.mask >> warp_thread & 1) == 0) continue;
    if (first + warp_thread >= running->threads.size()) return;
    thread& other = running->threads[first + warp_thread];
    if (other.now != waits::for_warp || other.mask != asking.mask || other.line != asking.line) return;
    meeting[warp_thread] = &other;
  }
  for (thread* const to : meeting) {
    if (to == nullptr) continue;
    for (std::size_t warp_thread = 0; warp_thread < 32; ++warp_thread) {
      to->received[warp_thread] = meeting[warp_thread] != nullptr ? meeting[warp_thread]->sent : to->sent;
      to->phases[warp_thread] = meeting[warp_thread] != nullptr ? meeting[warp_thread]->phase : 0;
    }
  }
  for (thread* const one : meeting) {
    if (one != nullptr) one->now = waits::no;
  }
  for (thread* const one : meeting) {
    if (one != nullptr) one->phase ^= 1;
  }
}

/// Threads for a message, as in "thread 5", "threads 0 to 15" or "32 threads (0, 2, 4, ...)". The numbers ascend.
inline std::string names_of(const std::vector<std::size_t>& numbers) {
  const std::size_t first = numbers.front(), last = numbers.back();
  if (numbers.size() == 1) return "thread " + std::to_string(first);
  if (last - first + 1 == numbers.size()) return "threads " + std::to_string(first) + " to " + std::to_string(last);
  std::string text = std::to_string(numbers.size()) + " threads (" + std::to_string(first);
  for (std::size_t i = 1; i < numbers.size() && i < 3; ++i) text += ", " + std::to_string(numbers[i]);
  return text + (numbers.size() > 3 ? ", ...)" : ")");
}

/// Says what the threads of the block do if none of them can go on, as in "threads 0 to 15 wait ... at line 9".
inline std::string who_waits() {
  const auto same = [](const thread& a, const thread& b) {
    return a.now == b.now && (a.now == waits::never || a.line == b.line);
  };
  std::string text;
  const std::vector<thread>& all = running->threads;
  std::vector<bool> is_named(all.size());
  for (std::size_t first = 0; first < all.size(); ++first) {
    if (is_named[first]) continue;
    const thread& one = all[first];
    std::vector<std::size_t> alike;
    for (std::size_t i = first; i < all.size(); ++i) {
      if (!same(all[i], one)) continue;
      alike.push_back(i);
      is_named[i] = true;
    }
    const bool single = alike.size() == 1;
    text += (first > 0 ? ", " : "") + names_of(alike);
    if (one.now == waits::never) {
      text += single ? " has returned" : " have returned";
    } else {
      text += std::string(single ? " waits for " : " wait for ") +
              (one.now == waits::for_block ? "the block" : "threads of the warp") + " at line " +
              std::to_string(one.line);
    }
  }
  return text;
}

FANIN_EMULATE_UNSEEN inline void thread_main() {
  __tsan_acquire(&running->begun);
  try {
    running->call(running->kernel);
  } catch (...) {
    running->failure = std::current_exception();
    running->failed = true;
  }
  running->current().now = waits::never;
  give_turn();
}

/// Runs each thread that can go on, up to its next barrier. Returns whether a thread ran.
FANIN_EMULATE_UNSEEN inline bool run_ready_threads(const std::vector<unsigned>& order) {
  bool ran = false;
  for (const unsigned number : order) {
    thread& one = running->threads[number];
    if (one.now != waits::no) continue;
    ran = true;
    threadIdx.x = number;
    __tsan_switch_to_fiber(one.fiber, 1);
    go_on(running->scheduler, one.stands);
    if (!running->failed) continue;
    __tsan_acquire(&running->past);
    std::rethrow_exception(running->failure);
  }
  return ran;
}

FANIN_EMULATE_UNSEEN inline void run_block(const stacks& memory, const std::vector<unsigned>& order) {
  for (std::size_t i = 0; i < running->threads.size(); ++i) {
    thread& one = running->threads[i];
    one.now = waits::no;
    one.stands.is_begun = false;
    ucontext_t& context = one.stands.context;
    ::getcontext(&context);
    context.uc_stack.ss_sp = memory.of(i);
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    ::makecontext(&context, thread_main, 0);
  }
  __tsan_acquire(&running->past);
  __tsan_release(&running->begun);
  while (run_ready_threads(order)) {
    open_block();
    for (std::size_t i = 0; i < running->threads.size(); ++i) open_warp(i);
  }
  for (const thread& one : running->threads) {
    if (one.now == waits::never) continue;
    const char* const what = one.now == waits::for_block
                                 ? " has a barrier that not all threads reach: "
                                 : " has a warp's barrier or shuffle that not all of its threads reach: ";
    throw fault("block " + std::to_string(blockIdx.x) + what + who_waits());
  }
}

/// The numbers below `count`. For seed 0 they are in ascending order, and for another seed in a random order.
inline std::vector<unsigned> permutation(unsigned count, unsigned seed) {
  std::vector<unsigned> all(count);
  for (unsigned i = 0; i < count; ++i) all[i] = i;
  std::uint64_t state = seed;
  for (unsigned i = count; seed != 0 && i > 1; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's generator
    std::swap(all[i - 1], all[(state >> 33) % i]);
  }
  return all;
}

/// Creates the fibers of a launch and makes it the running launch, until the end of the scope.
class launched {
 public:
  explicit launched(block& of) : block_(of) {
    if (running != nullptr) throw fault("a kernel launches another one, or two threads launch kernels");
    running = &of;
    of.scheduler_fiber = __tsan_get_current_fiber();
    for (thread& one : of.threads) one.fiber = __tsan_create_fiber(0);
  }
  ~launched() {
    __tsan_acquire(&block_.past);
    running = nullptr;
    for (const thread& one : block_.threads) __tsan_destroy_fiber(one.fiber);
  }
  launched(const launched&) = delete;
  launched& operator=(const launched&) = delete;

 private:
  block& block_;
};

/// Runs the blocks of a grid.
FANIN_EMULATE_UNSEEN inline void run_grid(block& state, unsigned blocks, unsigned seed) {
  const auto threads = static_cast<unsigned>(state.threads.size());
  blockDim = {threads, 1, 1};
  gridDim = {blocks, 1, 1};
  const stacks memory(threads);
  const launched now(state);
  const std::vector<unsigned> order = permutation(threads, seed);
  for (const unsigned number : permutation(blocks, seed)) {
    blockIdx.x = number;
    run_block(memory, order);
  }
}

}  // namespace detail
}  // namespace fanin::emulate
