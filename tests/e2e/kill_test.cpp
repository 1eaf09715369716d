// kill -9 of any worker in the middle of a job, and of the supervisor, still ends in a correct proof.
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <random>
#include <thread>

#include "tests/e2e/circuits.hpp"
#include "tests/e2e/daemon.hpp"

namespace cuzk::e2e {
namespace {

namespace fs = std::filesystem;

// Proves chain_1000 while `disturb` runs beside it, and checks the answer.
void prove_while(Daemon& daemon, const std::string& curve, const std::function<void()>& disturb) {
  const Circuit chain = circuit(curve, "chain_1000");
  const fs::path proof = daemon.folder() / "proof.json";
  const fs::path publics = daemon.folder() / "public.json";
  Output proved;
  std::thread client([&] {
    proved = daemon.ctl({"prove", "--zkey", chain.file(".zkey"), "--wtns", chain.file(".wtns"), "--proof",
                         proof, "--public", publics});
  });
  disturb();
  client.join();
  ASSERT_EQ(proved.exit_code, 0) << proved.err << daemon.log();
  const Output verified = daemon.ctl({"verify", "--vkey", chain.folder / "verification_key.json",
                                      "--public", publics, "--proof", proof});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
}

TEST(Kill, EachWorkerKilledAtRandomMomentsOfAJobCostsNothingButTime) {
  Daemon daemon;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (const std::string& name : daemon.worker_names()) {
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE(name + " round " + std::to_string(round));
      prove_while(daemon, round % 2 == 0 ? "bn128" : "bls12381", [&] {
        const pid_t pid = daemon.worker_pid(name);
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
        if (pid > 0) ::kill(pid, SIGKILL);
      });
    }
  }
  // All workers are back, and no slot is left in use.
  EXPECT_TRUE(eventually([&] {
    const auto status = daemon.status();
    for (const auto& worker : status.at("workers")) {
      if (worker.value("state", "") != "ready") return false;
    }
    return true;
  })) << daemon.status().dump(1);
  EXPECT_TRUE(eventually([&] {
    const auto status = daemon.status();
    for (const auto& slot : status.at("slots")) {
      if (slot.value("state", "") != "FREE") return false;
    }
    return true;
  })) << daemon.status().dump(1);
}

TEST(Kill, TheSupervisorKilledAfterAcceptingFinishesTheJobWhenItIsStartedAgain) {
  Daemon daemon;
  const Circuit chain = circuit("bls12381", "chain_1000");
  const Output accepted = daemon.ctl({"prove", "--zkey", chain.file(".zkey"), "--wtns", chain.file(".wtns"),
                                      "--request-id", "survivor", "--no-wait"});
  ASSERT_EQ(accepted.exit_code, 0) << accepted.err;
  const std::vector<std::string> names = daemon.worker_names();
  daemon.kill_and_restart();
  const fs::path proof = daemon.folder() / "proof.json";
  const fs::path publics = daemon.folder() / "public.json";
  const Output answered = daemon.ctl({"await", "survivor", "--proof", proof, "--public", publics});
  ASSERT_EQ(answered.exit_code, 0) << answered.err << daemon.log();
  EXPECT_EQ(daemon
                .ctl({"verify", "--vkey", chain.folder / "verification_key.json", "--public", publics,
                      "--proof", proof})
                .exit_code,
            0);
  EXPECT_EQ(daemon.worker_names(), names);
}

TEST(Kill, NoProcessOutlivesItsSupervisor) {
  Daemon daemon;
  std::vector<pid_t> pids;
  const auto status = daemon.status();
  for (const auto& worker : status.at("workers")) pids.push_back(worker.value("pid", 0));
  ASSERT_GE(pids.size(), 2u);
  EXPECT_EQ(daemon.stop(), 0) << daemon.log();
  for (const pid_t pid : pids) {
    EXPECT_TRUE(eventually([&] { return ::kill(pid, 0) != 0; })) << pid;
  }
}

}  // namespace
}  // namespace cuzk::e2e
