#include "cli/output/json.hpp"

#include <ostream>

namespace cuzk::cli {

namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json time_or_null(std::int64_t milliseconds) {
  return milliseconds == 0 ? Json() : Json(milliseconds);
}

Json to_json(const WorkerStatus& worker) {
  return {{"name", worker.name},
          {"device", text_or_null(worker.device)},
          {"state", worker.state},
          {"pid", worker.pid},
          {"epoch", worker.epoch},
          {"restarts", worker.restarts},
          {"task", text_or_null(worker.task)},
          {"step", text_or_null(worker.step)},
          {"resident_bytes", worker.resident_bytes},
          {"cpu_ms", worker.cpu_ms},
          {"last_death", text_or_null(worker.last_death)}};
}

Json to_json(const SlotStatus& slot) {
  return {{"index", slot.index},
          {"state", slot.state},
          {"owner", text_or_null(slot.owner)},
          {"generation", slot.generation},
          {"bytes", slot.bytes},
          {"job", slot.job.value == 0 ? Json() : Json(slot.job.value)}};
}

}  // namespace

Json to_json(const Error& error) {
  return {{"class", name_of(error.error_class)},
          {"what", error.what},
          {"where", text_or_null(error.where)},
          {"hint", text_or_null(error.hint)},
          {"message", error.message()}};
}

Json to_json(const KeyInfo& key) {
  return {{"digest", to_hex(key.digest)},   {"curve", name_of(key.curve)},
          {"variables", key.n_variables},   {"public_signals", key.n_public},
          {"domain_size", key.domain_size}, {"bytes", key.file_bytes},
          {"test_only", key.test_only},     {"path", key.path}};
}

Json to_json(const VersionReply& version) {
  return {{"version", version.version},
          {"revision", version.revision},
          {"protocol", version.protocol},
          {"pid", version.pid}};
}

Json to_json(const CircuitInfo& circuit) {
  return {{"name", circuit.name},
          {"key_name", circuit.key_name},
          {"key", to_json(circuit.key)},
          {"has_wasm", circuit.artefacts.has_wasm},
          {"has_program", circuit.artefacts.has_program},
          {"has_r1cs", circuit.artefacts.has_r1cs},
          {"added_ms", circuit.added_ms}};
}

Json to_json(const StatusReply& status) {
  Json workers = Json::array();
  for (const WorkerStatus& worker : status.workers) workers.push_back(to_json(worker));
  Json slots = Json::array();
  for (const SlotStatus& slot : status.slots) slots.push_back(to_json(slot));
  Json queue = Json::object();
  for (const QueueStatus& entry : status.queue) queue[entry.state] = entry.jobs;
  Json keys = Json::array();
  for (const KeyInfo& key : status.keys) keys.push_back(to_json(key));
  return {{"daemon", to_json(status.version)},
          {"uptime_ms", status.uptime_ms},
          {"state_folder", status.state_folder},
          {"workers", std::move(workers)},
          {"slots", std::move(slots)},
          {"queue", std::move(queue)},
          {"keys", std::move(keys)},
          {"jobs_done", status.jobs_done},
          {"jobs_failed", status.jobs_failed},
          {"payload_bytes_copied", status.payload_bytes_copied}};
}

Json to_json(const JobReport& report) {
  Json stages = Json::array();
  for (const StepTime& stage : report.stages) {
    stages.push_back({{"step", stage.step}, {"microseconds", stage.microseconds}});
  }
  return {{"job", report.job.value},
          {"request_id", text_or_null(report.request_id)},
          {"circuit", report.circuit_name},
          {"digest", to_hex(report.circuit)},
          {"curve", name_of(report.curve)},
          {"priority", name_of(report.priority)},
          {"state", name_of(report.state)},
          {"attempts", report.attempts},
          {"permille", report.permille},
          {"submitted_ms", report.submitted_ms},
          {"finished_ms", time_or_null(report.finished_ms)},
          {"device", text_or_null(report.device)},
          {"error", report.error ? to_json(*report.error) : Json()},
          {"stages", std::move(stages)}};
}

void print_json(const Json& json, const Session& session) {
  session.out() << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace cuzk::cli
