#include "registry/watched_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace weft::inline v0::registry {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using testing::TempDir;

// What one look gives; fails where it is an error.
std::optional<std::string> Content(WatchedFile& file) {
  absl::StatusOr<std::optional<std::string>> content = file.Look();
  INFO(content.status().ToString());
  REQUIRE(content.ok());
  return *content;
}

absl::Status Error(WatchedFile& file) {
  const absl::Status status = file.Look().status();
  REQUIRE_FALSE(status.ok());
  CHECK_THAT(std::string(status.message()), StartsWith(file.path() + ": "));
  return status;
}

TEST_CASE("a file is read when it is another one", "[watched_file]") {
  const TempDir dir;
  dir.Write("f", "one");
  WatchedFile file(dir.File("f"), 100);
  CHECK(Content(file) == "one");
  CHECK(Content(file) == std::nullopt);
  CHECK(Content(file) == std::nullopt);

  dir.Replace("f", "two");  // the same length
  CHECK(Content(file) == "two");
  CHECK(Content(file) == std::nullopt);

  dir.Write("f", "three");
  CHECK(Content(file) == "three");
  dir.Write("f", "");
  CHECK(Content(file) == "");
  CHECK(Content(file) == std::nullopt);
}

TEST_CASE("a link that is turned to another file", "[watched_file]") {
  const TempDir dir;
  dir.Write("a", "one");
  dir.Write("b", "two");
  std::filesystem::create_symlink("a", dir.File("f"));
  WatchedFile file(dir.File("f"), 100);
  CHECK(Content(file) == "one");
  std::filesystem::create_symlink("b", dir.File("new"));
  std::filesystem::rename(dir.File("new"), dir.File("f"));
  CHECK(Content(file) == "two");
}

TEST_CASE("a file that goes and comes back", "[watched_file]") {
  const TempDir dir;
  WatchedFile file(dir.File("f"), 100);
  CHECK(Error(file).code() == absl::StatusCode::kNotFound);
  CHECK(Error(file).code() == absl::StatusCode::kNotFound);
  dir.Write("f", "one");
  CHECK(Content(file) == "one");
  std::filesystem::rename(dir.path(), dir.path() + ".away");
  CHECK(Error(file).code() == absl::StatusCode::kNotFound);
  std::filesystem::rename(dir.path() + ".away", dir.path());
  // The very same file: given again, for there was an error between.
  CHECK(Content(file) == "one");
}

TEST_CASE("news are a content or error that is not that of the look before", "[watched_file]") {
  const TempDir dir;
  WatchedFile file(dir.File("f"), 3);
  REQUIRE(file.News().has_value());
  CHECK(file.News() == std::nullopt);
  CHECK(absl::IsNotFound(file.status()));

  dir.Write("f", "long");
  const auto too_long = file.News();
  REQUIRE(too_long.has_value());
  CHECK(absl::IsInvalidArgument(too_long->status()));
  CHECK(file.News() == std::nullopt);
  CHECK(absl::IsInvalidArgument(file.status()));

  dir.Write("f", "one");
  const auto content = file.News();
  REQUIRE((content.has_value() && content->ok()));
  CHECK(**content == "one");
  CHECK(file.News() == std::nullopt);
  CHECK(file.status().ok());

  dir.Remove("f");
  CHECK(file.News().has_value());  // the first error was another time's
}

TEST_CASE("what is no file", "[watched_file]") {
  const TempDir dir;
  SECTION("a directory") {
    WatchedFile file(dir.path(), 100);
    CHECK_THAT(std::string(Error(file).message()), ContainsSubstring("is not a file"));
  }
  SECTION("a pipe does not block") {
    REQUIRE(mkfifo(dir.File("p").c_str(), 0600) == 0);
    WatchedFile file(dir.File("p"), 100);
    CHECK_THAT(std::string(Error(file).message()), ContainsSubstring("is not a file"));
  }
  SECTION("a device without end") {
    WatchedFile file("/dev/zero", 100);
    CHECK_THAT(std::string(Error(file).message()), ContainsSubstring("is not a file"));
  }
  SECTION("a path with a file in the middle") {
    dir.Write("f", "");
    WatchedFile file(dir.File("f/g"), 100);
    CHECK_FALSE(Error(file).ok());
  }
}

TEST_CASE("the limit of length", "[watched_file]") {
  const TempDir dir;
  WatchedFile file(dir.File("f"), 100);
  dir.Write("f", std::string(100, 'x'));
  CHECK(Content(file) == std::string(100, 'x'));
  dir.Write("f", std::string(101, 'x'));
  CHECK_THAT(std::string(Error(file).message()), ContainsSubstring("is longer than"));
  dir.Write("f", "y");
  CHECK(Content(file) == "y");
}

TEST_CASE("a file of the kernel that has no size", "[watched_file]") {
  WatchedFile file("/proc/self/status", 1 << 20);
  const std::optional<std::string> content = Content(file);
  REQUIRE(content.has_value());
  CHECK_THAT(*content, StartsWith("Name:") && ContainsSubstring("nonvoluntary_ctxt_switches"));
}

TEST_CASE("a file that is made readable", "[watched_file]") {
  if (geteuid() == 0) WEFT_SKIP("root may read everything");
  const TempDir dir;
  dir.Write("f", "one");
  REQUIRE(chmod(dir.File("f").c_str(), 0) == 0);
  WatchedFile file(dir.File("f"), 100);
  CHECK(Error(file).code() == absl::StatusCode::kPermissionDenied);
  REQUIRE(chmod(dir.File("f").c_str(), 0600) == 0);
  CHECK(Content(file) == "one");
}

}  // namespace
}  // namespace weft::inline v0::registry
