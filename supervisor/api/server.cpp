#include "supervisor/api/server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include "common/protocol/stream_socket.hpp"

namespace cuzk::supervisor {
namespace {

namespace fs = std::filesystem;

constexpr int kBacklog = 1024;
constexpr int kAcceptsPerTurn = 64;
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);

sockaddr_un address_of(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

Result<UniqueFd> new_socket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error(ErrorClass::kOperator, "socket", "socket");
  return socket;
}

// Removes a socket file behind which nobody listens; fails when somebody does.
Status clear_way(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return Error{ErrorClass::kOperator, "there is something else than a socket", path.string(),
                 "remove it, or choose another path with --socket"};
  }
  CUZK_TRY(probe, new_socket());
  const sockaddr_un address = address_of(path);
  const int connected =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  // EAGAIN: its queue is full, so it is very much there.
  if (connected == 0 || errno == EAGAIN || errno == EINPROGRESS) {
    return Error{ErrorClass::kOperator, "another supervisor answers on this socket", path.string(),
                 "stop that one, or choose another path with --socket"};
  }
  if (errno != ECONNREFUSED) return system_error(ErrorClass::kOperator, "connect", path.string());
  if (::unlink(path.c_str()) != 0)
    return system_error(ErrorClass::kOperator, "unlink", path.string());
  return {};
}

Peer peer_of(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return {UINT32_MAX, UINT32_MAX, 0};
  return {credentials.uid, credentials.gid, credentials.pid};
}

}  // namespace

Result<UniqueFd> listen_at(const fs::path& path) {
  CUZK_CHECK(check_socket_path(path));
  std::error_code error;
  const fs::path folder = path.parent_path();
  if (!folder.empty() && fs::create_directories(folder, error)) {
    fs::permissions(folder, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec,
                    error);
  }
  if (error) {
    return Error{ErrorClass::kOperator, "cannot make the socket's folder: " + error.message(),
                 folder.string(), "choose another path with --socket"};
  }
  // Two supervisors that start at once must not take each other's new socket for a stale one.
  const UniqueFd lock(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) {
    return system_error(ErrorClass::kOperator, "flock", folder.string());
  }
  CUZK_CHECK(clear_way(path));
  CUZK_TRY(socket, new_socket());
  const sockaddr_un address = address_of(path);
  // Nobody but the owner can connect before the mode is set.
  const mode_t before = ::umask(0177);
  const int bound =
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  if (bound != 0) return system_error(ErrorClass::kOperator, "bind", path.string());
  if (::chmod(path.c_str(), 0660) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return system_error(ErrorClass::kOperator, "listen", path.string());
  }
  return socket;
}

ApiServer::ApiServer(boost::asio::io_context& loop, const Clock& clock, UniqueFd listener,
                     fs::path path, std::uint32_t max_connections, Handler handler)
    : loop_(loop),
      clock_(clock),
      listener_(std::move(listener)),
      path_(std::move(path)),
      max_connections_(max_connections),
      handler_(std::move(handler)) {
  watch_.emplace(loop_, listener_.get(), [this] { accept(); });
  watch_->want_read(true);
}

ApiServer::~ApiServer() {
  stop_accepting();
  const auto sessions = sessions_;
  for (const auto& [id, session] : sessions) session->close("the supervisor stops");
}

void ApiServer::accept() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      // No descriptors or no memory: asked again when some may have come back.
      spdlog::warn("cannot accept a client: {}", std::strerror(errno));
      watch_->want_read(false);
      accept_again_ = clock_.now() + kAcceptPause;
      return;
    }
    if (sessions_.size() >= max_connections_) {
      turn_away(socket);
      continue;
    }
    const Peer peer = peer_of(socket.get());
    const std::uint64_t id = ++last_id_;
    spdlog::debug("client {}: connected, uid {}, pid {}", id, peer.uid, peer.pid);
    const auto session =
        std::make_shared<Session>(loop_, clock_, *this, std::move(socket), peer, id);
    sessions_.emplace(id, session);
    session->start();
  }
}

void ApiServer::turn_away(const UniqueFd& socket) const {
  const Error busy{ErrorClass::kBusy,
                   fmt::format("{} clients are connected, no more are taken", max_connections_),
                   {},
                   "try again later, or raise [daemon] max_connections"};
  const auto frame = encode_frame(MessageType::kError, 0, std::string_view(encode(busy)));
  if (frame) (void)send_some(socket.get(), *frame).ok();
}

void ApiServer::flush() {
  // Indexed: a flush may close a session, and a session may have more to say.
  for (std::size_t i = 0; i < with_output_.size(); ++i) with_output_[i]->flush();
  with_output_.clear();
  closed_.clear();
}

void ApiServer::tick() {
  const auto sessions = sessions_;
  for (const auto& [id, session] : sessions) session->tick();
  if (accept_again_ && *accept_again_ <= clock_.now() && watch_) {
    accept_again_.reset();
    watch_->want_read(true);
  }
}

void ApiServer::stop_accepting() {
  if (!listener_) return;
  watch_.reset();
  listener_.reset();
  accept_again_.reset();
  ::unlink(path_.c_str());
}

bool ApiServer::all_sent() const {
  return std::ranges::none_of(sessions_,
                              [](const auto& entry) { return entry.second->has_unsent(); });
}

void ApiServer::handle(Frame frame, const Peer& peer, Responder responder) {
  handler_(std::move(frame), peer, std::move(responder));
}

void ApiServer::has_output(const std::shared_ptr<Session>& session) {
  with_output_.push_back(session);
}

void ApiServer::closed(Session& session) {
  const auto found = sessions_.find(session.id());
  if (found == sessions_.end()) return;
  closed_.push_back(std::move(found->second));
  sessions_.erase(found);
}

}  // namespace cuzk::supervisor
