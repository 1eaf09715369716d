#include "common/worker/options.hpp"

#include <gtest/gtest.h>

namespace cuzk {
namespace {

Result<WorkerOptions> parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"worker"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return parse_arguments(static_cast<int>(argv.size()), argv.data());
}

TEST(WorkerOptions, WhatTheLauncherBuildsTheWorkerReads) {
  WorkerOptions options;
  options.name = "gpu 0 --threads";  // no shell, no splitting
  options.epoch = Epoch{0xffffff};
  options.device = "cpu";
  options.threads = 12;
  options.log = {"debug", LogFormat::kJson};
  auto parsed = parse(to_arguments(options));
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(parsed->name, options.name);
  EXPECT_EQ(parsed->epoch, options.epoch);
  EXPECT_EQ(parsed->device, "cpu");
  EXPECT_EQ(parsed->threads, 12u);
  EXPECT_EQ(parsed->log.level, "debug");
  EXPECT_EQ(parsed->log.format, LogFormat::kJson);
}

TEST(WorkerOptions, EveryMistakeNamesItsOption) {
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{}, "--name"},
      {{"--name"}, "--name"},
      {{"--name", "x", "--epoch", "16777216"}, "--epoch"},
      {{"--name", "x", "--epoch", "-1"}, "--epoch"},
      {{"--name", "x", "--threads", "0"}, "--threads"},
      {{"--name", "x", "--threads", "4x"}, "--threads"},
      {{"--name", "x", "--threads", ""}, "--threads"},
      {{"--name", "x", "--log-format", "xml"}, "--log-format"},
      {{"--name", "x", "--colour", "red"}, "--colour"},
  };
  for (const auto& [arguments, option] : mistakes) {
    auto parsed = parse(arguments);
    ASSERT_FALSE(parsed) << option;
    EXPECT_EQ(parsed.error().error_class, ErrorClass::kBadRequest);
    EXPECT_NE(parsed.error().message().find(option), std::string::npos) << parsed.error().message();
  }
}

}  // namespace
}  // namespace cuzk
