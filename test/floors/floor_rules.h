// The house plan as rules on text: which folder of lib/ may include which, what public headers may
// show, and how long a file may be. ARCHITECTURE.md has the table and its reasons.

#ifndef WEFT_TEST_FLOORS_FLOOR_RULES_H_
#define WEFT_TEST_FLOORS_FLOOR_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace weft::floors {

inline constexpr int kMaxLines = 500;

struct Violation {
  std::string file;  // Relative to the root of the source tree.
  int line = 0;      // From 1.
  std::string rule;  // A sentence that names what is wrong.
};

// "lib/base/time.h:12: rule".
std::string Describe(const Violation& violation);

// The floor of a folder of lib/, or -1 if the table has no such folder.
int FloorOf(std::string_view folder);

// Checks the `#include` lines of one file of lib/ or include/; `file` is its path from the root of
// the source tree. Lines inside comments count as well, as a commented include is no better than a
// live one.
std::vector<Violation> CheckIncludes(std::string_view file, std::string_view text);

// Checks that one file has at most kMaxLines lines.
std::vector<Violation> CheckLength(std::string_view file, std::string_view text);

// Checks the names of test cases: Catch2 2 and ctest cut a name at ';' and read '[' and '\' as
// something else, and run nothing or something else under what is left of it.
std::vector<Violation> CheckTestNames(std::string_view file, std::string_view text);

// Checks all sources of the tree at `root`. `files_seen`, if not null, receives how many were read.
std::vector<Violation> CheckTree(const std::string& root, int* files_seen);

}  // namespace weft::floors

#endif  // WEFT_TEST_FLOORS_FLOOR_RULES_H_
