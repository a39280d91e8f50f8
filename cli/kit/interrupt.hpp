// Ctrl-C while something is measured whose results so far are worth keeping.
#pragma once

#include <csignal>

namespace fanin::cli {

/// While it lives, the first SIGINT is noted; a second one ends the process. Leaves an ignored SIGINT ignored.
/// One at a time.
class interrupt_watch {
 public:
  interrupt_watch();
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

  bool seen() const { return *flag() != 0; }
  /// Not 0 once it was seen.
  const volatile std::sig_atomic_t* flag() const;

 private:
  struct sigaction before_ = {};
};

}  // namespace fanin::cli
