// SPDX-License-Identifier: Apache-2.0
// The whole command, for main().
#pragma once

namespace fanin::cli {

/// Runs the command line and returns the exit status. An error is one line on stderr.
int run(int argc, char** argv);

}  // namespace fanin::cli
