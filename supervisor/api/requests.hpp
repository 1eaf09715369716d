// What each request of a client does.
//
// Decodes the message, checks the descriptors that came with it, asks the part that knows, and
// replies. A request that makes no sense is answered with kBadRequest and harms nobody else's.
#pragma once

#include <cstdint>
#include <functional>

#include "common/protocol/frame.hpp"
#include "supervisor/api/session.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/intake/intake.hpp"
#include "supervisor/job_book.hpp"
#include "supervisor/stores/circuit_store.hpp"

namespace cuzk::supervisor {

class Requests {
 public:
  Requests(const Clock& clock, Intake& intake, JobBook& book, CircuitStore& circuits,
           std::function<StatusReply()> status)
      : clock_(clock),
        intake_(intake),
        book_(book),
        circuits_(circuits),
        status_(std::move(status)) {}

  void handle(Frame frame, const Peer& peer, const Responder& responder);
  // From now on nothing new is taken.
  void refuse_new_work() { draining_ = true; }

 private:
  void submit(Frame& frame, const Peer& peer, const Responder& responder);
  void await(const Frame& frame, const Responder& responder);
  void cancel(const Frame& frame, const Responder& responder);
  void jobs(const Frame& frame, const Responder& responder);
  void circuit_add(Frame& frame, const Peer& peer, const Responder& responder);
  void circuit_remove(const Frame& frame, const Responder& responder);

  const Clock& clock_;
  Intake& intake_;
  JobBook& book_;
  CircuitStore& circuits_;
  std::function<StatusReply()> status_;
  bool draining_ = false;
};

VersionReply version_reply();

}  // namespace cuzk::supervisor
