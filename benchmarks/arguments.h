// The arguments of a benchmark: --name=value.
#ifndef WEFT_BENCHMARKS_ARGUMENTS_H_
#define WEFT_BENCHMARKS_ARGUMENTS_H_

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

namespace weft::bench {

class Arguments {
 public:
  // `values`: all that there are, with their defaults. Ends the program where one is unknown.
  Arguments(int argc, char** argv, std::map<std::string, std::string> values)
      : values_(std::move(values)) {
    for (int i = 1; i < argc; ++i) {
      const std::string arg = argv[i];
      const size_t equals = arg.find('=');
      if (arg.rfind("--", 0) != 0 || equals == std::string::npos ||
          values_.count(arg.substr(2, equals - 2)) == 0) {
        std::fprintf(stderr, "unknown argument %s; see the top of the source\n", arg.c_str());
        std::exit(2);
      }
      values_[arg.substr(2, equals - 2)] = arg.substr(equals + 1);
    }
  }
  const std::string& Text(const char* name) const { return values_.at(name); }
  int Int(const char* name) const { return std::atoi(Text(name).c_str()); }
  double Real(const char* name) const { return std::atof(Text(name).c_str()); }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace weft::bench

#endif  // WEFT_BENCHMARKS_ARGUMENTS_H_
