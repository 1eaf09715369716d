// Waiting for a job, and what is done with its answer: shared by prove and await.
#pragma once

#include <filesystem>
#include <string>

#include "cli/command.hpp"
#include "cli/deadline.hpp"
#include "common/protocol/messages.hpp"

namespace cuzk::cli {

// Where the answer goes; empty: to standard output.
struct AnswerFiles {
  std::filesystem::path proof;
  std::filesystem::path publics;
};

// --proof and --public.
void add_answer_files(CLI::App& app, AnswerFiles& files);
Status check_answer_files(const AnswerFiles& files);

// Waits for the job's end, writes or prints its answer, and returns the exit code. When the wait
// ends before the job does, the message says how to go on. `id` is a job's number or a request id.
Result<int> wait_for_answer(Client& client, const std::string& id, const Deadline& deadline,
                            const AnswerFiles& files, Session& session);

}  // namespace cuzk::cli
