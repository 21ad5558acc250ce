// The C functions that nghttp2 calls. Each only finds the session and hands over.
#include <nghttp2/nghttp2.h>

#include "http2/session_impl.h"

namespace weft::inline v0::http2 {
namespace {

// More than the largest sane request head; above it a request is not sent.
constexpr size_t kMaxRequestHeadBytes = size_t{256} << 10;
// nghttp2 counts every piece that a CONTINUATION's head arrives in; FloodGuard counts frames.
constexpr size_t kMaxContinuationPieces = 9 * (FloodGuard::kContinuations + 1);

ClientSession& Self(void* user_data) { return *static_cast<ClientSession*>(user_data); }

std::string_view View(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  return Self(self).OnBeginHeaders(*frame);
}

int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
             const uint8_t* value, size_t value_size, uint8_t, void* self) {
  return Self(self).OnHeader(*frame, View(name, name_size), View(value, value_size));
}

int OnFrameReceived(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  return Self(self).OnFrameReceived(*frame);
}

int OnInvalidFrame(nghttp2_session*, const nghttp2_frame* frame, int error, void* self) {
  return Self(self).OnInvalidFrame(*frame, error);
}

int OnDataChunk(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                void* self) {
  return Self(self).OnDataChunk(id, View(data, size));
}

int OnStreamClosed(nghttp2_session*, int32_t id, uint32_t code, void* self) {
  return Self(self).OnStreamClosed(id, code);
}

int OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  return Self(self).OnFrameSent(*frame);
}

int OnFrameNotSent(nghttp2_session*, const nghttp2_frame* frame, int error, void* self) {
  return Self(self).OnFrameNotSent(*frame, error);
}

ssize_t OnReadBody(nghttp2_session*, int32_t, uint8_t* to, size_t size, uint32_t* flags,
                   nghttp2_data_source* source, void* self) {
  return Self(self).ReadBody(*static_cast<Stream*>(source->ptr), reinterpret_cast<char*>(to), size,
                             flags);
}

// The function came to nghttp2 later than the versions that this library builds with.
template <class Option>
void AllowContinuationPieces(Option* option) {
  if constexpr (requires { nghttp2_option_set_max_continuations(option, size_t{1}); }) {
    nghttp2_option_set_max_continuations(option, kMaxContinuationPieces);
  }
}

int NewOption(nghttp2_option** out) {
  const int error = nghttp2_option_new(out);
  if (error != 0) return error;
  nghttp2_option_set_no_auto_window_update(*out, 1);
  nghttp2_option_set_no_closed_streams(*out, 1);
  nghttp2_option_set_max_send_header_block_length(*out, kMaxRequestHeadBytes);
  AllowContinuationPieces(*out);
  return 0;
}

int NewCallbacks(nghttp2_session_callbacks** out) {
  const int error = nghttp2_session_callbacks_new(out);
  if (error != 0) return error;
  nghttp2_session_callbacks_set_on_begin_headers_callback(*out, OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(*out, OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(*out, OnFrameReceived);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(*out, OnInvalidFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(*out, OnDataChunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(*out, OnStreamClosed);
  nghttp2_session_callbacks_set_on_frame_send_callback(*out, OnFrameSent);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(*out, OnFrameNotSent);
  return 0;
}

}  // namespace

int NewNghttp2Session(ClientSession& session, nghttp2_mem* mem, nghttp2_session** out) {
  *out = nullptr;
  nghttp2_option* option = nullptr;
  nghttp2_session_callbacks* callbacks = nullptr;
  int error = NewOption(&option);
  if (error == 0) error = NewCallbacks(&callbacks);
  if (error == 0) error = nghttp2_session_client_new3(out, callbacks, &session, option, mem);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_option_del(option);
  return error;
}

nghttp2_data_provider BodyOf(Stream& stream) {
  nghttp2_data_provider body;
  body.source.ptr = &stream;
  body.read_callback = OnReadBody;
  return body;
}

}  // namespace weft::inline v0::http2
