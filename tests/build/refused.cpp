// SPDX-License-Identifier: Apache-2.0
// Calls that the compiler has to refuse, each by the one sentence behind it, and with no other error.
#include <deque>
#include <list>
#include <ranges>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

void refused(const std::vector<double>& x, std::vector<long double>& wide, double& one, std::vector<bool>& bits) {
  fanin::sum<float>(x);                  //! no method gives a result of this type
  fanin::sum(x, {.how = fanin::exact});  //! options::how is called options::method
  fanin::sum(std::list<double>());       //! these elements do not lie one after another in memory
  fanin::sum(std::deque<double>());      //! these elements do not lie one after another in memory
  fanin::sum(x |
             std::views::transform([](double v) { return v * v; }));  //! these elements do not lie one after another
  fanin::sum(std::list<float>().begin(), std::list<float>().end());   //! these iterators are of elements that do not
  fanin::where(std::list<int>(), std::vector<char>());                //! these elements do not lie one after another
  fanin::describe(std::list<float>());          //! these elements do not lie one after another in memory
  fanin::any(bits);                             //! a std::vector<bool> has packed bits
  fanin::sum(wide);                             //! fanin has no long double
  fanin::sum("12");                             //! text is no numbers
  fanin::sum(std::string("12"));                //! text is no numbers
  fanin::sum(std::vector<std::string>());       //! text is no numbers
  fanin::sum(std::vector<int*>());              //! fanin has no elements of this type
  fanin::sum(1.5);                              //! fanin reduces numbers that lie one after another in memory
  fanin::dot(x, std::vector<float>());          //! dot products are of two arrays of one type
  fanin::sum(fanin::rows(x, {1, 1}, 1), wide);  //! the results of rows, segments and groups are written to
  fanin::mean(fanin::rows(x, {1, 1}, 1), one);  //! the results of rows, segments and groups are written to
  fanin::all(fanin::rows(x, {1, 1}, 1), bits);  //! the results of rows, segments and groups are written to
}
