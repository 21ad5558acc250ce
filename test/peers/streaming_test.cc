// Streams of 50 MB through a server that sends back what it gets: the slower side sets the pace,
// nothing is stored, nothing is lost or out of order.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

constexpr size_t kTotal = 50'000'000;
constexpr size_t kPiece = 16'000;

// Byte `i` of the stream; the period is long enough that a lost piece of any size shows.
char ByteAt(size_t i) { return static_cast<char>((i * 131 + (i >> 11)) & 255); }

std::string PieceAt(size_t begin, size_t size) {
  std::string piece(size, '\0');
  for (size_t i = 0; i < size; ++i) piece[i] = ByteAt(begin + i);
  return piece;
}

bool IsPieceAt(size_t begin, std::string_view piece) {
  for (size_t i = 0; i < piece.size(); ++i) {
    if (piece[i] != ByteAt(begin + i)) return false;
  }
  return true;
}

// Writes all, as fast as it is let.
void WriteAll(Stream& stream, std::atomic<size_t>& written, absl::Status& result) {
  for (size_t begin = 0; begin < kTotal && result.ok(); begin += kPiece) {
    const size_t size = std::min(kPiece, kTotal - begin);
    result = stream.Write(PieceAt(begin, size));
    written.store(begin + size);
  }
  if (result.ok()) result = stream.WritesDone({{"x-written", absl::StrCat(kTotal)}});
}

void CheckStream(Security security) {
  const Peer node = StartNode({.security = security});
  const Holdings before = CountHoldings();
  // A window that does not grow, so that what may lie between is known.
  const ConnectionOptions connection = {.max_stream_window = size_t{1} << 20};
  Client client = MakeClient(node.target, node.channel, {.connection = connection});
  REQUIRE(client.channel->WaitForReady(absl::Seconds(30)).ok());
  const size_t memory_before = ResidentBytes();

  Stream stream = client.channel->Open(Request::Post("/mirror"), {.timeout = absl::Seconds(120)});
  std::atomic<size_t> written = 0;
  absl::Status write_result;
  std::thread writer([&] { WriteAll(stream, written, write_result); });

  const auto head = stream.Head();
  INFO(head.status());
  CHECK((head.ok() && head->status == 200));
  // Nobody reads, until as much is on its way as there is room for: the others are not held up by
  // it.
  CHECK(Eventually([&] { return written.load() >= (size_t{1} << 20); }));
  int answered = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string id = absl::StrCat("beside ", i);
    const auto response = client.channel->Call(Request::Get("/echo", {{"x-id", id}}));
    if (response.ok() && response->body == id) ++answered;
  }
  CHECK(answered == 100);

  size_t read = 0;
  int64_t most_between = 0;
  size_t most_memory = 0;
  bool in_order = true;
  while (const std::optional<std::string> piece = stream.Read()) {
    // Negative at times: a piece may be back before its Write has returned.
    most_between = std::max(most_between, static_cast<int64_t>(written.load() - read));
    in_order = in_order && IsPieceAt(read, *piece);
    // Looked at now and then only: it costs more than the piece.
    if ((read >> 20) != ((read + piece->size()) >> 20)) {
      most_memory = std::max(most_memory, ResidentBytes());
    }
    read += piece->size();
  }
  writer.join();
  const absl::Status finished = stream.Finish();
  INFO(finished << " " << write_result);
  CHECK(finished.ok());
  CHECK(write_result.ok());
  CHECK(read == kTotal);
  CHECK(in_order);
  CHECK(stream.Trailers()["x-written"] == absl::StrCat(kTotal));
  CHECK(stream.Trailers()["x-seen"] == absl::StrCat(kTotal));
  // A stream window, twice 64 KiB at either end, and what the server has in hand.
  INFO("between " << most_between << ", memory " << memory_before << " … " << most_memory);
  CHECK(most_between < int64_t{4} << 20);
  if (!kSanitized) CHECK(most_memory < memory_before + (size_t{24} << 20));
  CHECK(client.factory->Stats().connections_opened == 1);
  stream = Stream();
  CheckEnd(client, before);
}

}  // namespace

TEST_CASE("50 MB there and back over h2c, at the reader's pace") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  CheckStream(Security::kPlain);
}

TEST_CASE("50 MB there and back over TLS, at the reader's pace") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  CheckStream(Security::kTls);
}

TEST_CASE("Streams that are left half-way leave nothing behind") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node);
  for (int i = 0; i < 100; ++i) {
    Stream stream = client.channel->Open(Request::Post("/mirror"));
    REQUIRE(stream.Write(std::string(50'000, 'x')).ok());
    if (i % 4 == 0) continue;  // at once
    REQUIRE(stream.Head().ok());
    if (i % 4 == 1) stream.Cancel();
    if (i % 4 == 2) CHECK(stream.Read().has_value());
    if (i % 4 == 3) CHECK(stream.WritesDone().ok());
  }
  // What was thrown away gave its window back to the connection: 5 MB still come through.
  const auto response = client.channel->Call(Request::Get("/bytes?n=5000000"));
  INFO(response.status());
  CHECK((response.ok() && response->body == PatternBytes(5'000'000)));
  CHECK(client.factory->Stats().connections_opened == 1);
  CheckEnd(client, before);
}

}  // namespace weft::inline v0::testing
