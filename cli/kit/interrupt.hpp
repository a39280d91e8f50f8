// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during a measurement. The results so far are still printed.
#pragma once

#include <csignal>

namespace fanin::cli {

/// While an interrupt_watch exists, the first SIGINT sets a flag and the second ends the process. An ignored SIGINT
/// stays ignored. Only one interrupt_watch may exist at a time.
class interrupt_watch {
 public:
  interrupt_watch();
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

  bool seen() const { return *flag() != 0; }
  /// *flag() is not 0 after a SIGINT.
  const volatile std::sig_atomic_t* flag() const;

 private:
  struct sigaction before_ = {};
};

}  // namespace fanin::cli
