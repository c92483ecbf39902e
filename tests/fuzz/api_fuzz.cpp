// Sequences of API calls on a board of the golden model, against a model of the API.
#include "tests/fuzz/api_program.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/support/own_driver.hpp"
#include "tests/support/process_resources.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace datum::test;
  static bool first = true;  // opens what stays open
  const std::size_t before = open_descriptors();
  Input input(data, size);
  {
    // Without a thread of its own the board does the same each time.
    datum::Result<OwnDriver> driver = OwnDriver::open("step,memory=16M,aperture=4M,window=64K");
    require(driver.ok(), "a board for the fuzzer");
    ApiProgram program(*driver, input);
    for (int steps = 0; steps < 200 && !input.empty(); ++steps) {
      program.step();
    }
    program.end();
  }
  require(first || open_descriptors() == before, "a program leaves no descriptors behind");
  first = false;
  return 0;
}
