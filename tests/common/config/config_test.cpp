// The configuration file: defaults, every key, and every kind of mistake with its line.
#include "common/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace cuzk {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void expect_equal(const Config& a, const Config& b) {
  EXPECT_TRUE(a.daemon == b.daemon);
  EXPECT_TRUE(a.srs == b.srs);
  EXPECT_TRUE(a.memory == b.memory);
  EXPECT_TRUE(a.synthesis == b.synthesis);
  EXPECT_TRUE(a.gpus == b.gpus);
  EXPECT_TRUE(a.scheduler == b.scheduler);
  EXPECT_TRUE(a.pipeline == b.pipeline);
  EXPECT_TRUE(a.supervision == b.supervision);
  EXPECT_EQ(a.logging.level, b.logging.level);
  EXPECT_EQ(a.logging.format, b.logging.format);
}

std::string problems(std::string_view text) {
  std::string all;
  for (const ConfigProblem& problem : parse_config(text).problems) {
    all += std::to_string(problem.line) + ": " + problem.text + "\n";
  }
  return all;
}

Config parsed(std::string_view text) {
  ConfigReport report = parse_config(text);
  EXPECT_THAT(problems(text), IsEmpty());
  return report.config;
}

std::string etc_file() {
  std::ifstream file(CUZK_ETC "/cuzk.toml");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Config, AnEmptyFileMeansTheDefaults) {
  expect_equal(parsed(""), Config{});
  EXPECT_THAT(check_config(Config{}), IsEmpty());
}

TEST(Config, TheDefaultsAreTheDocumentedOnes) {
  const Config config;
  EXPECT_EQ(config.daemon.socket, "/run/cuzk/cuzk.sock");
  EXPECT_EQ(config.daemon.state_dir, "/var/lib/cuzk");
  EXPECT_EQ(config.key_folder(), "/var/lib/cuzk/keys");
  EXPECT_THAT(config.gpus.devices, ElementsAre("cpu"));
  EXPECT_EQ(config.supervision.restart_delay, milliseconds(200));
  EXPECT_EQ(config.supervision.restart_delay_max, seconds(30));
  EXPECT_EQ(config.daemon.keep_jobs_for, hours(7 * 24));
}

TEST(Config, TheFileInEtcSaysTheDefaultsOfEveryKey) {
  const std::string text = etc_file();
  ASSERT_FALSE(text.empty());
  expect_equal(parsed(text), Config{});
  // Commented keys count as documented: their default is that they are not set.
  std::string uncommented;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ' &&
        line.find('=') != std::string::npos) {
      line.erase(0, 1);
    }
    uncommented += line + "\n";
  }
  const toml::table table = toml::parse(uncommented);
  for (const std::string& key : config_keys()) {
    const std::size_t end = key.find(']');
    const auto node = table[key.substr(1, end - 1)][key.substr(end + 2)];
    EXPECT_TRUE(static_cast<bool>(node)) << key << " is not in etc/cuzk.toml";
  }
}

TEST(Config, EveryKeyIsRead) {
  const Config config = parsed(R"(
[daemon]
socket = "/tmp/a.sock"
state_dir = "/tmp/state"
listen = "127.0.0.1:9820"
max_connections = 7
max_queue = 8
keep_jobs = 9
keep_jobs_for = "12h"
[srs]
param_cache = "/tmp/keys"
preload = ["one", "two"]
[memory]
total_budget = "256GiB"
safety_margin = 1048576
eviction_min_idle = "90s"
[synthesis]
partition_workers = 3
threads = 4
[gpus]
devices = ["cpu", 0]
gpu_threads = 5
gpu_workers_per_device = 2
vram_limit = "16GiB"
[scheduler]
max_batch_size = 10
max_batch_wait_ms = 250
[pipeline]
synthesis_lookahead = 6
[supervision]
restart_delay = "1s"
restart_delay_max = "2m"
restart_forgiven_after = "5m"
stop_patience = "0s"
max_attempts = 11
[logging]
level = "debug"
format = "json"
)");
  EXPECT_EQ(config.daemon.socket, "/tmp/a.sock");
  EXPECT_EQ(config.daemon.state_dir, "/tmp/state");
  EXPECT_EQ(config.daemon.listen, "127.0.0.1:9820");
  EXPECT_EQ(config.daemon.max_connections, 7u);
  EXPECT_EQ(config.daemon.max_queue, 8u);
  EXPECT_EQ(config.daemon.keep_jobs, 9u);
  EXPECT_EQ(config.daemon.keep_jobs_for, hours(12));
  EXPECT_EQ(config.key_folder(), "/tmp/keys");
  EXPECT_THAT(config.srs.preload, ElementsAre("one", "two"));
  EXPECT_EQ(config.memory.total_budget, std::uint64_t{256} << 30);
  EXPECT_EQ(config.memory.safety_margin, 1048576u);
  EXPECT_EQ(config.memory.eviction_min_idle, seconds(90));
  EXPECT_EQ(config.synthesis.partition_workers, 3u);
  EXPECT_EQ(config.synthesis.threads, 4u);
  EXPECT_THAT(config.gpus.devices, ElementsAre("cpu", "0"));
  EXPECT_EQ(config.gpus.gpu_threads, 5u);
  EXPECT_EQ(config.gpus.gpu_workers_per_device, 2u);
  EXPECT_EQ(config.gpus.vram_limit, std::uint64_t{16} << 30);
  EXPECT_EQ(config.scheduler.max_batch_size, 10u);
  EXPECT_EQ(config.scheduler.max_batch_wait, milliseconds(250));
  EXPECT_EQ(config.pipeline.synthesis_lookahead, 6u);
  EXPECT_EQ(config.supervision.restart_delay, seconds(1));
  EXPECT_EQ(config.supervision.restart_delay_max, minutes(2));
  EXPECT_EQ(config.supervision.restart_forgiven_after, minutes(5));
  EXPECT_EQ(config.supervision.stop_patience, seconds(0));
  EXPECT_EQ(config.supervision.max_attempts, 11u);
  EXPECT_EQ(config.logging.level, "debug");
  EXPECT_EQ(config.logging.format, LogFormat::kJson);
}

TEST(Config, AKeyWithoutEffectIsNotedAndOneWithEffectIsNot) {
  EXPECT_THAT(parsed("[daemon]\nlisten = \"0.0.0.0:9820\"\nmax_queue = 5").notes,
              ElementsAre(AllOf(HasSubstr("[daemon] listen"), HasSubstr("no effect"))));
  EXPECT_THAT(parsed(etc_file()).notes, IsEmpty()) << "naming a default changes nothing";
}

TEST(Config, AnUnknownKeyIsAnErrorThatNamesTheNearestKnownOne) {
  EXPECT_EQ(problems("[daemon]\nsokcet = \"/tmp/s\""),
            "2: [daemon] sokcet: unknown key; did you mean socket?\n");
  EXPECT_EQ(problems("[synthesis]\npartition_worker = 2"),
            "2: [synthesis] partition_worker: unknown key; did you mean partition_workers?\n");
  EXPECT_EQ(problems("[synthesis]\nlevel = \"info\""),
            "2: [synthesis] level: unknown key; it belongs to [logging]\n");
  EXPECT_EQ(problems("[logging]\nstate-dir = \"/tmp\""),
            "2: [logging] state-dir: unknown key; did you mean [daemon] state_dir?\n");
  EXPECT_EQ(problems("[logging]\nzzzzzzzzzz = 1"),
            "2: [logging] zzzzzzzzzz: unknown key; there are level, format\n");
}

TEST(Config, AnUnknownSectionAndAKeyInNoSectionAreErrors) {
  EXPECT_EQ(problems("[gpu]\ndevices = [\"cpu\"]"),
            "1: [gpu]: unknown section; did you mean [gpus]?\n");
  EXPECT_THAT(problems("[wholly-different]"), HasSubstr("there are daemon, srs,"));
  EXPECT_EQ(problems("socket = \"/tmp/s\""),
            "1: socket: stands in no section; it belongs to [daemon]\n");
  EXPECT_EQ(problems("daemon = 3"), "1: daemon: must be a section, [daemon]\n");
}

struct Mistake {
  const char* text;
  const char* problem;
};

TEST(Config, AWrongTypeOrRangeIsAnErrorThatSaysWhatWouldBeRight) {
  const Mistake mistakes[] = {
      {"[daemon]\nsocket = 7", "[daemon] socket: must be a path, is 7"},
      {"[daemon]\nsocket = \"\"", "[daemon] socket: must be a path, is \"\""},
      {"[daemon]\nlisten = true", "[daemon] listen: must be text, is true or false"},
      {"[daemon]\nmax_queue = 0", "[daemon] max_queue: must be a number from 1 to 1000000, is 0"},
      {"[daemon]\nmax_queue = 4294967297", "must be a number from 1 to 1000000, is 4294967297"},
      {"[daemon]\nmax_queue = -1", "must be a number from 1 to 1000000, is -1"},
      {"[daemon]\nmax_queue = 1.5", "must be a number from 1 to 1000000, is a fraction"},
      {"[daemon]\nmax_queue = \"10\"", "must be a number from 1 to 1000000, is \"10\""},
      {"[daemon]\nkeep_jobs_for = 7",
       "must be a time from \"0ms\" to \"3650d\" (units ms, s, m, h, d), is 7"},
      {"[daemon]\nkeep_jobs_for = \"7 weeks\"", "is \"7 weeks\""},
      {"[srs]\npreload = \"one\"", "[srs] preload: must be a list of text, is \"one\""},
      {"[srs]\npreload = [\"one\", 2]", "must be a list of text; entry 2, is 2"},
      {"[memory]\ntotal_budget = \"lots\"",
       "must be a size such as \"5GiB\" or \"512MiB\" or \"auto\", is \"lots\""},
      {"[memory]\nsafety_margin = \"auto\"",
       "must be a size such as \"5GiB\" or \"512MiB\", is \"auto\""},
      {"[memory]\nsafety_margin = \"99999999TiB\"", "is \"99999999TiB\""},
      {"[memory]\nsafety_margin = -5", "is -5"},
      {"[gpus]\ndevices = []", "[gpus] devices: must be a list of at least one device, is empty"},
      {"[gpus]\ndevices = \"cpu\"", "must be a list of at least one device, is \"cpu\""},
      {"[gpus]\ndevices = [\"cpu\", -1]", "entry 2, is -1"},
      {"[scheduler]\nmax_batch_wait_ms = 3600001",
       "must be a number from 0 to 3600000, is 3600001"},
      {"[supervision]\nrestart_delay = \"0ms\"", "must be a time from \"1ms\" to \"1d\""},
      {"[logging]\nlevel = \"loud\"",
       "must be one of \"trace\", \"debug\", \"info\", \"warn\", \"error\", \"off\", is \"loud\""},
      {"[logging]\nformat = 2020-01-01", "must be one of \"text\", \"json\", is a date or time"},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.text);
    const ConfigReport report = parse_config(mistake.text);
    ASSERT_THAT(report.problems, SizeIs(1));
    EXPECT_EQ(report.problems[0].line, 2u);
    EXPECT_THAT(report.problems[0].text, HasSubstr(mistake.problem));
    expect_equal(report.config, Config{});
  }
}

TEST(Config, AllMistakesAreReportedAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(problems("[logging]\n"
                     "level = 1\n"
                     "[daemon]\n"
                     "max_queue = 0\n"
                     "stat_dir = \"/tmp\"\n"
                     "[unknown_thing]\n"),
            "2: [logging] level: must be one of \"trace\", \"debug\", \"info\", \"warn\", "
            "\"error\", \"off\", is 1\n"
            "4: [daemon] max_queue: must be a number from 1 to 1000000, is 0\n"
            "5: [daemon] stat_dir: unknown key; did you mean state_dir?\n"
            "6: [unknown_thing]: unknown section; there are daemon, srs, memory, synthesis, gpus, "
            "scheduler, "
            "pipeline, supervision, logging\n");
}

TEST(Config, TextThatIsNotTomlIsAnErrorWithItsLine) {
  const ConfigReport report = parse_config("[daemon]\nsocket = \n");
  ASSERT_THAT(report.problems, SizeIs(1));
  EXPECT_EQ(report.problems[0].line, 2u);
  EXPECT_THAT(parse_config("[daemon]\nmax_queue = 1\nmax_queue = 2").problems, SizeIs(1));
  EXPECT_THAT(parse_config(std::string_view("\xff\xfe", 2)).problems, SizeIs(1));
}

class ConfigFile : public testing::Test {
 protected:
  fs::path write(const std::string& text) {
    path_ = fs::path(testing::TempDir()) / ("cuzk-config-" + std::to_string(::getpid()) + ".toml");
    std::ofstream(path_) << text;
    return path_;
  }
  ~ConfigFile() override {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  fs::path path_;
};

TEST_F(ConfigFile, LoadsOrReportsEveryProblemWithFileAndLine) {
  const auto good = load_config(write("[daemon]\nmax_queue = 3\n"));
  ASSERT_TRUE(good.ok()) << good.error().message();
  EXPECT_EQ(good->daemon.max_queue, 3u);

  const auto bad = load_config(write("[daemon]\nmax_queue = \"x\"\nsocket = 1\n"));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().error_class, ErrorClass::kBadRequest);
  EXPECT_THAT(bad.error().message(), AllOf(HasSubstr(path_.string() + ":2: [daemon] max_queue"),
                                           HasSubstr(path_.string() + ":3: [daemon] socket")));
}

TEST_F(ConfigFile, RelationsBetweenValuesAreCheckedToo) {
  const auto loaded =
      load_config(write("[gpus]\ndevices = [\"cpu\", 3]\n[supervision]\n"
                        "restart_delay = \"2s\"\nrestart_delay_max = \"1s\"\n[daemon]\n"
                        "socket = \"" +
                        std::string(120, 's') + "\"\n"));
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().message(), AllOf(HasSubstr("knows no device \"3\""),
                                              HasSubstr("is longer than restart_delay_max"),
                                              HasSubstr("a socket's path has 1 to 107 bytes")));
}

TEST_F(ConfigFile, AFileThatIsNotThereIsAnError) {
  const auto loaded = load_config("/nonexistent/cuzk.toml");
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().message(), HasSubstr("/nonexistent/cuzk.toml"));
}

TEST(Config, WorkersAndThreadsFollowTheProcessorsUnlessTheyAreGiven) {
  Config config;
  EXPECT_EQ(config.synth_workers(1), 2u);
  EXPECT_EQ(config.synth_workers(2), 2u);
  EXPECT_EQ(config.synth_workers(16), 4u);
  EXPECT_EQ(config.synth_workers(500), 20u);
  EXPECT_EQ(config.synthesis_threads(0), 1u);
  EXPECT_EQ(config.synthesis_threads(6), 6u);
  EXPECT_EQ(config.device_threads(6), 6u);
  config.gpus.devices = {"cpu", "cpu", "cpu", "cpu"};
  EXPECT_EQ(config.device_threads(6), 1u);
  EXPECT_EQ(config.device_threads(2), 1u);
  config.synthesis.partition_workers = 1;
  config.synthesis.threads = 3;
  config.gpus.gpu_threads = 9;
  EXPECT_EQ(config.synth_workers(16), 1u);
  EXPECT_EQ(config.synthesis_threads(16), 3u);
  EXPECT_EQ(config.device_threads(16), 9u);
}

}  // namespace
}  // namespace cuzk
