// SPDX-License-Identifier: Apache-2.0
// Compiled by tests, each with one of these macros: the compiler has to refuse it, and say what to do.
#include <list>
#include <vector>

#include <fanin/fanin.hpp>

int main() {
#if defined(NARROW_RESULT)
  return static_cast<int>(fanin::sum<float>(std::vector<double>{1}).value);
#elif defined(CHARACTERS)
  return static_cast<int>(fanin::sum(std::vector<char>{'1'}).value);
#elif defined(LINKED_LIST)
  return static_cast<int>(fanin::sum(std::list<double>{1}).value);
#elif defined(DOT_OF_INTEGERS)
  return static_cast<int>(fanin::dot(std::vector<int>{1}, std::vector<int>{1}).value);
#elif defined(UNUSED_RESULT)
  fanin::sum(std::vector<double>{1});
#endif
}
