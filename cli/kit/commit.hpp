// Which source this is; written by cmake/commit.cmake.
#pragma once

namespace fanin::cli {

extern const char* const source_commit;  ///< "-dirty" at its end if files were changed; empty if nobody knows

}  // namespace fanin::cli
