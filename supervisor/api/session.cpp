#include "supervisor/api/session.hpp"

#include <array>
#include <utility>

#include <poll.h>

#include <spdlog/spdlog.h>

#include "common/protocol/stream_socket.hpp"

namespace cuzk::supervisor {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr int kReadsPerTurn = 4;
constexpr std::size_t kMaxErrorText = 16384;

bool fully_closed(int fd) {
  pollfd state{fd, 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

void Responder::send(MessageType type, const std::string& body) const {
  const auto session = session_.lock();
  if (!session || !session->open()) return;
  session->queue(type, sequence_, body);
  session->request_answered();
}

void Responder::error(const Error& error) const {
  Error bounded = error;
  for (std::string* text : {&bounded.what, &bounded.where, &bounded.hint}) {
    if (text->size() > kMaxErrorText) text->resize(kMaxErrorText);
  }
  send(MessageType::kError, encode(bounded));
}

void Responder::progress(const ProgressEvent& event) const {
  const auto session = session_.lock();
  if (!session || !session->open()) return;
  // A client that does not keep up misses some: the next one tells more anyway.
  if (session->unsent_.size() - session->sent_ > kMaxUnsentProgress) return;
  session->queue(MessageType::kProgress, sequence_, encode(event));
}

bool Responder::wanted() const {
  const auto session = session_.lock();
  return session && session->open();
}

Session::Session(boost::asio::io_context& loop, const Clock& clock, SessionOwner& owner,
                 UniqueFd socket, Peer peer, std::uint64_t id)
    : loop_(loop),
      clock_(clock),
      owner_(owner),
      socket_(std::move(socket)),
      peer_(peer),
      id_(id) {}

void Session::start() {
  watch_.emplace(
      loop_, socket_.get(), [this] { read(); }, [this] { flush(); });
  watch_->want_read(true);
}

void Session::read() {
  const auto self = shared_from_this();  // a close below must not free what is still used
  std::array<std::byte, kReadBytes> buffer;
  for (int i = 0; i < kReadsPerTurn && open() && !half_closed_; ++i) {
    auto received = receive_some(socket_.get(), buffer);
    if (!received) return refuse(received.error());
    if (received->state == Received::State::kEmpty) break;
    if (received->state == Received::State::kClosed) return peer_closed();
    decoder_.feed(std::span(buffer).first(received->bytes), std::move(received->fds));
    if (!take_frames()) return;
    if (unanswered_ >= kMaxRequestsAtOnce) {
      watch_->want_read(false);  // until one is answered
      return;
    }
  }
}

bool Session::take_frames() {
  while (true) {
    auto frame = decoder_.next();
    if (!frame) {
      refuse(frame.error());
      return false;
    }
    if (!*frame) break;
    frame_deadline_.reset();
    ++unanswered_;
    const std::uint64_t sequence = (*frame)->sequence;
    owner_.handle(std::move(**frame), peer_, Responder(weak_from_this(), sequence));
    if (!open() || close_when_sent_) return false;
  }
  if (decoder_.held_bytes() > kMaxRequestBytes) {
    refuse(bad_request(fmt::format("a request has more than {} bytes", kMaxRequestBytes), "socket",
                       "attach large inputs as files"));
    return false;
  }
  update_frame_deadline();
  return true;
}

void Session::update_frame_deadline() {
  if (!decoder_.in_frame()) {
    frame_deadline_.reset();
  } else if (!frame_deadline_) {
    frame_deadline_ = clock_.now() + kFrameLimit;
  }
}

// The client sends nothing more. It may have gone, or may only have said that it has no more
// requests.
void Session::peer_closed() {
  half_closed_ = true;
  frame_deadline_.reset();
  watch_->want_read(false);
  if (decoder_.in_frame()) return close("the client broke off in the middle of a frame");
  const bool waits = unanswered_ > 0 || !unsent_.empty();
  if (!waits || fully_closed(socket_.get())) close("the client left");
}

// Tells the client why, then closes: its stream cannot be followed any more.
void Session::refuse(const Error& error) {
  spdlog::info("client {} (uid {}, pid {}): {}", id_, peer_.uid, peer_.pid, error.message());
  if (!open()) return;
  watch_->want_read(false);
  half_closed_ = true;
  frame_deadline_.reset();
  close_when_sent_ = true;
  queue(MessageType::kError, 0, encode(error));
}

void Session::queue(MessageType type, std::uint64_t sequence, std::string_view body) {
  if (!open()) return;
  auto frame = encode_frame(type, sequence, body);
  if (!frame)
    frame = encode_frame(MessageType::kError, sequence, std::string_view(encode(frame.error())));
  if (unsent_.size() - sent_ + frame->size() > kMaxUnsent) return close("the client does not read");
  if (unsent_.empty()) write_deadline_ = clock_.now() + kWriteLimit;
  unsent_ += *frame;
  owner_.has_output(shared_from_this());
}

void Session::request_answered() {
  if (unanswered_ > 0) --unanswered_;
  if (open() && !half_closed_ && unanswered_ < kMaxRequestsAtOnce) watch_->want_read(true);
}

void Session::flush() {
  const auto self = shared_from_this();
  while (open() && sent_ < unsent_.size()) {
    const auto sent = send_some(socket_.get(), std::string_view(unsent_).substr(sent_));
    if (!sent) return close("the client is gone");
    if (*sent == 0) return watch_->want_write(true);
    sent_ += *sent;
    write_deadline_ = clock_.now() + kWriteLimit;
  }
  if (!open()) return;
  unsent_.clear();
  sent_ = 0;
  write_deadline_.reset();
  watch_->want_write(false);
  if (close_when_sent_ || (half_closed_ && unanswered_ == 0)) close("all is said");
}

void Session::tick() {
  const auto self = shared_from_this();
  const auto now = clock_.now();
  if (frame_deadline_ && *frame_deadline_ <= now) {
    frame_deadline_.reset();
    return refuse(
        Error{ErrorClass::kBusy, "a frame was begun and not finished in time", "socket", {}});
  }
  if (write_deadline_ && *write_deadline_ <= now) return close("the client does not read");
  if (half_closed_ && !close_when_sent_ && fully_closed(socket_.get())) close("the client left");
}

void Session::close(const std::string& reason) {
  if (!open()) return;
  spdlog::debug("client {} (uid {}, pid {}): closed, {}", id_, peer_.uid, peer_.pid, reason);
  watch_.reset();
  socket_.reset();
  unsent_.clear();
  owner_.closed(*this);
}

}  // namespace cuzk::supervisor
