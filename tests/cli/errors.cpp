// SPDX-License-Identifier: Apache-2.0
// Tests of errors: the exit status, one line on stderr, nothing on stdout, and no file left behind.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cli/input/npy.hpp"
#include "tests/cli/process.hpp"

namespace fanin::cli {
namespace {

struct mistake {
  std::string command;
  int status;
  std::string message;
};

void check_all(const scratch_folder& here, std::initializer_list<mistake> mistakes) {
  for (const mistake& m : mistakes) {
    CAPTURE(m.command);
    check_failure(here.shell(m.command), m.status, m.message);
  }
}

std::string npy(std::string_view dictionary, std::string_view data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += {static_cast<char>(dictionary.size()), '\0'};
  return file.append(dictionary).append(data);
}

std::string npy_of(std::string_view descr, std::string_view shape, std::size_t data_bytes) {
  return npy("{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + std::string(shape) + "}",
             std::string(data_bytes, '\0'));
}

TEST_SUITE_BEGIN("errors");

TEST_CASE("files that cannot be read") {
  const scratch_folder here;
  here.write("empty.npy", npy_of("<f8", "(0,)", 0));
  check_all(here, {
                      {"$fanin sum missing.npy", 1, "missing.npy: No such file or directory"},
                      {"$fanin sum .", 1, ".: is a directory"},
                      {"$fanin sum - <.", 1, "standard input: is a directory"},
                      {"$fanin sum - <&-", 1, "standard input is closed"},
                      {"$fanin sum \"$(printf 'two\\nlines')\"", 1, "two?lines: No such file"},
                      {"$fanin min empty.npy", 1, "empty.npy: min of an empty array"},
                      {"$fanin max - <empty.npy", 1, "standard input: max of an empty array"},
                      {"$fanin mean empty.npy", 1, "empty.npy: mean of an empty array"},
                      {"$fanin min empty.npy --backend seral", 2, "did you mean 'serial'?"},
                      {"$fanin compare missing.npy", 1, "missing.npy: No such file or directory"},
                  });
}

TEST_CASE("damaged .npy files, mapped and streamed") {
  const scratch_folder here;
  here.write("short.npy", npy_of("<f8", "(3,)", 23));
  here.write("long.npy", npy_of("<f8", "(3,)", 25));
  here.write("header.npy", npy_of("<f8", "(3,)", 0).substr(0, 40));
  here.write("magic.npy", "NUMPY but without the first byte");
  here.write("nothing.npy", "");
  here.write("past.npy", std::string("\x93NUMPY\x01\x00\xff\xff{", 11));
  here.write("overflow.npy", npy_of("<f8", "(4294967296, 4294967296)", 0));
  here.write("big.npy", npy_of(">f8", "(1,)", 8));
  here.write("object.npy", npy_of("|O", "(1,)", 8));
  here.write("complex.npy", npy_of("<c32", "(1,)", 32));
  const mistake mistakes[] = {
      {"short.npy", 1, "truncated"},
      {"long.npy", 1, "after the data that the header describes"},
      {"header.npy", 1, "truncated .npy file: the header claims"},
      {"past.npy", 1, "truncated .npy file: the header claims 65545 bytes and the file ends after 11"},
      {"overflow.npy", 1, "the header describes an array of 2^63 bytes or more"},
      {"big.npy", 1, "big-endian data ('>f8') is not supported"},
      {"object.npy", 1, "arrays of Python objects ('O') cannot be reduced; save it with .astype('float64')"},
      {"complex.npy", 1, "element type '<c32' is not supported"},
      {"magic.npy", 1, "is not a .npy file"},
      {"nothing.npy", 1, "is empty, not a .npy file"},
  };
  for (const mistake& m : mistakes) {
    const std::string& file = m.command;
    CAPTURE(file);
    check_failure(here.fanin("sum " + file), m.status, m.message);
    check_failure(here.fanin("sum - --format npy <" + file), m.status, m.message);
    check_failure(here.shell("cat " + file + " | $fanin sum - --format npy"), m.status, m.message);
    check_failure(here.fanin("compare " + file), m.status, m.message);
  }
}

TEST_CASE("raw data in a pipe") {
  const scratch_folder here;
  here.write("x.bin", std::string(20, '\0'));
  const std::string read = "cat x.bin | $fanin sum - --format raw --type f64 ";
  CHECK(here.shell(read + "--skip 4").out == "0\n");
  CHECK(here.shell(read + "--skip 20").out == "0\n");
  CHECK(here.shell(read + "--count 2").out == "0\n");
  check_failure(here.shell(read + "--skip 21"), 1, "standard input: --skip 21 goes beyond its end");
  check_failure(here.shell(read + "--count 3"), 1, "standard input: truncated: it ends after 2 of 3 elements");
  for (const std::string skip : {"0", "3", "5"}) {
    check_failure(here.shell(read + "--skip " + skip), 1, "standard input: the data end inside an element of f64");
  }
}

TEST_CASE("bad text") {
  const scratch_folder here;
  here.write("word.txt", "1 2\n3 x4\n");
  here.write("empty.txt", "");
  here.write("empty.csv", "");
  here.write("blank.txt", " \n\n");
  for (const char* none : {"empty.txt", "blank.txt", "- </dev/null"}) {
    CHECK(here.fanin(fmt::format("reduce sum,product,count,any {}", none)).out ==
          "sum 0\nproduct 1\ncount 0\nany false\n");
  }
  here.write("table.csv", "day,price\n1,2\n2,oops\n");
  here.write("two.csv", "day,price\n1,2\n");
  check_all(
      here,
      {
          {"$fanin sum word.txt", 1, "word.txt: line 2, byte 3: 'x4' is not a number"},
          {"$fanin sum - <word.txt", 1, "standard input: line 2, byte 3: 'x4' is not a number"},
          {"$fanin min blank.txt", 1, "blank.txt: min of an empty array"},
          {"$fanin sum empty.csv", 1, "empty.csv: the input has no records"},
          {"$fanin sum table.csv --column price", 1, "table.csv: line 3, byte 3: column 'price': 'oops'"},
          {"printf 'a\\n1\\n2' | $fanin sum", 1, "; if line 1 names the column, say --format csv --header\n"},
          {"printf 'a 3\\n1\\n2' | $fanin sum", 1, "'a' is not a number of type f64\n"},
          {"printf 'a\\nb\\n2' | $fanin sum", 1, "'a' is not a number of type f64\n"},
          {"printf '12,34\\n1,234\\n' | $fanin sum --thousands ,", 1,
           "'12,34' is not a number of type f64; after each ',' there have to be three digits\n"},
          {"printf '12,34\\n1,234\\n' | $fanin sum --no-header --thousands ,", 1,
           "no column is all numbers: 1 '12,34'; after each ',' there have to be three digits\n"},
          {"$fanin sum --column price table.csv < table.csv", 2, "FILE stands before --column and --by"},
          {"$fanin sum table.csv --column prize", 2, "no column is called 'prize'; did you mean 'price'?"},
          {"$fanin compare two.csv", 2, "there are several columns of numbers, day, price; choose one with --column"},
          {"$fanin accuracy two.csv", 2,
           "there are several columns of numbers, day, price; choose one with --column"},
          {"printf '# x\\n1\\n' | $fanin sum", 1, "; if '#' begins a comment, say --comment '#'\n"},
          {"printf '1 # x\\n' | $fanin sum", 1, "byte 3: '#' is not a number of type f64\n"},
          {"printf '1\\n#REF!\\n' | $fanin sum", 1, "'#REF!' is not a number of type f64\n"},
          {"printf '1.5+103' | $fanin sum", 1, "; if this number is from Fortran, write an E before its exponent\n"},
          {"printf '5 \\342\\210\\2225' | $fanin sum", 1, "line 1, byte 3: '\\xe2\\x88\\x925' is not a number"},
          {"printf '\\377\\3761\\0' | $fanin sum", 1, "the text is UTF-16"},
          {"printf 'x,y\\na,b\\n' | $fanin sum", 1, "say --delimiter ',' or --format csv"},
          {"$fanin sum word.txt --decimal ';'", 2, "--decimal is a comma or a point, not ';'"},
          {"$fanin sum word.txt --thousands 0", 2,
           "--thousands is one character that is neither a digit, a sign nor a quote, not '0'"},
          {"$fanin sum word.txt --thousands .", 2,
           "--thousands and the decimal character are both '.'; if the comma"},
          {"$fanin sum word.txt --thousands ' '", 2, "--thousands is a character that also separates the numbers"},
          {"$fanin sum word.txt --delimiter , --decimal ,", 2,
           "--decimal is a character that also separates the numbers"},
          {"$fanin sum word.txt --comment 1", 2, "--comment is one character that no number can begin with, not '1'"},
          {"$fanin sum word.txt --comment n", 2,
           "--comment 'n' could begin a number or separate fields; choose another character, such as '#'"},
          {"$fanin sum word.txt --comment .", 2, "--comment '.' could begin"},
          {"$fanin sum word.txt --comment ,", 2, "--comment ',' could begin"},
          {"echo 1.5 2 | $fanin product --method exact", 2, "there is no exact product of f64"},
          {"echo 1.5 2 | $fanin reduce sum,product --method exact", 2, "there is no exact product of f64"},
          {"$fanin sum word.txt --missing error --missing-words -", 2, "--missing error skips none"},
          {"$fanin argmax word.txt --missing-words -", 2, "argmax gives the position of a record"},
          {"$fanin sum word.txt --format raw --type u8 --comment '#'", 2, "--comment is for text or csv input"},
          {"$fanin sum table.csv --column 3 --header", 1, "--column asks for field 3"},
          {"$fanin sum table.csv --column 0", 2, "there is no column 0; --column counts from 1"},
          {"$fanin sum word.txt --delimiter ab", 2, "--delimiter is one character"},
          {"echo 9223372036854775807 1 | $fanin sum - --type i64", 1, "standard input: the sum does not fit"},
          {"echo 18446744073709551615 1 >big.txt; $fanin compare big.txt --type u64", 1, "big.txt: the sum"},
          {"printf '1 \\303\\274\\033[2J' | $fanin sum - --format text", 1, "'\\xc3\\xbc\\x1b[2J' is not a number"},
          {"{ echo 1; yes 7 | tr -d '\\n'; } | $fanin sum", 1, "line 2, byte 1: the word has more than 4096 bytes"},
          {"printf '\\377price\\n1\\n' >odd.csv; $fanin sum odd.csv --column price", 2, "mean '\\xffprice'?"},
      });
}

TEST_CASE("formats that fanin does not read name themselves and what converts them") {
  const scratch_folder here;
  const std::string_view hdf5("\x89HDF\r\n\x1a\n\0", 9), zip("PK\x03\x04\x14\0", 6), arrow("ARROW1\0\0", 8);
  here.write("x.h5", hdf5);
  here.write("x.npz", zip);
  here.write("x.arrow", arrow);
  here.write("x.db", "SQLite format 3");
  here.write("x.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
  here.write("x.parquet", "PAR1\x15\x04");
  here.write("x.xz", std::string_view("\xfd"
                                      "7zXZ\0\0\4",
                                      8));
  here.write("x.feather", "FEA1\0\0\0\0");
  check_all(here, {
                      {"$fanin sum - --type f32 --skip 4 <x.xz", 1, "if it is something else, say --format"},
                      {"gzip -k x.h5; $fanin sum x.h5.gz", 1, "x.h5.gz: this looks like an HDF5 file"},
                      {"$fanin sum x.xz", 1, "this looks like xz data"},
                      {"seq 3 | bzip2 >x.bz2; $fanin sum x.bz2", 1, "'bzip2 -dc' unpacks it"},
                      {"$fanin sum x.feather", 1, "this looks like a Feather file"},
                      {"$fanin sum x.db", 1, "x.db: this looks like an SQLite database"},
                      {"$fanin sum x.xls", 1, "x.xls: this looks like an Excel workbook (.xls)"},
                      {"$fanin sum x.npz", 1, "x.npz: damaged zip archive: "},
                      {"cat x.npz | $fanin sum", 1, "standard input: fanin reads a zip archive from a file"},
                      {"gzip -k x.npz; $fanin sum x.npz.gz", 1, "not from a pipe or from compressed data"},
                      {"$fanin sum x.xz --member a", 2, "x.xz: --member is for .npz and .zip input"},
                      {"$fanin sum x.parquet", 1, "this looks like a Parquet file"},
                      {"$fanin sum x.h5", 1, "'h5dump -d DATASET -b LE -o x.bin' writes raw data"},
                      {"$fanin sum x.arrow", 1, "this looks like an Arrow file"},
                  });
  here.write("x.csv", "PAR1\n2\n");
  CHECK(here.fanin("sum x.csv --column PAR1 --format csv").out == "2\n");
  here.write("x.raw", std::string("PAR1\0\0\0\0", 8));
  CHECK(here.fanin("sum x.raw --type i32 --format raw").out == "827474256\n");
}

TEST_CASE("bad raw files") {
  const scratch_folder here;
  here.write("x.bin", std::string(20, '\0'));
  check_all(here, {
                      {"$fanin sum x.bin --type f64", 1, "20 bytes are not a whole number of f64 elements"},
                      {"$fanin sum - --type f64 --format raw <x.bin", 1, "the data end inside an element of f64"},
                      {"$fanin sum x.bin --type f32 --count 6", 1, "--count 6 asks for more than its 5 elements"},
                      {"$fanin sum - --type f32 --count 6 <x.bin", 1, "truncated"},
                      {"$fanin sum x.bin --type f32 --skip 24", 1, "--skip 24 goes beyond its"},
                      {"$fanin sum - --type f32 --skip 24 <x.bin", 1, "--skip 24 goes beyond its"},
                      {"$fanin sum x.bin --format raw", 2, "raw input needs --type"},
                      {"$fanin sum x.bin", 2, "raw input needs --type"},
                      {"$fanin sum - --type f64 <x.bin", 1,
                       "standard input: does not look like numbers in text (byte 1 is 0x00)"},
                      {"printf '1 2 \\377' | $fanin sum -", 1, "(byte 5 is 0xff); if it is binary, say --format raw"},
                      {"cp x.bin x.dat && $fanin sum x.dat --type f32", 1, "say --format raw and --type"},
                      {"$fanin sum x.bin --type f32 --column 2 --format raw", 2, "--column is for csv input"},
                  });
}

TEST_CASE("bad usage") {
  const scratch_folder here;
  here.write("x.npy", npy_of("<f8", "(1,)", 8));
  check_all(
      here,
      {
          {"$fanin", 2, "a subcommand is needed"},
          {"$fanin summ x.npy", 2, "unknown subcommand 'summ'; did you mean 'sum'?"},
          {"$fanin std x.npy", 2, "unknown subcommand 'std'; did you mean 'standard_deviation'?"},
          {"$fanin stddev x.npy", 2, "did you mean 'standard_deviation'?"},
          {"$fanin avg x.npy", 2, "did you mean 'mean'?"},
          {"$fanin var x.npy", 2, "did you mean 'variance'?"},
          {"$fanin mean_square x.npy", 2, "did you mean 'sum_of_squares'?"},
          {"$fanin reduce min,avg x.npy", 2, "unknown operation 'avg'; did you mean 'mean'?"},
          {"$fanin sum x.csv --group-by day", 2, "unknown option '--group-by'; did you mean '--by'?"},
          {"$fanin sum x.csv --group day", 2, "unknown option '--group'; did you mean '--by'?"},
          {"$fanin sum x.csv --skipna", 2, "unknown option '--skipna'; did you mean '--nan'?"},
          {"$fanin sum x.csv --out y", 2, "unknown option '--out'; did you mean '--output'?"},
          {"$fanin sum x.csv --col price", 2, "unknown option '--col'; did you mean '--column'?"},
          {"$fanin sum x.csv -c price", 2, "unknown option '-c'; did you mean '--column'?"},
          {"$fanin describe x.csv --by day", 2, "'fanin reduce count,min,max,sum,mean,standard_deviation FILE"},
          {"$fanin describe x.csv --nan skip", 2, "describe always leaves NaN out, and counts them"},
          {"$fanin sum x.csv --where 'a>2'", 2, "unknown option '--where'; fanin reads every record"},
          {"$fanin sum x.csv --digits=3", 2, "'--digits=3'; fanin prints the digits that identify the number"},
          {"$fanin x.npy", 2, "unknown subcommand 'x.npy'; a subcommand comes before the file"},
          {"$fanin reduce sum mean x.npy", 2,
           "only one subcommand can be given, not reduce and mean; 'fanin reduce sum,mean FILE'"},
          {"$fanin sum price x.npy", 1, "price: No such file or directory; if it is a column, say --column price"},
          {"$fanin sum", 2, "FILE is missing, and standard input is neither a pipe nor a file"},
          {"$fanin dot", 2, "FILE is missing"},
          {"$fanin compare x.npy y.npy", 2, "unexpected argument 'y.npy'"},
          {"$fanin sum x.npy --metod exact", 2, "unknown option '--metod'; did you mean '--method'?"},
          {"$fanin sum x.npy --method exat", 2, "unknown method 'exat'; did you mean 'exact'?"},
          {"$fanin compare --count 3", 2, "options about the input, such as --column, need FILE"},
          {"$fanin sum x.npy --type f65", 2, "unknown element type 'f65'; did you mean 'f64'?"},
          {"$fanin sum x.npy --type f32", 2, "holds f64, and --type says f32"},
          {"$fanin sum x.npy --format npyy", 2, "unknown format 'npyy'; did you mean 'npy'?"},
          {"$fanin sum x.npy --result f33", 2, "unknown result type 'f33'; did you mean 'f32'?"},
          {"$fanin sum x.npy --skip 8", 2, "--skip is for raw input"},
          {"$fanin sum x.npy --threads 0", 2, "--threads is a whole number of at least 1, not '0'"},
          {"$fanin sum x.npy --threads -1", 2, "--threads is a whole number of at least 1, not '-1'"},
          {"$fanin sum x.npy --threads 4294967296", 2, "--threads: 4294967296 is too large"},
          {"$fanin sum x.npy --devices -1", 2, "--devices is a whole number of at least 0, not '-1'"},
          {"$fanin sum x.npy --devices 0,", 2, "--devices is a whole number of at least 0, not ''"},
          {"$fanin sum x.npy --devices 0 --backend serial", 2,
           "serial has no devices: leave out the option `devices`"},
          {"$fanin sum x.bin --count -1", 2, "--count is a whole number of at least 0, not '-1'"},
          {"$fanin sum x.bin --skip -4", 2, "--skip is a whole number of at least 0, not '-4'"},
          {"$fanin sum x.bin --skip 4k", 2, "--skip is a whole number of at least 0, not '4k'"},
          {"$fanin sum x.bin --count 18446744073709551616", 2, "18446744073709551616 is too large"},
          {"$fanin generate uniform --output y.npy --count -3", 2,
           "--count is a whole number of at least 0, not '-3'"},
          {"$fanin generate uniform --output y.npy --count 2^64", 2, "--count: 2^64 is too large"},
          {"$fanin generate uniform --output y.npy --count 1e", 2,
           "--count is a whole number of at least 0, not '1e'"},
          {"$fanin generate uniform --output y.npy --count 1e-3", 2,
           "--count is a whole number of at least 0, not '1e-3'"},
          {"$fanin sum x.npy --threads 2^32", 2, "--threads: 2^32 is too large"},
          {"$fanin sum x.npy --threads 0e9", 2, "--threads is a whole number of at least 1, not '0e9'"},
          {"$fanin generate uniform --output y.npy --seed -1", 2, "--seed is a whole number of at least 0, not '-1'"},
          {"$fanin accuracy --count -3", 2, "--count is a whole number of at least 0, not '-3'"},
          {"$fanin compare x.npy --threads 0", 2, "--threads is a whole number of at least 1, not '0'"},
          {"$fanin sum x.npy --backend seral", 2, "unknown backend 'seral'; did you mean 'serial'?"},
          {"$fanin sum x.npy --backend serial,tbbb", 2, "unknown backend 'tbbb'; did you mean 'tbb'?"},
          {"$fanin sum x.npy --backend serial,auto", 2, "'auto' cannot be in a list of backends"},
          {"$fanin sum x.npy --backend serial,", 2, "the list of backends has an empty name"},
          {"$fanin sum - --backend seral", 2, "did you mean 'serial'?"},
          {"FANIN_BACKEND=seral $fanin sum x.npy", 2, "did you mean 'serial'?"},
          {"$fanin sum x.npy --backend serial --variant kahn", 2, "did you mean 'kahan'?"},
          {"$fanin product x.npy --method exact", 2, "exact"},
          {"$fanin generate unifrom --output y.npy", 2, "did you mean 'uniform'?"},
          {"$fanin generate uniform:3 --output y.npy", 2, "'uniform' takes no number"},
          {"$fanin generate condition:x --output y.npy", 2, "'condition:x': 'x' is not a number"},
          {"$fanin generate constant:1e39 --type f32 --output y.npy", 2,
           "'constant:1e39': the number has to lie between -1e+30 and 1e+30"},
          {"$fanin generate uniform --type i33 --output y.npy", 2, "unknown element type 'i33'"},
          {"$fanin accuracy unifrom", 2, "did you mean 'uniform'?"},
          {"$fanin completion bas", 2, "unknown shell 'bas'; there are bash, zsh, fish"},
          {"test -e y.npy && $fanin sum y.npy || $fanin", 2, "a subcommand is needed"},
      });
}

TEST_CASE("a backend that is not usable") {
  const scratch_folder here;
  here.write("x.npy", npy_of("<f8", "(1,)", 8));
  if (here.fanin("backends --json").out.find("\"usable\": false") == std::string::npos) return;
  const std::string unusable = here.shell("$fanin backends | awk '$3 == \"no\" {print $1; exit}'").out;
  const std::string name = unusable.substr(0, unusable.find('\n'));
  check_failure(here.fanin("sum x.npy --backend " + name), 5, "'" + name + "' is not usable here");
  check_failure(here.fanin("sum - --backend " + name + " <x.npy"), 5, "'" + name + "' is not usable here");
  check_failure(here.shell("FANIN_BACKEND=" + name + " $fanin sum x.npy"), 5, "'" + name + "' is not usable here");
  CHECK(here.fanin("sum x.npy --backend " + name + ",serial").out == "0\n");
  check_failure(here.fanin("compare x.npy --backend " + name), 5, name + ": ");
}

TEST_CASE("stdout that takes nothing") {
  const scratch_folder here;
  here.write("x.npy", npy_of("<f8", "(1,)", 8));
  for (const std::string arguments :
       {"sum x.npy", "sum x.npy --json", "backends", "--help", "--version", "manpage"}) {
    CAPTURE(arguments);
    check_failure(here.fanin(arguments + " >/dev/full"), 1, "standard output: No space left on device");
    check_failure(here.fanin(arguments + " >&-"), 1, "standard output: is closed");
  }
  const finished run = here.shell("{ $fanin manpage; echo $? >status; } | true");
  CHECK(run.err.empty());
}

TEST_CASE("threads that cannot be started are done without" * doctest::skip(!memory_can_be_limited)) {
  const scratch_folder here;
  REQUIRE(here.fanin("generate uniform --count 3000000 --output x.npy").status == 0);
  const std::string expected = here.fanin("sum x.npy --method exact --backend serial").out;
  for (const std::string backend : {"openmp", "tbb"}) {
    CAPTURE(backend);
    const finished listed = here.shell("$fanin backends | awk '$1 == \"" + backend + "\" {print $3}'");
    if (listed.out != "yes\n") continue;
    const finished run =
        here.shell("ulimit -v 600000; $fanin sum x.npy --method exact --threads 200 --backend " + backend);
    CHECK(run.status == 0);
    CHECK(run.out == expected);
  }
}

TEST_CASE("generate leaves nothing half done") {
  const scratch_folder here;
  check_failure(here.fanin("generate uniform --output no/such/place.npy"), 1, "No such file or directory");
  check_failure(here.fanin("generate uniform --output /dev/full"), 1, "/dev/full: No space left on device");
  check_failure(here.shell("ulimit -f 1; trap '' XFSZ; $fanin generate uniform --count 10000 --output x.npy"), 1,
                "x.npy: File too large");
  const finished killed = here.shell(
      "$fanin generate uniform --count 10000000 --output x.npy & child=$!\n"
      "until ls x.npy.* 2>/dev/null; do kill -0 $child || break; done\n"
      "kill -TERM $child; wait $child; echo $?");
  CHECK(killed.out.ends_with("143\n"));
  CHECK(here.shell("ls -A").out.empty());
}

TEST_CASE("a file cut short while it is read") {
  const scratch_folder here;
  // A sparse file takes no space but long to read. It is truncated as soon as it is mapped.
  const finished run = here.shell(
      "truncate -s 64G x.bin\n"
      "$fanin sum x.bin --type f64 --method exact --save-state state & child=$!\n"
      "until grep -q x.bin /proc/$child/maps; do kill -0 $child || break; done\n"
      "truncate -s 4096 x.bin\n"
      "wait $child");
  check_failure(run, 1, "fanin: x.bin: the file was cut short while it was read");
  CHECK(here.shell("ls").out == "x.bin\n");
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::cli
