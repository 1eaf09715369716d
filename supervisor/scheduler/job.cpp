#include "supervisor/scheduler/job.hpp"

#include <algorithm>

namespace cuzk::supervisor {

void add_stage(JobRecord& record, std::string_view stage, std::uint64_t microseconds) {
  const auto found = std::ranges::find(record.stages, stage, &StepTime::step);
  if (found == record.stages.end()) {
    record.stages.push_back({std::string(stage), microseconds});
  } else {
    found->microseconds += microseconds;
  }
}

JobReport report_of(const JobRecord& record, bool with_answer) {
  JobReport report;
  report.job = record.id;
  report.request_id = record.request_id;
  report.circuit_name = record.circuit_name.empty() ? record.key_name : record.circuit_name;
  report.circuit = record.circuit;
  report.curve = record.curve;
  report.priority = record.priority;
  report.state = record.state;
  report.attempts = record.attempts;
  report.permille = is_final(record.state) ? 1000 : 0;
  report.submitted_ms = record.submitted_ms;
  report.finished_ms = record.finished_ms;
  report.device = record.device;
  report.error = record.error;
  report.stages = record.stages;
  if (with_answer && record.state == JobState::kDone) {
    report.proof = record.proof;
    report.publics = record.publics;
  }
  return report;
}

}  // namespace cuzk::supervisor
