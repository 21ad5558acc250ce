// weft_call as a user meets it: what goes to which output, and the exit status.
#include <csignal>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/process.h"
#include "tools/tool.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using nlohmann::json;

Ran WeftCall(const std::vector<std::string>& args, std::string_view input = "") {
  return RunExample("weft_call", args, input);
}

// An address where nobody listens.
std::string DeadAddress() { return "127.0.0.1:" + std::to_string(FreePort()); }

TEST_CASE("weft_call prints the body, and on standard error who answered") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const Ran ran = WeftCall({server->address(), "/hello"});
  CHECK(ran.exit_status == 0);
  CHECK(ran.out == "alpha: GET /hello\n");
  CHECK_THAT(ran.err, StartsWith("200 from " + server->address() + " in "));
  CHECK_THAT(ran.err, ContainsSubstring("1 attempt"));
  CHECK(WeftCall({"-s", server->address(), "/hello"}).err.empty());
}

TEST_CASE("weft_call sends method, headers and body") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const Ran ran = WeftCall({server->address(), "/echo", "-i", "-H", "X-Id: 7", "-d", "a body"});
  CHECK(ran.exit_status == 0);
  CHECK_THAT(ran.out, StartsWith("HTTP/2 200\nserver: alpha\nx-id: 7\n"));
  CHECK_THAT(ran.out, ContainsSubstring("\n\na body"));

  CHECK(WeftCall({server->address(), "/x", "-d", ""}).out == "alpha: POST /x\n");
  CHECK(WeftCall({server->address(), "/x", "-XDELETE"}).out == "alpha: DELETE /x\n");
  CHECK(WeftCall({server->address(), "/echo", "-d", "@-"}, "a line").out == "a line\n");
  const TempFile file(std::string("no\0text", 7));
  CHECK(WeftCall({server->address(), "/echo", "--data=@" + file.path()}).out ==
        std::string("no\0text", 7));
}

TEST_CASE("weft_call takes any HTTP status as an answer") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const Ran ran = WeftCall({server->address(), "/status/503"});
  CHECK(ran.exit_status == 0);
  CHECK_THAT(ran.err, StartsWith("503 from "));
}

TEST_CASE("weft_call -v tells the request, the answer and the connections") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const Ran ran = WeftCall({"-v", server->address(), "/a", "-H", "k: v", "--authority", "a.test"});
  CHECK(ran.out == "alpha: GET /a\n");
  for (const char* part : {"> GET /a\n", "> :authority: a.test\n", "> k: v\n", "< HTTP/2 200\n",
                           "< server: alpha\n", "* 1 connection opened, 0 lost", " ready "}) {
    CHECK_THAT(ran.err, ContainsSubstring(part));
  }
}

TEST_CASE("weft_call --json is one object") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const json text = json::parse(WeftCall({"--json", server->address(), "/a?b=\"c\""}).out);
  CHECK(text["status"] == 200);
  CHECK(text["headers"]["server"] == json({"alpha"}));
  CHECK(text["body"] == "alpha: GET /a?b=\"c\"\n");
  CHECK(text["host"] == server->address());
  CHECK(text["attempts"] == 1);
  CHECK(text["milliseconds"]["headers"] <= text["milliseconds"]["took"]);

  const TempFile file("\xff\xfe");
  const json bytes =
      json::parse(WeftCall({"--json", server->address(), "/echo", "-d", "@" + file.path()}).out);
  CHECK(bytes["body_base64"] == "//4=");
  CHECK_FALSE(bytes.contains("body"));
}

TEST_CASE("weft_call says why there is no answer") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const std::string dead = DeadAddress();
  const Ran refused = WeftCall({dead, "/"});
  CHECK(refused.exit_status == 1);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, StartsWith("weft_call: " + dead + ": "));
  CHECK_THAT(refused.err, ContainsSubstring("refused the connection"));
  CHECK_THAT(refused.err, ContainsSubstring("\n  UNAVAILABLE, origin "));
  CHECK_THAT(refused.err, ContainsSubstring("not sent"));

  const Ran reset = WeftCall({server->address(), "/reset", "--json"});
  CHECK(reset.exit_status == 1);
  const json error = json::parse(reset.out)["error"];
  CHECK(error["code"] == "INTERNAL");
  CHECK(error["origin"] == "peer");
  CHECK(error["processed"] == "may have been processed");
  CHECK(error["attempts"] == 1);
  CHECK(error["host"] == server->address());
}

TEST_CASE("weft_call prints what came before the answer broke off") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const Ran ran = WeftCall({server->address(), "/lines/100", "--timeout", "1500ms"});
  CHECK(ran.exit_status == 1);
  CHECK_THAT(ran.out, StartsWith("line 1 of 100\n"));
  CHECK_THAT(ran.err, ContainsSubstring("DEADLINE_EXCEEDED"));
}

TEST_CASE("weft_call over TLS") {
  const TestCertificate ca = MakeCa("tools");
  const TestCertificate certificate = MakeCertificate({.dns_names = {"a.test"}}, &ca);
  const TempFile ca_file(ca.pem);
  const TempFile certificate_file(certificate.pem);
  const TempFile key_file(certificate.key_pem);
  const auto server =
      ExampleServer::Start({"--cert", certificate_file.path(), "--key", key_file.path()});
  WEFT_NEEDS_EXAMPLES(server);
  const std::vector<std::string> call = {server->address(), "/", "--cacert", ca_file.path()};

  auto with = [&](const std::string& option, const std::string& name) {
    std::vector<std::string> args = call;
    args.insert(args.end(), {option, name});
    return WeftCall(args);
  };
  CHECK(with("--servername", "a.test").out == "alpha: GET /\n");
  CHECK(with("--authority", "a.test").out == "alpha: GET /\n");
  const Ran wrong = with("--servername", "b.test");
  CHECK(wrong.exit_status == 1);
  CHECK_THAT(wrong.err, ContainsSubstring("b.test"));
}

TEST_CASE("weft_call -n sums up many calls") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const auto callers =
      GENERATE(std::vector<std::string>{}, std::vector<std::string>{"-c", "16"},
               std::vector<std::string>{"-t4"}, std::vector<std::string>{"-c", "8", "--threads=3"});
  std::vector<std::string> args = {server->address(), "/echo", "-d", "four", "-n", "200", "--json"};
  args.insert(args.end(), callers.begin(), callers.end());
  const Ran ran = WeftCall(args);
  CHECK(ran.exit_status == 0);
  const json sum = json::parse(ran.out);
  CHECK(sum["calls"] == 200);
  CHECK(sum["answered"] == 200);
  CHECK(sum["body_bytes"] == 800);
  CHECK(sum["statuses"]["200"] == 200);
  CHECK(sum["hosts"][server->address()] == 200);
  CHECK(sum["connections"]["opened"] == 1);
  CHECK(sum["latency_ms"]["min"] <= sum["latency_ms"]["p50"]);
  CHECK(sum["latency_ms"]["p99"] <= sum["latency_ms"]["max"]);

  args.erase(args.begin() + 6);  // --json
  const Ran text = WeftCall(args);
  CHECK_THAT(text.out, StartsWith("200 calls of POST /echo to " + server->address()));
  for (const char* part : {"answers", "status", "hosts", "p99.9 "}) {
    CHECK_THAT(text.out, ContainsSubstring(part));
  }
}

TEST_CASE("weft_call --hedge sends slow calls to another host too, as far as the budget goes") {
  const auto one = ExampleServer::Start();
  const auto two = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(one);
  const Ran ran = WeftCall({"static:" + one->address() + "," + two->address(), "/slow/20", "-n",
                            "100", "-c", "4", "--hedge", "1ms", "--json"});
  CHECK(ran.exit_status == 0);
  const json sum = json::parse(ran.out);
  CHECK(sum["statuses"]["200"] == 100);
  CHECK(sum["connections"]["hedges"] > 0);
  CHECK(sum["connections"]["hedges"] <= 10);  // half of a fifth
}

TEST_CASE("weft_call -n counts errors by kind") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const Ran ran = WeftCall({server->address(), "/reset", "-n", "20", "-c", "4", "--json"});
  CHECK(ran.exit_status == 1);
  const json sum = json::parse(ran.out);
  CHECK(sum["failed"] == 20);
  CHECK(sum["latency_ms"].empty());
  REQUIRE(sum["errors"].size() == 1);
  CHECK(sum["errors"][0]["count"] == 20);
  CHECK(sum["errors"][0]["origin"] == "peer");
  CHECK_THAT(ran.err, ContainsSubstring("reset the stream"));
}

TEST_CASE("weft_call -n ends with a summary when it is interrupted") {
  const auto server = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  Process process({.args = {ExamplePath("weft_call"), server->address(), "/slow/1", "-n", "1000000",
                            "-c", "2", "-t", "2", "--json"}});
  const auto calls_seen = [&] {
    const json answer = json::parse(WeftCall({"--json", server->address(), "/stats"}).out);
    return json::parse(answer["body"].get<std::string>())["requests"] > 0;
  };
  REQUIRE(Eventually(calls_seen));
  process.Kill(SIGINT);
  const json sum = json::parse(process.ReadToEnd());
  CHECK(sum["interrupted"] == true);
  CHECK(sum["answered"] > 0);
  CHECK(sum["failed"] == 0);
}

TEST_CASE("weft_call refuses wrong arguments in one sentence that names them") {
  if (ExamplePath("weft_call").empty()) WEFT_SKIP("the examples are not built");
  struct Case {
    std::vector<std::string> args;
    const char* part;
  };
  const Case cases[] = {
      {{}, "TARGET"},
      {{""}, "target"},
      {{"a", "/b", "/c"}, "\"/c\""},
      {{"127.0.0.1:80", "b"}, "PATH \"b\""},
      {{"127.0.0.1:80", "/a b"}, "PATH \"/a b\""},
      {{"127.0.0.1"}, "127.0.0.1:80"},
      {{"payments"}, "--registry"},
      {{"--timout", "1s", "a"}, "did you mean --timeout?"},
      {{"-z"}, "-z"},
      {{"-k", "a"}, "--cacert"},
      {{"a", "--timeout"}, "--timeout: its value is missing"},
      {{"a", "--timeout", "5"}, "--timeout \"5\""},
      {{"a", "--timeout=0s"}, "--timeout \"0s\""},
      {{"a", "--tls=1"}, "--tls"},
      {{"a", "-n", "x"}, "-n \"x\""},
      {{"a", "-n0"}, "-n \"0\""},
      {{"a", "-c", "1"}, "-c: needs -n"},
      {{"a", "-t", "1"}, "-t: needs -n"},
      {{"a", "-in5"}, "-i"},
      {{"a", "-H", "k"}, "-H \"k\""},
      {{"a", "-H", "connection: close"}, "-H \"connection: close\""},
      {{"a", "-H", "Host: b"}, "--authority"},
      {{"a", "-X", "G T"}, "-X \"G T\""},
      {{"a", "-d", "1", "-d", "2"}, "-d \"2\""},
      {{"a", "-d", "@/no/such"}, "-d \"@/no/such\""},
      {{"a", "--cacert", "/no/such"}, "--cacert \"/no/such\""},
      {{"a", "--max-attempts", "6"}, "--max-attempts \"6\""},
      {{"a", "--authority", "b c"}, "--authority \"b c\""},
  };
  for (const Case& wrong : cases) {
    const Ran ran = WeftCall(wrong.args);
    CAPTURE(wrong.part, ran.err);
    CHECK(ran.exit_status == 2);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, StartsWith("weft_call: "));
    CHECK_THAT(ran.err, ContainsSubstring(wrong.part));
    CHECK(ran.err.find('\n') == ran.err.size() - 1);
  }
}

TEST_CASE("weft_call --help lists what there is") {
  if (ExamplePath("weft_call").empty()) WEFT_SKIP("the examples are not built");
  const Ran ran = WeftCall({"--help", "--nonsense"});
  CHECK(ran.exit_status == 0);
  CHECK(ran.err.empty());
  for (const char* part :
       {"-X, --method",     "-H, --header",  "-d, --data", "--timeout",        "-n, --calls",
        "-c, --concurrent", "-t, --threads", "--cacert",   "--cert",           "--key",
        "--servername",     "--authority",   "--tls",      "-i, --include",    "-v, --verbose",
        "--json",           "--idempotent",  "--hedge",    "--wait-for-ready", "-h, --help"}) {
    CHECK_THAT(ran.out, ContainsSubstring(part));
  }
}

}  // namespace
}  // namespace weft::inline v0::testing
