// SPDX-License-Identifier: Apache-2.0
// The read ceiling: the shortest time in which this machine can read given bytes. Reductions are compared with it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <fanin/backend.hpp>

#include "measure/rotation.hpp"
#include "measure/timing.hpp"

namespace fanin::measure {

/// The instruction set that Highway's dynamic dispatch chooses on this machine, here and in the library.
struct simd_path {
  const char* name;
  std::size_t vector_bytes;
};
simd_path simd_in_use();

/// Reads `data` once on the calling thread, with the widest loads of this machine and one OR per load; no reduction
/// does less work. Returns a value that depends on every byte, so that the compiler keeps every load.
unsigned long long read_alone(const void* data, std::size_t bytes);

/// A reader does what read_alone() does, on several threads. The threads wait between calls, so that the time of a
/// call does not contain their start.
class reader {
 public:
  explicit reader(unsigned threads);
  ~reader();
  unsigned long long read(const void* data, std::size_t bytes);

 private:
  struct crew;
  std::unique_ptr<crew> crew_;
};

/// A call's times, and the read ceiling of its input.
struct timed_beside_reads {
  timing call;
  double ceiling_seconds;
};

/// Times the calls of `call` in turn with reads of `input` by the rules of time_in_turn(). The reads are by `threads`
/// threads, or by one if that is faster in a short trial, as for short inputs. The ceiling is their median.
/// The reads use the threads of `by`, as the calls do, or if `by` is no CPU backend, the threads of the first CPU
/// backend. Threads of another runtime would spin on the cores during the reads.
timed_beside_reads time_beside_reads(const std::function<void(std::size_t)>& call, const backend& by,
                                     const rotation& input, unsigned threads, const stopping_rule& limit);

/// Whether a share of the read ceiling is above 1 by more than the noise of both times: then the ceiling was measured
/// too low.
inline bool exceeds_ceiling(double share) { return share > 1.05; }

}  // namespace fanin::measure
