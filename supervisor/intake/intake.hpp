// What happens between a submission's arrival and its acceptance.
//
// The key is resolved, the input is brought into the state folder, and then the job is written to
// the journal; the reply leaves after the commit. Whatever fails before that is the answer, and
// nothing is left behind. A request id that is known, or on its way, attaches to the earlier job.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/protocol/messages.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/journal/journal.hpp"
#include "supervisor/scheduler/attempts.hpp"
#include "supervisor/scheduler/dispatcher.hpp"
#include "supervisor/scheduler/scheduler.hpp"
#include "supervisor/stores/circuit_store.hpp"
#include "supervisor/stores/key_store.hpp"
#include "supervisor/stores/state_folder.hpp"

namespace cuzk::supervisor {

// Inputs of at most this size are kept in the journal, larger ones in the spool folder.
inline constexpr std::uint64_t kMaxInlineInput = std::uint64_t{256} << 10;
inline constexpr std::size_t kMaxRequestId = 128;

class Intake {
 public:
  struct Settings {
    std::uint32_t max_queue = 1000;  // open jobs and submissions under way
  };
  Intake(Settings settings, const Clock& clock, const StateFolder& folder, Journal& journal,
         Dispatcher& dispatcher, Scheduler& scheduler, KeyStore& keys, CircuitStore& circuits);

  struct Submission {
    SubmitRequest request;
    std::uint32_t uid = 0;
    std::shared_ptr<ClientFile> key;                     // if request.key_attached
    std::shared_ptr<ClientFile> input;                   // if request.input_attached
    std::function<bool()> wanted;                        // false once the client is gone
    std::function<void(const ProgressEvent&)> progress;  // may be empty
    std::function<void(Result<SubmitReply>)> done;
  };
  void submit(Submission submission);

  // Whether a job on its way to acceptance names this circuit folder.
  bool uses_folder(const std::string& folder) const;
  std::size_t under_way() const { return pending_.size(); }

 private:
  struct Pending {
    Submission submission;
    JobRecord record;
    KeyInfo key;
    Attempts attempts;
    std::vector<std::function<void(Result<SubmitReply>)>>
        also;  // later ones with the same request id
  };
  using Place = std::list<Pending>::iterator;

  Result<std::optional<SubmitReply>> find_earlier(const std::string& request_id);
  Status check(const Submission& submission) const;
  Status fill_in(const Submission& submission, JobRecord& record) const;
  void resolve_key(Place pending);
  void key_resolved(Place pending, Result<KeyInfo> key);
  void take_input(Place pending);
  void spool(Place pending);
  void spooled(Place pending, const Outcome& outcome);
  void accept(Place pending);
  void answer(Place pending, const Result<SubmitReply>& result);
  void tell(Place pending, const char* stage, const TaskProgress& progress) const;

  Settings settings_;
  const Clock& clock_;
  const StateFolder& folder_;
  Journal& journal_;
  Dispatcher& dispatcher_;
  Scheduler& scheduler_;
  KeyStore& keys_;
  CircuitStore& circuits_;
  std::uint64_t last_id_ = 0;
  std::list<Pending> pending_;
  std::map<std::string, Place> by_request_;
};

}  // namespace cuzk::supervisor
