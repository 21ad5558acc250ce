#include "grpc_stub/parent_watch.h"

#include <grpc/grpc_security.h>
#include <grpc/impl/codegen/propagation_bits.h>
#include <grpc/slice.h>

#include <utility>

namespace weft::inline v0::grpc {
namespace {

// Where no socket can be, whatever other processes do.
constexpr char kNowhere[] = "unix:/proc/self/weft/nowhere";
constexpr int kHourInMs = 3600 * 1000;

// Of the whole process, like gRPC's own threads, and never given back: a shadow may end at any
// time.
struct Nowhere {
  Nowhere() {
    grpc_init();
    const auto integer = [](const char* key, int value) {
      grpc_arg arg;
      arg.type = GRPC_ARG_INTEGER;
      arg.key = const_cast<char*>(key);
      arg.value.integer = value;
      return arg;
    };
    grpc_arg args[] = {
        integer(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kHourInMs),
        integer(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kHourInMs),
        integer(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kHourInMs),
        integer(GRPC_ARG_ENABLE_RETRIES, 0),
        integer(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1),
        integer(GRPC_ARG_ENABLE_CHANNELZ, 0),
        integer(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
    };
    const grpc_channel_args list = {sizeof(args) / sizeof(args[0]), args};
    grpc_channel_credentials* const plain = grpc_insecure_credentials_create();
    channel = grpc_channel_create(kNowhere, plain, &list);
    grpc_channel_credentials_release(plain);
    shut_down.functor_run = [](grpc_completion_queue_functor*, int) {};
    queue = grpc_completion_queue_create_for_callback(&shut_down, nullptr);
  }
  grpc_channel* channel;
  grpc_completion_queue_functor shut_down = {};
  grpc_completion_queue* queue;
};

const Nowhere& TheNowhere() {
  static const Nowhere* const nowhere = new Nowhere;
  return *nowhere;
}

struct Ending : grpc_completion_queue_functor {
  explicit Ending(std::function<void(absl::Status)> then)
      : grpc_completion_queue_functor{}, ended(std::move(then)) {
    functor_run = &Run;
    inlineable = 1;
    grpc_metadata_array_init(&trailers);
    details = grpc_empty_slice();
  }
  ~Ending() {
    grpc_metadata_array_destroy(&trailers);
    grpc_slice_unref(details);
  }

  static void Run(grpc_completion_queue_functor* that, int) {
    auto* const self = static_cast<Ending*>(that);
    self->ended(self->code == GRPC_STATUS_DEADLINE_EXCEEDED
                    ? absl::DeadlineExceededError(
                          "the deadline of the server call that it was made for has passed")
                    : absl::CancelledError(
                          "the server call that it was made for was cancelled, or is over"));
    delete self;
  }

  std::function<void(absl::Status)> ended;
  grpc_metadata_array trailers;
  grpc_status_code code = GRPC_STATUS_OK;
  grpc_slice details;
};

}  // namespace

ParentWatch::~ParentWatch() {
  if (shadow_ != nullptr) grpc_call_unref(shadow_);  // which ends it
}

void ParentWatch::Start(grpc_call* parent, uint32_t mask, std::function<void(absl::Status)> ended) {
  mask &= GRPC_PROPAGATE_CANCELLATION | GRPC_PROPAGATE_DEADLINE;
  if (parent == nullptr || mask == 0) return;
  const Nowhere& nowhere = TheNowhere();
  shadow_ = grpc_channel_create_call(nowhere.channel, parent, mask, nowhere.queue,
                                     grpc_slice_from_static_string("/weft/Shadow"), nullptr,
                                     gpr_inf_future(GPR_CLOCK_REALTIME), nullptr);
  auto* const ending = new Ending(std::move(ended));
  grpc_op ops[2] = {};
  ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  ops[0].flags =
      GRPC_INITIAL_METADATA_WAIT_FOR_READY | GRPC_INITIAL_METADATA_WAIT_FOR_READY_EXPLICITLY_SET;
  ops[1].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  ops[1].data.recv_status_on_client.trailing_metadata = &ending->trailers;
  ops[1].data.recv_status_on_client.status = &ending->code;
  ops[1].data.recv_status_on_client.status_details = &ending->details;
  if (grpc_call_start_batch(shadow_, ops, 2, ending, nullptr) != GRPC_CALL_OK) delete ending;
}

}  // namespace weft::inline v0::grpc
