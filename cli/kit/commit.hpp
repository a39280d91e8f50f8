// SPDX-License-Identifier: Apache-2.0
// The commit of the source; cmake/commit.cmake writes its definition.
#pragma once

namespace fanin::cli {

extern const char* const source_commit;  ///< ends with "-dirty" if files were changed; empty if it is unknown

}  // namespace fanin::cli
