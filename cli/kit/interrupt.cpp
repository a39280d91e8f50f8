// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/interrupt.hpp"

namespace fanin::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interrupt(int) { interrupted = 1; }

}  // namespace

interrupt_watch::interrupt_watch() {
  interrupted = 0;
  struct sigaction noting = {};
  noting.sa_handler = note_interrupt;
  noting.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler != SIG_IGN) ::sigaction(SIGINT, &noting, nullptr);
}

interrupt_watch::~interrupt_watch() { ::sigaction(SIGINT, &before_, nullptr); }

const volatile std::sig_atomic_t* interrupt_watch::flag() const { return &interrupted; }

}  // namespace fanin::cli
