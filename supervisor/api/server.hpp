// The Unix socket: accepts clients and keeps their sessions.
//
// The socket file is 0660: the kernel decides by group who may submit. A file that a dead
// supervisor left is replaced; one that answers is not. More connections than allowed are told so
// and closed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "supervisor/api/session.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/fd_watch.hpp"

namespace cuzk::supervisor {

// A listening socket at `path`, with its folder made (0750) where it is missing.
Result<UniqueFd> listen_at(const std::filesystem::path& path);

class ApiServer final : public SessionOwner {
 public:
  using Handler = std::function<void(Frame, const Peer&, Responder)>;

  // Removes the socket file when it goes.
  ApiServer(boost::asio::io_context& loop, const Clock& clock, UniqueFd listener,
            std::filesystem::path path, std::uint32_t max_connections, Handler handler);
  ~ApiServer() override;

  // Lets the replies of this turn go. Call it after the journal's commit.
  void flush();
  // Enforces the limits on time; about once a second.
  void tick();
  void stop_accepting();
  bool all_sent() const;  // nobody waits for bytes that are still here
  std::size_t connections() const { return sessions_.size(); }

  // SessionOwner
  void handle(Frame frame, const Peer& peer, Responder responder) override;
  void has_output(const std::shared_ptr<Session>& session) override;
  void closed(Session& session) override;

 private:
  void accept();
  void turn_away(const UniqueFd& socket) const;

  boost::asio::io_context& loop_;
  const Clock& clock_;
  UniqueFd listener_;
  std::optional<FdWatch> watch_;
  std::filesystem::path path_;
  std::uint32_t max_connections_;
  Handler handler_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Session>> sessions_;
  std::vector<std::shared_ptr<Session>> with_output_;
  std::vector<std::shared_ptr<Session>> closed_;  // freed at the end of the turn
  std::optional<TimePoint> accept_again_;
};

}  // namespace cuzk::supervisor
