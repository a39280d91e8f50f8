// The fastest that this machine can read the same bytes: what every reduction is compared with.
#pragma once

#include <cstddef>
#include <memory>

#include "measure/rotation.hpp"
#include "measure/timing.hpp"

namespace fanin::measure {

/// The instruction set that is chosen here, for these reads and for the library's sums.
struct simd_path {
  const char* name;
  std::size_t vector_bytes;
};
simd_path simd_in_use();

/// Reads data once on the calling thread, with the widest loads of this machine and one OR for each, which no
/// reduction can undercut. Returns something that depends on every byte.
unsigned long long read_alone(const void* data, std::size_t bytes);

/// The same on several threads, which wait between calls so that starting them is not measured.
class reader {
 public:
  explicit reader(unsigned threads);
  ~reader();
  unsigned long long read(const void* data, std::size_t bytes);

 private:
  struct crew;
  std::unique_ptr<crew> crew_;
};

/// Median time of reading the input once, in seconds: the better of one thread and of `threads`, since for short
/// input waking the others does not pay. `limit` holds for each of the two.
double read_seconds(const rotation& input, unsigned threads, const stopping_rule& limit);

}  // namespace fanin::measure
