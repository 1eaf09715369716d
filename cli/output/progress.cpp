#include "cli/output/progress.hpp"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/output/text.hpp"

namespace cuzk::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kRedraw = 50ms;
// In a log: a stage is worth a line once it lasts so long, and another each time so much later.
constexpr auto kLongStage = 1s;
constexpr auto kNextLine = 5s;

std::string text_of(const ProgressEvent& event) {
  std::string text = event.job.value == 0 ? "" : fmt::format("job {}: ", event.job.value);
  text += event.stage;
  if (!event.step.empty()) text += ": " + event.step;
  if (event.permille != 0) text += ", " + percent_text(event.permille);
  return one_line(text);
}

}  // namespace

void ProgressLine::show(const ProgressEvent& event, TimePoint now) {
  if (session_.json) return;
  if (event.stage != stage_) {
    stage_ = event.stage;
    stage_since_ = now;
  }
  const std::string text = text_of(event);
  if (session_.terminal.err_is_terminal) {
    show_on_terminal(text, now);
  } else {
    show_as_line(event, text, now);
  }
}

void ProgressLine::show_on_terminal(const std::string& text, TimePoint now) {
  if (on_screen_ && now - drawn_at_ < kRedraw) return;
  // Back to the start of the line, erase, and no line feed, so that the next one takes its place. A
  // line that wraps could not be erased.
  fmt::print(session_.err(), "\r\x1b[K{}", text.substr(0, 78));
  session_.err().flush();
  on_screen_ = true;
  drawn_at_ = now;
}

void ProgressLine::show_as_line(const ProgressEvent& event, const std::string& text,
                                TimePoint now) {
  if (now - stage_since_ < kLongStage) return;
  if (line_ == event.stage && now - line_at_ < kNextLine) return;
  fmt::print(session_.err(), "{}\n", text);
  session_.err().flush();
  line_ = event.stage;
  line_at_ = now;
}

void ProgressLine::clear() {
  if (!on_screen_) return;
  fmt::print(session_.err(), "\r\x1b[K");
  session_.err().flush();
  on_screen_ = false;
}

}  // namespace cuzk::cli
