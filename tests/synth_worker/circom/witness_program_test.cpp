// circom's C++ witness program as a child: the right witness from a real one, and an error that says what
// happened from every one that misbehaves.
#include "synth_worker/circom/witness_program.hpp"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/formats/printable.hpp"
#include "tests/synth_worker/circom/compiled_circuit.hpp"

namespace cuzk::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kMult2Input = R"({"a": "3", "b": "11"})";

class WitnessProgram : public testing::Test {
 protected:
  void SetUp() override {
    write_bytes(folder_ / "program.dat", std::string(6144 + 8 * 4, '\0'));
    write_bytes(folder_ / "good.wtns", read_bytes(data_path("circom/bn128/mult2/mult2.wtns")));
  }
  // A C program whose main has these statements; argv is (program, input, output).
  void make_program(std::string_view statements) {
    compile_c(folder_ / "program", fmt::format(R"(
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char buffer[1 << 20];
static size_t load(const char* path) {{
  FILE* file = fopen(path, "rb");
  if (file == NULL) abort();
  const size_t size = fread(buffer, 1, sizeof buffer, file);
  fclose(file);
  return size;
}}
static void store(const char* path, size_t size) {{
  FILE* file = fopen(path, "wb");
  fwrite(buffer, 1, size, file);
  fclose(file);
}}
static const char* kGood = "{}";
int main(int argc, char** argv) {{ {} return 0; }}
)",
                                               (folder_ / "good.wtns").string(), statements));
  }
  Result<Witness> run(std::string_view input = kMult2Input, CurveId curve = CurveId::kBn254,
                      std::uint64_t n_variables = 4, const ProgramLimits& limits = {},
                      const KeepRunning& keep_running = {}) {
    CUZK_TRY(signals, parse_input(input, curve, "input.json"));
    Witness witness(n_variables * 32);
    CUZK_CHECK(run_witness_program({folder_ / "program", signals, "input.json", curve, n_variables,
                                    limits, keep_running},
                                   witness));
    return witness;
  }
  void expect_bad_request(const Result<Witness>& witness, const std::string& what) {
    ASSERT_FALSE(witness.ok());
    EXPECT_EQ(witness.error().error_class, ErrorClass::kBadRequest);
    EXPECT_THAT(witness.error().message(), HasSubstr(what));
  }
  Status check(std::uint64_t n_variables = 4) {
    return check_witness_program(folder_ / "program", folder_ / "program.dat", "the program",
                                 n_variables, {}, {});
  }

  TemporaryFolder folder_;
};

TEST_F(WitnessProgram, GivesTheWitnessThatItWrote) {
  make_program("store(argv[2], load(kGood));");
  const auto witness = run();
  ASSERT_TRUE(witness.ok()) << witness.error().message();
  EXPECT_TRUE(*witness == wtns_values(folder_ / "good.wtns"));
}

TEST_F(WitnessProgram, GetsCanonicalDecimalStringsInOneJsonObject) {
  make_program("const size_t n = load(argv[1]); buffer[n] = 0; fputs(buffer, stderr); exit(1);");
  expect_bad_request(run(R"({"a": -1, "b": [["0x10", 2], [3, "4"]], "bus": {"x": 5}})"),
                     printable(R"({"a":["21888242871839275222246405745257275088548364400416034343698204)"
                               R"(186575808495616"],"b":["16","2","3","4"],"bus.x":["5"]})",
                               1000));
}

TEST_F(WitnessProgram, IsStartedWithNothingButItsTwoFiles) {
  make_program("if (argc != 3 || getenv(\"HOME\") || fcntl(5, F_GETFD) != -1) exit(9);"
               "store(argv[2], load(kGood));");
  ::setenv("HOME", "/", 0);
  EXPECT_TRUE(run().ok());
}

TEST_F(WitnessProgram, ThatFailsIsQuoted) {
  make_program("fputs(\"Not all inputs have been set. Only 1 out of 2\\n\", stderr); abort();");
  const auto witness = run();
  expect_bad_request(witness, "signal 6");
  EXPECT_THAT(witness.error().message(), HasSubstr("Only 1 out of 2"));
}

TEST_F(WitnessProgram, ThatCrashesSaysSo) {
  make_program("raise(SIGSEGV);");
  expect_bad_request(run(), "signal 11");
}

TEST_F(WitnessProgram, ThatHangsIsKilled) {
  make_program("for (;;) pause();");
  ProgramLimits limits;
  limits.time = std::chrono::milliseconds(200);
  expect_bad_request(run(kMult2Input, CurveId::kBn254, 4, limits), "ran longer than 0.");
}

TEST_F(WitnessProgram, IsKilledWhenItsJobIsCancelled) {
  make_program("for (;;) pause();");
  int asked = 0;
  const auto witness =
      run(kMult2Input, CurveId::kBn254, 4, {}, [&asked] { return ++asked < 3; });
  ASSERT_FALSE(witness.ok());
  EXPECT_EQ(witness.error().error_class, ErrorClass::kOperator);
}

TEST_F(WitnessProgram, ThatWritesNothingIsNotBelieved) {
  make_program("");
  expect_bad_request(run(), "exit code 0 but wrote no witness");
}

TEST_F(WitnessProgram, ThatWritesGarbageIsNotBelieved) {
  make_program("memset(buffer, 'x', 300); store(argv[2], 300);");
  expect_bad_request(run(), "the witness program's output");
}

TEST_F(WitnessProgram, ThatWritesHalfAWitnessIsNotBelieved) {
  make_program("store(argv[2], load(kGood) / 2);");
  expect_bad_request(run(), "the witness program's output");
}

TEST_F(WitnessProgram, OfAnotherCircuitOrCurveIsNotBelieved) {
  make_program("store(argv[2], load(kGood));");
  expect_bad_request(run(kMult2Input, CurveId::kBn254, 5), "the witness program's output");
  expect_bad_request(run(kMult2Input, CurveId::kBls12_381, 4), "the witness program's output");
}

TEST_F(WitnessProgram, ThatWritesAValueBeyondTheFieldIsNotBelieved) {
  make_program("const size_t n = load(kGood); memset(buffer + n - 32, 0xff, 32); store(argv[2], n);");
  expect_bad_request(run(), "the witness program's output");
}

TEST_F(WitnessProgram, CannotWriteMuchMoreThanItsWitness) {
  make_program("for (;;) if (write(open(argv[2], O_WRONLY | O_APPEND), buffer, 4096) < 0) exit(7);");
  expect_bad_request(run(), "signal 25");
}

TEST_F(WitnessProgram, CannotUseMoreMemoryThanItsLimit) {
  make_program("if (malloc((size_t)3 << 30) == NULL) { fputs(\"refused\", stderr); exit(8); }"
               "store(argv[2], load(kGood));");
  ProgramLimits limits;
  limits.memory_bytes = std::uint64_t{1} << 30;
  expect_bad_request(run(kMult2Input, CurveId::kBn254, 4, limits), "refused");
}

TEST_F(WitnessProgram, ThatLeavesAWriterOfItsOutputBehindIsNotBelieved) {
  // The grandchild leaves the process group, maps the output and outlives its parent for a while.
  make_program(R"(
    store(argv[2], load(kGood));
    int fd = open(argv[2], O_RDWR);
    extern void* mmap(void*, size_t, int, int, int, long);
    int ready[2]; pipe(ready);
    if (fork() == 0) { setsid(); mmap(0, 4096, 3, 1, fd, 0); write(ready[1], "x", 1); sleep(5); _exit(0); }
    read(ready[0], buffer, 1);)");
  expect_bad_request(run(), "left a process behind");
}

TEST_F(WitnessProgram, IsCheckedWhenItIsAdded) {
  make_program("fputs(\"Not all inputs have been set. Only 0 out of 2\\n\", stderr); abort();");
  EXPECT_TRUE(check().ok());
}

TEST_F(WitnessProgram, MustBeAProgramOfThisMachine) {
  write_bytes(folder_ / "program", "#!/bin/sh\nexit 0\n");
  const Status script = check();
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.error().error_class, ErrorClass::kBadRequest);
  EXPECT_THAT(script.error().message(), HasSubstr("not a program (an ELF file)"));
  make_program("");
  std::string bytes = read_bytes(folder_ / "program");
  bytes[18] = 8;  // e_machine: MIPS
  write_bytes(folder_ / "program", bytes);
  const Status foreign = check();
  ASSERT_FALSE(foreign.ok());
  EXPECT_THAT(foreign.error().message(), HasSubstr("not a program for this machine"));
}

TEST_F(WitnessProgram, MustHaveADataFileThatIsLargeEnough) {
  make_program("");
  const Status status = check(5);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(),
              AllOf(HasSubstr("the program's .dat"), HasSubstr("needs at least 6184")));
}

// A program made by circom itself; needs what circom's Makefile needs.
class CircomProgram : public testing::TestWithParam<CurveId> {
 protected:
  static Result<ChildOutcome> call(const fs::path& folder, std::vector<std::string> arguments) {
    CUZK_TRY(program, find_program(arguments[0], arguments[0]));
    ChildCommand command;
    command.program = program;
    command.arguments = std::move(arguments);
    command.environment = plain_environment();
    command.folder = folder;
    command.limits.wall_time = std::chrono::minutes(5);
    command.limits.address_space_bytes = std::uint64_t{1} << 40;  // node reserves without end
    return run_child(command);
  }
};

TEST_P(CircomProgram, MakesTheSameWitnessAsTheWasm) {
  const fs::path circom = data_path("../../build/js/node_modules/circom2/cli.js");
  if (!fs::exists(circom)) GTEST_SKIP() << "circom2 is not installed: " << circom;
  for (const char* needed : {"/usr/include/nlohmann/json.hpp", "/usr/bin/node", "/usr/bin/g++"}) {
    if (!fs::exists(needed)) GTEST_SKIP() << needed << " is not there";
  }
  const TemporaryFolder folder;
  const std::string curve = name_of(GetParam());
  fs::copy_file(data_path("synth_worker/shapes.circom"), folder / "shapes.circom");
  const auto translated = call(folder.path(), {"node", circom.string(), "shapes.circom", "--prime",
                                               curve, "--c", "--no_asm", "-o", "."});
  ASSERT_TRUE(translated.ok() && translated->succeeded()) << translated->error_output;
  const fs::path source = folder / "shapes_cpp";
  const auto built =
      call(source, {"g++", "-std=c++11", "-O1", "-w", "-I.", "-o", "shapes", "main.cpp", "calcwit.cpp",
                    "fr.cpp", "shapes.cpp", "-lgmp"});
  ASSERT_TRUE(built.ok());
  if (!built->succeeded()) GTEST_SKIP() << "circom's C++ does not build: " << built->error_output;

  const Witness expected = wtns_values(data_path("synth_worker/shapes_") + curve + ".wtns");
  ProgramRequest request;
  request.program = source / "shapes";
  request.curve = GetParam();
  request.n_variables = expected.size() / 32;
  request.input_name = "input.json";
  const auto added = check_witness_program(request.program, source / "shapes.dat", "shapes",
                                           request.n_variables, {}, {});
  ASSERT_TRUE(added.ok()) << added.error().message();
  const auto run = [&request](std::string_view input) -> Result<Witness> {
    CUZK_TRY(signals, parse_input(input, request.curve, "input.json"));
    request.inputs = signals;
    Witness witness(request.n_variables * 32);
    CUZK_CHECK(run_witness_program(request, witness));
    return witness;
  };
  // Negative numbers, which the program itself would reject, among them.
  const auto witness = run(read_bytes(data_path("synth_worker/shapes.input.json")));
  ASSERT_TRUE(witness.ok()) << witness.error().message();
  EXPECT_TRUE(*witness == expected);

  const auto error = [&run](std::string_view input) {
    const auto result = run(input);
    EXPECT_FALSE(result.ok());
    return result ? std::string() : result.error().message();
  };
  EXPECT_THAT(error(R"({"a": 1, "b": [1,2,3,4,5,6]})"), HasSubstr("Only 7 out of 9"));
  EXPECT_THAT(error(R"({"a": 1, "b": [1,2,3], "c": [1,2]})"),
              HasSubstr("Error loading signal b: Not enough values"));
  EXPECT_THAT(error(R"({"a": [1,2], "b": [1,2,3,4,5,6], "c": [1,2]})"),
              HasSubstr("Error loading signal a: Too many values"));
  EXPECT_THAT(error(R"({"a": 7, "b": [1,2,3,4,5,6], "c": [1,2]})"), HasSubstr("Square"));

  fs::remove(source / "shapes.dat");
  EXPECT_THAT(error(R"({"a": 1, "b": [1,2,3,4,5,6], "c": [1,2]})"), HasSubstr("signal 6"));
}

INSTANTIATE_TEST_SUITE_P(Curves, CircomProgram,
                         testing::Values(CurveId::kBn254, CurveId::kBls12_381),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

}  // namespace
}  // namespace cuzk::test
