// The ladder in a build without CUDA: the backend's own refusal.
#include <fanin/fanin.hpp>

#include "cli/ladder/ladder.hpp"

namespace fanin::cli {

ladder climb(const ladder_question& asked) {
  const plan refused(asked.what, asked.type, {.backend = "cuda"});
  return {};
}

}  // namespace fanin::cli
