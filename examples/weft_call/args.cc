#include "weft_call/args.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "absl/status/status.h"
#include "weft_call/options.h"

namespace weft_call {
namespace {

constexpr std::string_view kUsage =
    R"(Calls a service through Weft and shows the answer and what it took to get it.

  weft_call [options] TARGET [PATH]

  weft_call 127.0.0.1:8080 /v1/rates
  weft_call static:10.0.0.7:80,10.0.0.8:80 /v1/charges -d '{"amount": 7}' -H 'x-tenant: 7'
  weft_call --cacert ca.pem --servername pay.example 10.0.0.7:443 / --timeout 250ms -i
  weft_call unix:/run/svc.sock /health -n 10000 -c 64

TARGET is an address (10.0.0.7:8080, [::1]:8080, localhost:8080), a list (static:ADDRESS,...), a
socket (unix:/run/svc.sock), a file of endpoints (file:/etc/svc.json), or, with --registry, a name.
PATH is / if nothing is said.
)";

constexpr std::string_view kExits = R"(
Exit status: 0 when an answer came, whatever its HTTP status (with -n: to every call); 1 when none
came, with the reason on standard error; 2 when an argument is wrong.
)";

absl::Status Wrong(const std::string& sentence) { return absl::InvalidArgumentError(sentence); }

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// Levenshtein's distance, for "did you mean".
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row[b.size()];
}

absl::Status UnknownOption(const std::string& shown) {
  if (shown == "-k" || shown == "--insecure") {
    return Wrong(shown + ": Weft verifies every host; name the certificate to trust with --cacert");
  }
  std::string sentence = shown + ": there is no such option";
  if (shown.size() > 3) {
    const auto distance = [&](const Option& option) {
      return Distance(shown.substr(2), option.word);
    };
    const auto options = Options();
    const auto nearest = std::min_element(
        options.begin(), options.end(),
        [&](const Option& a, const Option& b) { return distance(a) < distance(b); });
    if (distance(*nearest) <= 2)
      return Wrong(sentence + "; did you mean --" + std::string(nearest->word) + "?");
  }
  return Wrong(sentence + "; weft_call --help lists them");
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  absl::StatusOr<Args> Parse() {
    bool options_over = false;
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      absl::Status status;
      if (!options_over && word == "--") {
        options_over = true;
      } else if (options_over || word.size() < 2 || word[0] != '-') {
        positional_.push_back(word);
      } else if (word[1] == '-') {
        status = ParseWord(word);
      } else {
        status = ParseLetters(word);
      }
      if (!status.ok()) return status;
      if (args_.help) return std::move(args_);
    }
    if (absl::Status status = Complete(); !status.ok()) return status;
    return std::move(args_);
  }

 private:
  // --timeout 1s, --timeout=1s, --tls
  absl::Status ParseWord(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string shown = word.substr(0, equals);
    for (const Option& option : Options()) {
      if (option.word.empty() || shown.substr(2) != option.word) continue;
      if (equals == std::string::npos) return Apply(option, shown, nullptr);
      if (option.value.empty()) return Wrong(shown + ": takes no value");
      const std::string value = word.substr(equals + 1);
      return Apply(option, shown, &value);
    }
    return UnknownOption(shown);
  }

  // -n 100, -n100, -iv
  absl::Status ParseLetters(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const std::string shown = {'-', word[i]};
      const auto options = Options();
      const auto option = std::find_if(options.begin(), options.end(),
                                       [&](const Option& o) { return o.letter == word[i]; });
      if (option == options.end()) return UnknownOption(shown);
      if (!option->value.empty() && i + 1 < word.size()) {
        const std::string value = word.substr(i + 1);
        return Apply(*option, shown, &value);
      }
      if (absl::Status status = Apply(*option, shown, nullptr); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // `value` is null where it is the next word, if the option has one.
  absl::Status Apply(const Option& option, const std::string& shown, const std::string* value) {
    if (option.value.empty()) return option.apply(args_, "");
    if (value == nullptr) {
      if (next_ == words_.size()) {
        return Wrong(shown + ": its value is missing (" + std::string(option.value) + ")");
      }
      value = &words_[next_++];
    }
    const absl::Status status = option.apply(args_, *value);
    if (status.ok()) return status;
    return Wrong(shown + " " + Quoted(*value) + " " + std::string(status.message()));
  }

  // What can be said only when all words are known.
  absl::Status Complete() {
    if (positional_.empty())
      return Wrong("TARGET is missing; weft_call --help says what it may be");
    if (positional_.size() > 2) {
      return Wrong(Quoted(positional_[2]) + " is one word too many: TARGET is " +
                   Quoted(positional_[0]) + " and PATH is " + Quoted(positional_[1]));
    }
    args_.target = positional_[0];
    if (positional_.size() == 2) args_.request.path = positional_[1];
    if (args_.request.method.empty()) args_.request.method = args_.has_body ? "POST" : "GET";

    if (args_.channel.tls.has_value() &&
        args_.channel.tls->certificate_file.empty() != args_.channel.tls->key_file.empty()) {
      return Wrong(args_.channel.tls->key_file.empty() ? "--cert: needs --key beside it"
                                                       : "--key: needs --cert beside it");
    }
    if (args_.calls == 0) {
      if (args_.concurrent > 0) return Wrong("-c: needs -n, the number of calls");
      if (args_.threads > 0) return Wrong("-t: needs -n, the number of calls");
    } else {
      if (args_.include)
        return Wrong("-i: shows one answer, and -n is for many calls; leave one out");
      if (args_.concurrent == 0 && args_.threads == 0) args_.threads = 1;
    }
    return CheckRequestLine();
  }

  absl::Status CheckRequestLine() const {
    const weft::Request& request = args_.request;
    const auto has_gap = [](const std::string& text) {
      return std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
      });
    };
    constexpr std::string_view kNotInTokens = "\"(),/:;<=>?@[\\]{}";
    if (has_gap(request.method) ||
        request.method.find_first_of(kNotInTokens) != std::string::npos) {
      return Wrong("-X " + Quoted(request.method) + " is not a method");
    }
    if (request.method == "CONNECT") return Wrong("-X CONNECT is not supported");
    const bool star = request.path == "*" && request.method == "OPTIONS";
    if (!star && (request.path.empty() || request.path[0] != '/')) {
      return Wrong("PATH " + Quoted(request.path) + " must begin with /");
    }
    if (has_gap(request.path)) {
      return Wrong("PATH " + Quoted(request.path) + " has a space in it; write %20");
    }
    if (has_gap(args_.channel.authority)) {
      return Wrong("--authority " + Quoted(args_.channel.authority) + " has a space in it");
    }
    return absl::OkStatus();
  }

  const std::vector<std::string>& words_;
  size_t next_ = 0;
  std::vector<std::string> positional_;
  Args args_ = EmptyArgs();

  static Args EmptyArgs() {
    Args args;
    args.request.method.clear();  // filled in when it is known if there is a body
    return args;
  }
};

// "  -X, --method METHOD   "
std::string LeftColumn(const Option& option) {
  std::string left = option.letter != 0 ? std::string("  -") + option.letter + ", " : "      ";
  left += "--" + std::string(option.word);
  if (!option.value.empty()) left += " " + std::string(option.value);
  return left;
}

}  // namespace

absl::StatusOr<Args> ParseArgs(const std::vector<std::string>& words) {
  return Parser(words).Parse();
}

std::string HelpText() {
  constexpr size_t kColumn = 26;
  std::string text(kUsage);
  for (const Option& option : Options()) {
    if (option.word.empty()) {
      text += "\n" + std::string(option.help) + "\n";
      continue;
    }
    std::string line = LeftColumn(option);
    for (std::string_view help = option.help; !help.empty();) {
      const size_t end = std::min(help.find('\n'), help.size());
      line.resize(kColumn, ' ');
      text += line + std::string(help.substr(0, end)) + "\n";
      help.remove_prefix(std::min(end + 1, help.size()));
      line.clear();
    }
  }
  return text + std::string(kExits);
}

}  // namespace weft_call
