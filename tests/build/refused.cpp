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
  fanin::sum(std::list<float>().begin(), std::list<float>().end());   //! the elements of these iterators do not
  fanin::where(std::list<int>(), std::vector<char>());                //! these elements do not lie one after another
  fanin::describe(std::list<float>());             //! these elements do not lie one after another in memory
  fanin::any(bits);                                //! a std::vector<bool> has packed bits
  fanin::sum(wide);                                //! fanin has no long double
  fanin::sum("12");                                //! text is not numbers
  fanin::sum(std::string("12"));                   //! text is not numbers
  fanin::sum(std::vector<std::string>());          //! text is not numbers
  fanin::sum(std::vector<int*>());                 //! fanin has no elements of this type
  fanin::sum(1.5);                                 //! fanin reduces numbers that lie one after another in memory
  fanin::dot(x, std::vector<float>());             //! the two inputs have different types
  fanin::sum(fanin::rows(x, {1, 1}, 1), wide);     //! the results of rows, segments and groups are written to
  fanin::mean(fanin::rows(x, {1, 1}, 1), one);     //! the results of rows, segments and groups are written to
  fanin::all(fanin::rows(x, {1, 1}, 1), bits);     //! the results of rows, segments and groups are written to
  fanin::mean(fanin::rows(x, {1, 1}, 1));          //! have many results: pass the
  fanin::sum(x.begin(), x.end(), 0.0);             //! no initial value, function, axis or
  fanin::dot(x.begin(), x.end(), x.begin(), 0.0);  //! no initial value, function, axis or
  fanin::max(1.0, 2.0);                            //! no initial value, function, axis or
  fanin::all(x, 0);                                //! no initial value, function, axis or
  fanin::any(x, "serial");                         //! no initial value, function, axis or
  fanin::vdot(x, x, x);                            //! no initial value, function, axis or
  fanin::min();                                    //! no initial value, function, axis or
  fanin::describe(x, 0);                           //! no initial value, function, axis or
  fanin::dot(std::list<double>().begin(), std::list<double>().end(), x.begin());  //! the elements of these iterators
  fanin::sum(std::list<int>().begin(), 1);                                        //! the elements of these iterators
  fanin::describe(std::list<long>().begin(), std::list<long>().end());            //! the elements of these iterators
  fanin::where(x, bits);                                                          //! this is not a mask
  fanin::where(std::vector<int>(), [](double v) { return v > 0; });               //! this is not a mask
  const double best = fanin::argmax(x).index;    //! the parts of a result's value come after .value
  const auto place = fanin::argmin({2}).index;   //! the parts of a result's value come after .value
  const double least = fanin::minmax({2u}).min;  //! the parts of a result's value come after .value
  const float mean = fanin::describe(x).mean;    //! the parts of a result's value come after .value
}
