// Which boards a process gets, and what it gets when DATUM_BOARDS makes no sense.
#include <algorithm>
#include <cstdio>
#include <ostream>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

struct BadChoice {
  const char* name;
  const char* boards;
  const char* named;  ///< what the sentence on standard error names
};

void PrintTo(const BadChoice& choice, std::ostream* out) { *out << choice.boards; }

class BoardChoice : public ::testing::TestWithParam<BadChoice> {};

TEST_P(BoardChoice,
       given_a_choice_of_boards_that_makes_no_sense_when_initialised_then_there_is_no_driver_and_no_crash) {
  const ChildOutcome outcome = run_scenario_in_child("init_fails", {{"DATUM_BOARDS", GetParam().boards}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_NE(std::string::npos, outcome.errors.find(GetParam().named)) << outcome.errors;
  EXPECT_EQ(1, std::count(outcome.errors.begin(), outcome.errors.end(), '\n'))
      << "one line: " << outcome.errors;
  EXPECT_EQ("", outcome.output);
  EXPECT_EQ(std::string::npos, outcome.errors.find('\x1b')) << "a terminal must not be steered";
  const std::string reason = "No such file or directory";
  const std::size_t first = outcome.errors.find(reason);
  EXPECT_TRUE(first == std::string::npos || outcome.errors.find(reason, first + 1) == std::string::npos)
      << "the reason is given once: " << outcome.errors;
}

INSTANTIATE_TEST_SUITE_P(
    Bad, BoardChoice,
    ::testing::Values(BadChoice{"unknown_scheme", "nonsense:", "'nonsense'"},
                      BadChoice{"unknown_option", "model:nonsense=1", "nonsense=1"},
                      BadChoice{"no_number", "model:memory=much", "memory=much"},
                      BadChoice{"odd_memory", "model:memory=3M", "power of two"},
                      BadChoice{"no_memory", "model:memory=0", "memory=0"},
                      BadChoice{"huge_memory", "model:memory=99999999999G", "99999999999G"},
                      BadChoice{"only_commas", ",,,", "empty entry"}, BadChoice{"a_colon", ":", "scheme"},
                      BadChoice{"binary", "model:\xff\xfe", "no such option"},
                      BadChoice{"control_characters", "model:\x1b[31m", "\\x1b[31m"},
                      BadChoice{"unknown_steering_scheme", "\x1b[2J:", "\\x1b[2J"},
                      BadChoice{"too_little_to_lock", "model:locked=4K", "locked="},
                      BadChoice{"too_small_an_aperture", "model:aperture=4K", "aperture=4K"},
                      BadChoice{"card_that_is_not_there", "vfio:0000:ff:1f.7", "0000:ff:1f.7"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(BoardChoicePlugin, given_a_plugin_that_does_not_exist_when_initialised_then_there_is_no_driver) {
  const ChildOutcome outcome = run_scenario_in_child(
      "init_fails", {{"DATUM_BOARDS", "model:"}, {"DATUM_SIM_PLUGIN", "/nonexistent/libdatum_sim.so"}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_NE(std::string::npos, outcome.errors.find("/nonexistent/libdatum_sim.so")) << outcome.errors;
}

TEST(BoardChoicePlugin, given_a_plugin_that_is_no_library_when_initialised_then_there_is_no_driver) {
  const ChildOutcome outcome =
      run_scenario_in_child("init_fails", {{"DATUM_BOARDS", "model:"}, {"DATUM_SIM_PLUGIN", "/etc/passwd"}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_NE(std::string::npos, outcome.errors.find("/etc/passwd")) << outcome.errors;
}

TEST(BoardChoicePlugin,
     given_no_choice_and_no_card_when_initialised_then_the_driver_declines_without_a_word) {
  const ChildOutcome outcome =
      run_scenario_in_child("init_fails_without_a_word", {{"DATUM_BOARDS", unset_variable}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_EQ("", outcome.output);
  EXPECT_EQ("", outcome.errors) << "a program that only looks for devices must not be disturbed";
}

TEST(BoardChoicePlugin,
     given_a_log_and_no_card_when_initialised_then_the_driver_declines_with_a_sentence_that_says_what_to_do) {
  const ChildOutcome outcome =
      run_scenario_in_child("init_fails", {{"DATUM_BOARDS", unset_variable}, {"DATUM_LOG", "1"}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_NE(std::string::npos, outcome.errors.find("no board is bound to VFIO")) << outcome.errors;
  EXPECT_NE(std::string::npos, outcome.errors.find("DATUM_BOARDS=rtl")) << outcome.errors;
  EXPECT_NE(std::string::npos, outcome.errors.find("datum doctor")) << outcome.errors;
  EXPECT_EQ(1, std::count(outcome.errors.begin(), outcome.errors.end(), '\n')) << outcome.errors;
}

TEST(BoardChoicePlugin, given_an_empty_choice_when_initialised_then_it_is_as_if_it_were_not_set) {
  const ChildOutcome outcome = run_scenario_in_child("init_fails", {{"DATUM_BOARDS", ""}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

TEST(BoardChoicePlugin, given_the_short_form_of_an_address_when_initialised_then_it_is_that_board) {
  const ChildOutcome outcome = run_scenario_in_child("init_and_copy", {{"DATUM_BOARDS", "model"}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

TEST(BoardChoicePlugin, given_the_smallest_boards_when_initialised_then_they_work) {
  for (const char* boards : {"model:memory=16M", "model:memory=16M,aperture=1M,window=4K"}) {
    const ChildOutcome outcome = run_scenario_in_child("init_and_copy", {{"DATUM_BOARDS", boards}});
    EXPECT_TRUE(outcome.succeeded()) << boards << ": " << outcome.describe();
  }
}

TEST(BoardChoicePlugin, given_a_long_name_of_a_board_when_initialised_then_the_line_stays_short) {
  const ChildOutcome outcome =
      run_scenario_in_child("init_fails", {{"DATUM_BOARDS", std::string(50'000, 'a').append(":")}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_LT(outcome.errors.size(), 600U);
}

TEST(BoardChoicePlugin, given_too_few_descriptors_when_initialised_then_there_is_no_driver_and_a_reason) {
  const ChildOutcome outcome =
      run_scenario_in_child("init_fails_without_descriptors", {{"DATUM_BOARDS", "model:"}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  EXPECT_TRUE(outcome.errors.starts_with("datum: ")) << outcome.errors;
}

TEST(BoardChoicePlugin, given_too_little_address_space_when_initialised_then_there_is_no_driver) {
  if (sanitized()) {
    GTEST_SKIP() << "the sanitizer needs the address space for itself";
  }
  const ChildOutcome outcome =
      run_scenario_in_child("init_fails_without_address_space", {{"DATUM_BOARDS", "model:"}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

/// A mask of devices, and the devices that are seen of three boards with 16, 32 and 64 MiB.
struct Mask {
  const char* value;
  const char* sizes_mib;
};

TEST(BoardChoicePlugin, given_three_boards_and_a_mask_when_initialised_then_exactly_those_are_seen_in_order) {
  for (const Mask& mask : {Mask{"0", "16"}, Mask{"1", "32"}, Mask{"2", "64"}, Mask{"0,1", "16 32"},
                           Mask{"2,0", "16 64"}, Mask{"1,2", "32 64"}, Mask{"2,1,0", "16 32 64"}}) {
    const ChildOutcome outcome = run_scenario_in_child(
        "print_memory_sizes", {{"DATUM_BOARDS", "model:memory=16M,model:memory=32M,model:memory=64M"},
                               {"ZE_AFFINITY_MASK", mask.value}});
    EXPECT_TRUE(outcome.succeeded()) << mask.value << ": " << outcome.describe();
    EXPECT_EQ(std::string(mask.sizes_mib) + "\n", outcome.output) << mask.value;
  }
}

TEST(BoardChoicePlugin,
     given_a_mask_that_means_nothing_when_initialised_then_there_is_no_driver_and_one_line) {
  for (const char* mask : {"1", "zebra"}) {
    const ChildOutcome outcome =
        run_scenario_in_child("init_fails", {{"DATUM_BOARDS", "model:"}, {"ZE_AFFINITY_MASK", mask}});
    EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
    EXPECT_NE(std::string::npos, outcome.errors.find(std::string("ZE_AFFINITY_MASK is '") + mask + "'"))
        << outcome.errors;
    EXPECT_EQ(1, std::count(outcome.errors.begin(), outcome.errors.end(), '\n')) << outcome.errors;
  }
}

}  // namespace

int scenario_print_memory_sizes() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const char* separator = "";
  for (const ze_device_handle_t device : session().devices) {
    std::uint32_t count = 1;
    ze_device_memory_properties_t memory{};
    memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeDeviceGetMemoryProperties(device, &count, &memory));
    std::printf("%s%llu", separator, static_cast<unsigned long long>(memory.totalSize >> 20U));
    separator = " ";
  }
  std::printf("\n");
  return 0;
}

int scenario_init_fails() {
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, zeInit(0));
  SCENARIO_EXPECT(ZE_RESULT_ERROR_UNINITIALIZED, zeInit(0));
  std::uint32_t count = 0;
  SCENARIO_REQUIRE(zeDriverGet(&count, nullptr) != ZE_RESULT_SUCCESS || count == 0);
  return 0;
}

int scenario_init_fails_without_descriptors() {
  // Enough for the loader to open the driver and for the driver to open the simulation, one at a time.
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  const rlimit limit{static_cast<rlim_t>(next) + 2, static_cast<rlim_t>(next) + 2};
  SCENARIO_REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  return scenario_init_fails();
}

int scenario_init_fails_without_address_space() {
  constexpr rlim_t more_bytes = 96U << 20U;
  std::size_t pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  SCENARIO_REQUIRE(file != nullptr && std::fscanf(file, "%zu", &pages) == 1);
  std::fclose(file);
  const rlimit limit{rlim_t{pages} * 4096 + more_bytes, rlim_t{pages} * 4096 + more_bytes};
  SCENARIO_REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
  return scenario_init_fails();
}

int scenario_init_fails_without_a_word() { return scenario_init_fails(); }

}  // namespace datum::test
