// The lab in a build without CUDA: the backend's own refusal.
#include <fanin/fanin.hpp>

#include "cli/lab/lab.hpp"

namespace fanin::cli {

lab_page run_experiment(experiment which, int) {
  const plan refused(operation::sum, element_type::f32, {.backend = "cuda"});
  return {which, {}, {}};
}

}  // namespace fanin::cli
