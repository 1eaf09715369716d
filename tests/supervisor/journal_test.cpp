#include "supervisor/journal/journal.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <sqlite3.h>

#include "tests/supervisor/temporary_folder.hpp"

namespace cuzk::supervisor {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder.path() / "journal.db"; }
  Journal open() {
    auto journal = Journal::open(path());
    EXPECT_TRUE(journal) << journal.error().message();
    return *std::move(journal);
  }
  static JobRecord job(std::uint64_t id, std::string request = {}) {
    JobRecord record;
    record.id = JobId{id};
    record.request_id = std::move(request);
    record.uid = 1000;
    record.circuit_name = "merkle";
    record.key_name = "k.zkey";
    record.circuit_folder = "merkle.17";
    record.circuit = Digest{7};
    record.curve = CurveId::kBls12_381;
    record.priority = Priority::kHigh;
    record.submitted_ms = 123;
    record.input_kind = InputKind::kJson;
    record.input_name = "input.json";
    record.input_inline = std::string("a\0b", 3);
    return record;
  }
  static void finish(Journal& journal, std::uint64_t id, JobState state = JobState::kDone,
                     std::int64_t at = 200) {
    JobRecord record = job(id);
    record.state = state;
    record.finished_ms = at;
    record.proof = "proof";
    record.publics = "publics";
    record.stages = {{"total", 5}};
    record.device = "cpu";
    ASSERT_TRUE(journal.finish_job(record));
  }
  // Runs SQL on the file from outside.
  void tamper(const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  TemporaryFolder folder;
};

TEST_F(JournalTest, KeepsAJobWithAllItsFields) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.insert_job(job(1, "request")));
    ASSERT_TRUE(journal.commit());
  }
  Journal journal = open();
  const auto jobs = journal.open_jobs();
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 1U);
  const JobRecord& found = jobs->front();
  const JobRecord expected = job(1, "request");
  EXPECT_EQ(found.id, expected.id);
  EXPECT_EQ(found.request_id, expected.request_id);
  EXPECT_EQ(found.uid, expected.uid);
  EXPECT_EQ(found.circuit_name, expected.circuit_name);
  EXPECT_EQ(found.key_name, expected.key_name);
  EXPECT_EQ(found.circuit_folder, expected.circuit_folder);
  EXPECT_EQ(found.circuit, expected.circuit);
  EXPECT_EQ(found.curve, expected.curve);
  EXPECT_EQ(found.priority, expected.priority);
  EXPECT_EQ(found.submitted_ms, expected.submitted_ms);
  EXPECT_EQ(found.input_kind, expected.input_kind);
  EXPECT_EQ(found.input_name, expected.input_name);
  EXPECT_EQ(*journal.input_of(JobId{1}), expected.input_inline);
  EXPECT_EQ(*journal.find_request("request"), JobId{1});
}

TEST_F(JournalTest, JournalForgetsWhatWasNotCommitted) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.insert_job(job(1)));
    ASSERT_TRUE(journal.commit());
    ASSERT_TRUE(journal.insert_job(job(2)));
    EXPECT_TRUE(journal.has_uncommitted());
    // Dies here.
  }
  Journal journal = open();
  EXPECT_EQ(journal.open_jobs()->size(), 1U);
  EXPECT_EQ(*journal.next_job_id(), JobId{2});
}

TEST_F(JournalTest, AFinishedJobHasItsAnswerAndNoInput) {
  Journal journal = open();
  ASSERT_TRUE(journal.insert_job(job(1)));
  finish(journal, 1);
  ASSERT_TRUE(journal.commit());
  const auto found = journal.find_job(JobId{1});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->state, JobState::kDone);
  EXPECT_EQ((*found)->proof, "proof");
  EXPECT_EQ((*found)->publics, "publics");
  EXPECT_EQ((*found)->stages.at(0).step, "total");
  EXPECT_FALSE((*found)->error);
  EXPECT_FALSE(journal.input_of(JobId{1}));
  EXPECT_TRUE(journal.open_jobs()->empty());
}

TEST_F(JournalTest, AnInputIsNotLeftInTheFileAfterTheJobEnded) {
  const std::string secret = "a-witness-that-nobody-may-find";
  {
    Journal journal = open();
    JobRecord record = job(1);
    record.input_inline = secret;
    ASSERT_TRUE(journal.insert_job(record));
    ASSERT_TRUE(journal.commit());
    finish(journal, 1);
    ASSERT_TRUE(journal.commit());
  }
  std::ifstream file(path(), std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(content.empty());
  EXPECT_EQ(content.find(secret), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path().string() + "-wal"));
}

TEST_F(JournalTest, AnErrorSurvives) {
  Journal journal = open();
  JobRecord record = job(1);
  ASSERT_TRUE(journal.insert_job(record));
  record.state = JobState::kFailed;
  record.error = Error{ErrorClass::kPoisonJob, "what", "where", "hint"};
  ASSERT_TRUE(journal.finish_job(record));
  const auto found = journal.find_job(JobId{1});
  ASSERT_TRUE(found && *found && (*found)->error);
  EXPECT_EQ((*found)->error->error_class, ErrorClass::kPoisonJob);
  EXPECT_EQ((*found)->error->message(), record.error->message());
}

TEST_F(JournalTest, ARequestIdIsTakenOnce) {
  Journal journal = open();
  ASSERT_TRUE(journal.insert_job(job(1, "same")));
  EXPECT_FALSE(journal.insert_job(job(2, "same")));
  ASSERT_TRUE(journal.insert_job(job(3)));
  ASSERT_TRUE(journal.insert_job(job(4)));  // none is not the same as none
}

TEST_F(JournalTest, PruningKeepsTheNewestAndOpenOnesAndNeverGivesAnIdAgain) {
  Journal journal = open();
  for (std::uint64_t id = 1; id <= 6; ++id) {
    ASSERT_TRUE(journal.insert_job(job(id)));
    if (id != 2) finish(journal, id, JobState::kDone, 1000);
  }
  EXPECT_EQ(*journal.prune(3, 0), 2U);  // 1 and 3; 2 is open
  EXPECT_EQ(*journal.prune(3, 5000), 3U);
  EXPECT_EQ(journal.newest_jobs(10)->size(), 1U);
  EXPECT_EQ(*journal.next_job_id(), JobId{7});
  ASSERT_TRUE(journal.commit());
}

TEST_F(JournalTest, ListsTheNewestFirst) {
  Journal journal = open();
  for (std::uint64_t id = 1; id <= 5; ++id) ASSERT_TRUE(journal.insert_job(job(id)));
  const auto newest = journal.newest_jobs(2);
  ASSERT_EQ(newest->size(), 2U);
  EXPECT_EQ(newest->at(0).id, JobId{5});
  EXPECT_EQ(newest->at(1).id, JobId{4});
}

TEST_F(JournalTest, KeepsKeysIdentitiesAndCircuits) {
  const FileIdentity file{1, 2, 3, -4, UINT32_MAX};
  {
    Journal journal = open();
    KeyInfo key;
    key.digest = Digest{9};
    key.curve = CurveId::kBn254;
    key.path = "/keys/9";
    ASSERT_TRUE(journal.save_key(key));
    ASSERT_TRUE(journal.save_identity(file, key.digest));
    CircuitRecord circuit;
    circuit.info.name = "c";
    circuit.info.key = key;
    circuit.folder = "c.1";
    ASSERT_TRUE(journal.save_circuit(circuit));
    ASSERT_TRUE(journal.commit());
  }
  Journal journal = open();
  EXPECT_EQ(journal.keys()->at(0).path, "/keys/9");
  EXPECT_EQ(journal.identities()->at(file), Digest{9});
  EXPECT_EQ(journal.circuits()->at(0).folder, "c.1");
  ASSERT_TRUE(journal.remove_circuit("c"));
  EXPECT_TRUE(journal.circuits()->empty());
}

TEST_F(JournalTest, ANewerJournalIsRefusedAndLeftAlone) {
  { (void)open(); }
  tamper("PRAGMA user_version = 99");
  const auto refused = Journal::open(path());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("schema 99"), std::string::npos);
}

TEST_F(JournalTest, AnotherProgramsDatabaseIsRefused) {
  tamper("CREATE TABLE recipes (name TEXT)");
  const auto refused = Journal::open(path());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("not a cuzk journal"), std::string::npos);
}

TEST_F(JournalTest, AFileThatIsNoDatabaseIsRefused) {
  std::ofstream(path()) << std::string(10'000, 'x');
  const auto refused = Journal::open(path());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("damaged"), std::string::npos);
}

TEST_F(JournalTest, DamageInTheMiddleIsFoundAtTheStart) {
  {
    Journal journal = open();
    for (std::uint64_t id = 1; id <= 200; ++id) ASSERT_TRUE(journal.insert_job(job(id)));
    ASSERT_TRUE(journal.commit());
  }
  const auto size = std::filesystem::file_size(path());
  ASSERT_GT(size, 16'384U);
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file << std::string(4096, '\x5a');
  }
  const auto refused = Journal::open(path());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("damaged"), std::string::npos)
      << refused.error().message();
}

}  // namespace
}  // namespace cuzk::supervisor
