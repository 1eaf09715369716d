#include "supervisor/stores/key_store.hpp"

#include <utility>

#include <sys/stat.h>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {
namespace {

// A file that was changed less than this ago may change once more within the same tick of the file
// system's clock, without its times telling.
constexpr std::int64_t kSettledMs = 2'000;
constexpr std::int64_t kNanosecondsPerMs = 1'000'000;

void tell_progress(const auto& waiting, const TaskProgress& progress) {
  for (const auto& waiter : waiting) {
    if (waiter.progress) waiter.progress(progress);
  }
}

void answer(auto waiting, const Result<KeyInfo>& result) {
  for (const auto& waiter : waiting) waiter.done(result);
}

}  // namespace

KeyStore::KeyStore(Settings settings, const Clock& clock, Journal& journal, Dispatcher& dispatcher,
                   std::function<void(const Digest&)> replaced)
    : settings_(std::move(settings)),
      clock_(clock),
      journal_(journal),
      dispatcher_(dispatcher),
      replaced_(std::move(replaced)) {}

Status KeyStore::load() {
  CUZK_TRY(keys, journal_.keys());
  for (KeyInfo& key : keys) entries_[key.digest].info = std::move(key);
  CUZK_TRY(identities, journal_.identities());
  identities_ = std::move(identities);
  return {};
}

bool KeyStore::usable(const Entry& entry) const {
  struct stat found {};
  return entry.checked && ::stat(entry.info.path.c_str(), &found) == 0 &&
         static_cast<std::uint64_t>(found.st_size) == entry.info.file_bytes;
}

void KeyStore::resolve(std::shared_ptr<ClientFile> file, std::int64_t order, Progress progress,
                       Done done) {
  const auto known = identities_.find(file->identity);
  if (known == identities_.end() || !entries_.contains(known->second)) {
    return convert(std::move(file), order, {std::move(progress), std::move(done)});
  }
  // A key that turns out to be damaged is made again: its source is at hand.
  ensure(
      known->second, order, progress, [this, file, order, progress, done](Result<KeyInfo> result) {
        if (result) return done(std::move(result));
        spdlog::warn("key \"{}\": {}; it is prepared again", file->name, result.error().message());
        convert(file, order, {progress, done});
      });
}

void KeyStore::ensure(const Digest& digest, std::int64_t order, Progress progress, Done done) {
  const auto found = entries_.find(digest);
  if (found == entries_.end()) {
    return done(
        bad_request("no prepared key is known", to_hex(digest), "submit the key file itself"));
  }
  Entry& entry = found->second;
  if (usable(entry)) return done(entry.info);
  entry.checked = false;
  entry.waiting.push_back({std::move(progress), std::move(done)});
  if (entry.waiting.size() == 1) submit_check(digest, order);
}

void KeyStore::distrust(const Digest& digest) {
  const auto found = entries_.find(digest);
  if (found != entries_.end()) found->second.checked = false;
}

void KeyStore::submit_check(const Digest& digest, std::int64_t order) {
  TaskRequest request;
  request.kind = CommandKind::kPrepareKey;
  request.order = order;
  request.long_running = true;
  request.avoid = entries_.at(digest).attempts.avoid;
  request.build = [this, digest](WorkerLife) -> Result<std::optional<Command>> {
    PrepareKeyCommand body;
    body.cache_folder = settings_.cache_folder.string();
    body.source_name = to_hex(digest);
    body.expected = digest;
    body.threads = settings_.threads;
    Command command;
    command.body = encode(body);
    return std::optional<Command>(std::move(command));
  };
  request.progress = [this, digest](const TaskProgress& progress) {
    tell_progress(entries_.at(digest).waiting, progress);
  };
  request.ended = [this, digest, order](const Outcome& outcome) {
    check_ended(digest, order, outcome);
  };
  dispatcher_.submit(std::move(request));
}

void KeyStore::check_ended(const Digest& digest, std::int64_t order, const Outcome& outcome) {
  Entry& entry = entries_.at(digest);
  if (outcome.ending == Ending::kDone) {
    auto info = take_in(outcome);
    if (info && info->digest != digest) info = bug("a worker checked another key", to_hex(digest));
    return answer(std::exchange(entries_.at(digest).waiting, {}), info);
  }
  // A damaged key stays damaged wherever it is read again.
  const bool damaged = outcome.ending == Ending::kFailed &&
                       outcome.error.error_class != ErrorClass::kRetryHere &&
                       outcome.error.error_class != ErrorClass::kOperator;
  if (!damaged && !entry.attempts.count(outcome)) return submit_check(digest, order);
  auto waiting = std::exchange(entry.waiting, {});
  entry.attempts = {};
  answer(std::move(waiting),
         bad_request("the prepared key cannot be used: " + outcome.error.message(), to_hex(digest),
                     "submit its key file, or add the circuit, again"));
}

void KeyStore::convert(std::shared_ptr<ClientFile> file, std::int64_t order, Waiter waiter) {
  const FileIdentity identity = file->identity;
  Conversion& conversion = conversions_[identity];
  conversion.waiting.push_back(std::move(waiter));
  if (conversion.waiting.size() > 1) return;
  conversion.file = std::move(file);
  conversion.order = order;
  spdlog::info("key \"{}\": {} bytes, to be prepared", conversion.file->name, identity.size);
  submit_conversion(identity);
}

void KeyStore::submit_conversion(const FileIdentity& identity) {
  const Conversion& conversion = conversions_.at(identity);
  TaskRequest request;
  request.kind = CommandKind::kPrepareKey;
  request.order = conversion.order;
  request.long_running = true;
  request.avoid = conversion.attempts.avoid;
  request.build = [this, identity](WorkerLife) -> Result<std::optional<Command>> {
    const ClientFile& file = *conversions_.at(identity).file;
    CUZK_TRY(source, file.fd.duplicate());
    PrepareKeyCommand body;
    body.cache_folder = settings_.cache_folder.string();
    body.source_name = file.name;
    body.threads = settings_.threads;
    Command command;
    command.body = encode(body);
    command.fds.push_back({FdRole::kSource, std::move(source)});
    return std::optional<Command>(std::move(command));
  };
  request.progress = [this, identity](const TaskProgress& progress) {
    tell_progress(conversions_.at(identity).waiting, progress);
  };
  request.ended = [this, identity](const Outcome& outcome) { conversion_ended(identity, outcome); };
  dispatcher_.submit(std::move(request));
}

void KeyStore::conversion_ended(const FileIdentity& identity, const Outcome& outcome) {
  Conversion& conversion = conversions_.at(identity);
  Result<KeyInfo> result = outcome.error;
  if (outcome.ending == Ending::kDone) {
    result = take_in(outcome);
    if (result) remember(*conversion.file, result->digest);
  } else if (const auto given_up = conversion.attempts.count(outcome)) {
    result = *given_up;
  } else {
    return submit_conversion(identity);
  }
  auto waiting = std::move(conversion.waiting);
  conversions_.erase(identity);
  answer(std::move(waiting), result);
}

// The answer of a worker about a key; it is in the cache and whole.
Result<KeyInfo> KeyStore::take_in(const Outcome& outcome) {
  CUZK_TRY(info, decode<KeyInfo>(outcome.body));
  const bool sane = (info.curve == CurveId::kBn254 || info.curve == CurveId::kBls12_381) &&
                    info.n_variables > info.n_public && info.n_variables <= UINT32_MAX &&
                    std::filesystem::path(info.path).parent_path() == settings_.cache_folder;
  if (!sane) return bug("a worker's description of a key makes no sense", info.path);
  Entry& entry = entries_[info.digest];
  const bool replaces = !entry.info.path.empty() && info.converted;
  entry.info = info;
  entry.checked = true;
  entry.attempts = {};
  if (replaces) replaced_(info.digest);
  CUZK_CHECK(journal_.save_key(info));
  spdlog::info("key {}: {} variables, {} public, {}{}", to_hex(info.digest).substr(0, 16),
               info.n_variables, info.n_public, name_of(info.curve),
               info.converted ? ", prepared" : ", found sound in the cache");
  return info;
}

void KeyStore::remember(const ClientFile& file, const Digest& digest) {
  const auto now = identity_of(file.fd);
  if (!now || *now != file.identity) return;  // it changed meanwhile
  if (clock_.unix_ms() - file.identity.changed_ns / kNanosecondsPerMs < kSettledMs) return;
  identities_[file.identity] = digest;
  if (const auto saved = journal_.save_identity(file.identity, digest); !saved) {
    spdlog::warn("{}", saved.error().message());
  }
}

const KeyInfo* KeyStore::find(const Digest& digest) const {
  const auto found = entries_.find(digest);
  return found == entries_.end() ? nullptr : &found->second.info;
}

std::vector<KeyInfo> KeyStore::list() const {
  std::vector<KeyInfo> keys;
  for (const auto& [digest, entry] : entries_) keys.push_back(entry.info);
  return keys;
}

}  // namespace cuzk::supervisor
