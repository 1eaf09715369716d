// The engine interface: steps in order, cancelling, refusals.
#include "gpu_worker/engine.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gpu_worker/engine_factory.hpp"
#include "tests/gpu_worker/proving.hpp"

namespace cuzk {
namespace {

using test::CircuitFiles;
using test::PreparedCircuit;

class EngineOnMult2 : public testing::TestWithParam<const char*> {
 protected:
  PreparedCircuit circuit{CircuitFiles{GetParam(), "mult2"}};
  std::unique_ptr<Engine> engine = *make_engine("cpu", 2);
};
INSTANTIATE_TEST_SUITE_P(BothCurves, EngineOnMult2, testing::Values("bn128", "bls12381"));

TEST_P(EngineOnMult2, marks_and_times_every_step_once_and_in_order) {
  std::vector<std::string> expected;
  for (const Step step : kSteps) expected.emplace_back(name_of(step));
  std::vector<std::string> marks;
  StepMonitor monitor([&](Step step) { marks.emplace_back(name_of(step)); });
  auto started = engine->start(circuit.key(), circuit.assignment(), monitor);
  ASSERT_TRUE(started);
  ASSERT_TRUE((*started)->finish(Blinding({{1}}, {{2}}), monitor));
  EXPECT_EQ(marks, expected);
  std::vector<std::string> timed;
  for (const StepTime& time : monitor.times()) timed.push_back(time.step);
  EXPECT_EQ(timed, expected);
}

TEST_P(EngineOnMult2, stops_before_whichever_step_the_task_is_cancelled) {
  for (std::size_t stop = 0; stop < kSteps.size(); ++stop) {
    std::size_t asked = 0;
    std::vector<Step> marks;
    StepMonitor monitor([&](Step step) { marks.push_back(step); }, [&] { return asked++ == stop; });
    auto started = engine->start(circuit.key(), circuit.assignment(), monitor);
    Status status;
    if (!started) {
      status = started.error();
    } else if (auto proof = (*started)->finish(Blinding({{1}}, {{2}}), monitor); !proof) {
      status = proof.error();
    }
    ASSERT_FALSE(status) << name_of(kSteps[stop]);
    EXPECT_EQ(status.error().error_class, ErrorClass::kOperator);
    EXPECT_EQ(marks.size(), stop);
  }
}

TEST_P(EngineOnMult2, refuses_an_assignment_of_another_size) {
  for (const std::size_t size : {std::size_t{0}, circuit.payload().size() - 32}) {
    StepMonitor monitor;
    const auto started = engine->start(
        circuit.key(), {AssignmentLayout::kDense, circuit.payload().first(size)}, monitor);
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().error_class, ErrorClass::kBug);
  }
}

TEST_P(EngineOnMult2, refuses_an_unknown_layout) {
  StepMonitor monitor;
  EXPECT_FALSE(
      engine->start(circuit.key(), {AssignmentLayout{9}, circuit.payload()}, monitor));
}

TEST_P(EngineOnMult2, refuses_values_that_are_not_canonical) {
  for (std::size_t i = 0; i < circuit.info().n_variables; ++i) {
    PreparedCircuit broken{CircuitFiles{GetParam(), "mult2"}};
    broken.witness()[4 * i + 3] = UINT64_MAX;
    StepMonitor monitor;
    const auto started = engine->start(broken.key(), broken.assignment(), monitor);
    ASSERT_FALSE(started) << "variable " << i;
    EXPECT_EQ(started.error().error_class, ErrorClass::kBug);
    // The value is secret.
    EXPECT_EQ(started.error().message().find("ffff"), std::string::npos);
  }
}

TEST_P(EngineOnMult2, refuses_a_witness_whose_variable_0_is_not_one) {
  circuit.witness()[0] = 2;
  StepMonitor monitor;
  EXPECT_FALSE(engine->start(circuit.key(), circuit.assignment(), monitor));
}

TEST(Engines, for_unknown_devices_do_not_exist) {
  for (const char* device : {"", "cuda:0", "gpu", "cpu "}) {
    const auto engine = make_engine(device, 1);
    ASSERT_FALSE(engine) << device;
    EXPECT_EQ(engine.error().error_class, ErrorClass::kOperator);
  }
}

}  // namespace
}  // namespace cuzk
