// SPDX-License-Identifier: Apache-2.0
// The faults that a check found. Checks return faults instead of failing a test, so checks can be tried on broken
// backends.
#pragma once

#include <stdexcept>
#include <string>

namespace fanin::test {

class findings {
 public:
  /// Thrown once there are enough findings to know.
  struct enough {};

  /// Keeps `describe()`, a std::string, unless `holds`. @throws enough
  template <class Describe>
  void expect(bool holds, Describe describe) {
    if (holds) return;
    text_ += describe() + "\n";
    if (++count_ == most) throw enough{};
  }
  bool empty() const { return count_ == 0; }
  const std::string& text() const { return text_; }

 private:
  static constexpr int most = 5;
  std::string text_;
  int count_ = 0;
};

/// Whether `call()` throws an Error and nothing else.
template <class Error, class Call>
bool throws(Call call) {
  try {
    call();
  } catch (const Error&) {
    return true;
  } catch (const std::exception&) {
  }
  return false;
}

}  // namespace fanin::test
