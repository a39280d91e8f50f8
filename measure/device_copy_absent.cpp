// device_copy in a build without CUDA: there is none to be had.
#include "measure/device_copy.hpp"

#include <fanin/error.hpp>

namespace fanin::measure {

struct device_copy::parts {};

device_copy::device_copy(const array_view&) { throw backend_unavailable("this build was configured without CUDA"); }
device_copy::~device_copy() = default;
array_view device_copy::next() noexcept { return {}; }
double device_copy::read_seconds() const { return 0; }

std::string device_name() { throw backend_unavailable("this build was configured without CUDA"); }

}  // namespace fanin::measure
