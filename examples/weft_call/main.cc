// weft_call: calls a service from the command line, as curl does, through Weft. weft_call --help
// says how.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/weft.h"
#include "weft_call/args.h"
#include "weft_call/load_run.h"
#include "weft_call/single_call.h"

namespace {

int Refuse(const absl::Status& why) {
  std::fprintf(stderr, "weft_call: %s\n", std::string(why.message()).c_str());
  return 2;
}

absl::StatusOr<std::unique_ptr<weft::Resolver>> NoRegistry(std::string_view name) {
  return absl::InvalidArgumentError("TARGET \"" + std::string(name) +
                                    "\" is a name, and names need --registry DIR");
}

}  // namespace

int main(int argc, char** argv) {
  const absl::StatusOr<weft_call::Args> args =
      weft_call::ParseArgs(std::vector<std::string>(argv + 1, argv + argc));
  if (!args.ok()) return Refuse(args.status());
  if (args->help) {
    std::fputs(weft_call::HelpText().c_str(), stdout);
    return 0;
  }

  weft::ChannelFactory::Options options;
  options.registry =
      args->registry.empty() ? weft::Registry(NoRegistry) : weft::FileRegistry(args->registry);
  const auto factory = weft::ChannelFactory::Create(options);
  if (!factory.ok()) {
    std::fprintf(stderr, "weft_call: %s\n", factory.status().ToString().c_str());
    return 1;
  }
  const auto channel = (*factory)->GetChannel(args->target, args->channel);
  if (!channel.ok()) return Refuse(channel.status());
  return args->calls > 0 ? weft_call::RunLoad(**factory, **channel, *args)
                         : weft_call::RunSingleCall(**factory, **channel, *args);
}
