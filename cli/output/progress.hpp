// What a waiting command shows on standard error while the daemon works.
//
// On a terminal one line, written over and erased at the end; elsewhere a line when something long
// begins or goes on, so that a log shows life without noise. Nothing with --json.
#pragma once

#include <chrono>
#include <string>

#include "cli/command.hpp"
#include "common/protocol/messages.hpp"

namespace cuzk::cli {

class ProgressLine {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit ProgressLine(const Session& session) : session_(session) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const ProgressEvent& event) { show(event, std::chrono::steady_clock::now()); }
  void show(const ProgressEvent& event, TimePoint now);
  // Takes the line off the terminal, so that what follows stands alone.
  void clear();

 private:
  void show_on_terminal(const std::string& text, TimePoint now);
  void show_as_line(const ProgressEvent& event, const std::string& text, TimePoint now);

  const Session& session_;
  bool on_screen_ = false;
  TimePoint drawn_at_{};
  std::string stage_;  // the present stage
  TimePoint stage_since_{};
  std::string line_;  // the last line in a log
  TimePoint line_at_{};
};

}  // namespace cuzk::cli
