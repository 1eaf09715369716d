// One question that the daemon answers at once.
#pragma once

#include "cli/command.hpp"

namespace cuzk::cli {

template <class Reply, class Request>
Result<Reply> ask(const Session& session, MessageType type, const Request& request) {
  CUZK_TRY(client, Client::connect(session.socket, kPromptly));
  CallOptions options;
  options.timeout = kPromptly;
  return client.call<Reply>(type, request, {}, options);
}

}  // namespace cuzk::cli
