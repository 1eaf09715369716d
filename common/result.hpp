// Errors as values: `Result<T>` holds a T or an `Error`.
//
// Every error has one class, and the class decides what happens next, never the text: whether a job
// fails at once, is tried again here or elsewhere, or counts against a device. The text is for people
// and says what was wrong, where (file, section, offset, index), and what to do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace cuzk {

// What the receiver of an error does with it. The values are part of the worker and socket protocols.
enum class ErrorClass : std::uint8_t {
  kBadRequest = 1,      // the client's input: the job fails at once, nothing is tried again
  kRetryHere = 2,       // passing trouble (a full disk, a signal): the same worker may try again
  kRetryElsewhere = 3,  // this worker cannot, another may
  kDeviceFault = 4,     // the device or its context is broken: its worker ends and is started again
  kPoisonJob = 5,       // the job killed several workers: it fails, the devices are not blamed
  kOperator = 6,        // an operator's order (cancel, kill, drain) is the cause
  kBug = 7,             // an invariant of this program did not hold
  kBusy = 8,            // the queue is full or a time-out passed: the client may try again later
  kUnavailable = 9,     // there is no daemon, or it is shutting down
};

// The name used in JSON, logs and crash records.
constexpr const char* name_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kBadRequest: return "bad_request";
    case ErrorClass::kRetryHere: return "retry_here";
    case ErrorClass::kRetryElsewhere: return "retry_elsewhere";
    case ErrorClass::kDeviceFault: return "device_fault";
    case ErrorClass::kPoisonJob: return "poison_job";
    case ErrorClass::kOperator: return "operator";
    case ErrorClass::kBug: return "bug";
    case ErrorClass::kBusy: return "busy";
    case ErrorClass::kUnavailable: return "unavailable";
  }
  return "unknown";
}

struct Error {
  ErrorClass error_class = ErrorClass::kBug;
  std::string what;   // what was wrong: "coordinate is not below the field's modulus"
  std::string where;  // where: "k.zkey, section 5 (A), point 17, offset 0x2f40"; may be empty
  std::string hint;   // what to do: "download the key again"; may be empty

  // One line for people: "where: what (hint)".
  std::string message() const {
    std::string text = where.empty() ? what : where + ": " + what;
    if (!hint.empty()) text += " (" + hint + ")";
    return text;
  }
};

// The usual way to make an error: the input's fault.
inline Error bad_request(std::string what, std::string where = {}, std::string hint = {}) {
  return {ErrorClass::kBadRequest, std::move(what), std::move(where), std::move(hint)};
}
inline Error bug(std::string what, std::string where = {}) {
  return {ErrorClass::kBug, std::move(what), std::move(where), "please report this"};
}
// An error from errno, for example system_error(ErrorClass::kRetryHere, "open", path).
Error system_error(ErrorClass error_class, const char* call, std::string where);

// A value or an error. Test it, then use `*result` or `result.error()`.
template <class T>
class [[nodiscard]] Result {
 public:
  using Value = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an error: `return {};` succeeds.
template <>
class [[nodiscard]] Result<void> {
 public:
  using Value = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: by design

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};
using Status = Result<void>;

// CUZK_TRY(name, expression): evaluates a Result; on error returns the error from this function,
// otherwise binds the value to `name`.
#define CUZK_TRY_CONCAT_(a, b) a##b
#define CUZK_TRY_NAME_(line) CUZK_TRY_CONCAT_(cuzk_try_, line)
#define CUZK_TRY(name, expression)                                     \
  auto CUZK_TRY_NAME_(__LINE__) = (expression);                        \
  if (!CUZK_TRY_NAME_(__LINE__)) return std::move(CUZK_TRY_NAME_(__LINE__)).error(); \
  auto name = *std::move(CUZK_TRY_NAME_(__LINE__))
// The same for a Result whose value is not wanted.
#define CUZK_CHECK(expression)                                   \
  do {                                                           \
    if (auto cuzk_check = (expression); !cuzk_check)             \
      return std::move(cuzk_check).error();                      \
  } while (false)

}  // namespace cuzk
