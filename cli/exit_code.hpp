// What cuzkctl's exit code says, for scripts.
#pragma once

#include "common/result.hpp"

namespace cuzk::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;    // the proof or the verification failed, or a job was cancelled
inline constexpr int kUsage = 2;     // bad request or usage: the same again will fail again
inline constexpr int kNoDaemon = 3;  // no daemon answers, or it went away
inline constexpr int kBusy = 4;      // busy or timed out: the same again may work later
inline constexpr int kInterrupted = 130;  // Ctrl-C, as shells report it

constexpr int exit_code_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kBadRequest: return kUsage;
    case ErrorClass::kUnavailable: return kNoDaemon;
    case ErrorClass::kBusy: return kBusy;
    default: return kFailed;
  }
}

}  // namespace cuzk::cli
