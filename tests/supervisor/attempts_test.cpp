#include <gtest/gtest.h>

#include "supervisor/scheduler/attempts.hpp"

namespace cuzk::supervisor {
namespace {

Outcome failure(ErrorClass error_class, std::uint16_t worker = 0) {
  return {Ending::kFailed,
          {},
          Error{error_class, "trouble", {}, {}},
          {WorkerIndex{worker}, Epoch{1}},
          false};
}

Outcome death(bool blamed, std::uint16_t worker = 0) {
  return {Ending::kDied,
          {},
          Error{ErrorClass::kRetryElsewhere, "signal 9 (Killed)", {}, {}},
          {WorkerIndex{worker}, Epoch{1}},
          blamed};
}

TEST(Attempts, BadRequestIsFinalAtOnce) {
  Attempts attempts;
  const auto error = attempts.count(failure(ErrorClass::kBadRequest));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::kBadRequest);
}

TEST(Attempts, WhatMayPassIsTriedFiveTimes) {
  for (const auto error_class :
       {ErrorClass::kRetryHere, ErrorClass::kRetryElsewhere, ErrorClass::kDeviceFault,
        ErrorClass::kBug, ErrorClass::kOperator}) {
    Attempts attempts;
    for (int i = 0; i < 4; ++i)
      EXPECT_FALSE(attempts.count(failure(error_class))) << name_of(error_class);
    const auto error = attempts.count(failure(error_class));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->error_class, error_class);
  }
}

TEST(Attempts, ThreeKilledWorkersMakeAJobPoison) {
  Attempts attempts;
  EXPECT_FALSE(attempts.count(death(true)));
  EXPECT_FALSE(attempts.count(death(true)));
  const auto error = attempts.count(death(true));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::kPoisonJob);
  EXPECT_NE(error->message().find("signal 9"), std::string::npos);
}

TEST(Attempts, AVictimOfAnotherTaskIsNotBlamed) {
  Attempts attempts;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(attempts.count(death(false)));
  EXPECT_EQ(attempts.kills, 0U);
}

TEST(Attempts, TheWorkerThatFailedIsAvoidedUnlessItMayTryAgain) {
  Attempts attempts;
  EXPECT_FALSE(attempts.count(failure(ErrorClass::kRetryHere, 3)));
  EXPECT_FALSE(attempts.avoid);
  EXPECT_FALSE(attempts.count(failure(ErrorClass::kRetryElsewhere, 3)));
  EXPECT_EQ(attempts.avoid, WorkerIndex{3});
  EXPECT_FALSE(attempts.count(death(true, 5)));
  EXPECT_EQ(attempts.avoid, WorkerIndex{5});
}

}  // namespace
}  // namespace cuzk::supervisor
