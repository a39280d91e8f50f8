#include <fanin/version.hpp>

namespace fanin {

const char* version() noexcept { return FANIN_VERSION; }

}  // namespace fanin
