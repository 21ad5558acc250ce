// TempDir: a directory of files that goes with the test.
#ifndef WEFT_TEST_SUPPORT_TEMP_DIR_H_
#define WEFT_TEST_SUPPORT_TEMP_DIR_H_

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "support/catch.h"

namespace weft::inline v0::testing {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string File(std::string_view name) const { return path_ + "/" + std::string(name); }
  // In place.
  void Write(std::string_view name, std::string_view content) const {
    std::ofstream out(File(name), std::ios::binary | std::ios::trunc);
    out << content;
    out.close();
    REQUIRE(out);
  }
  // As a careful writer does it.
  void Replace(std::string_view name, std::string_view content) const {
    Write("new", content);
    REQUIRE(std::rename(File("new").c_str(), File(name).c_str()) == 0);
  }
  void Remove(std::string_view name) const { std::filesystem::remove(File(name)); }

 private:
  std::string path_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_TEMP_DIR_H_
