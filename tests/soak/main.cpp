// Load of all kinds at once for as long as one likes: docs/testing.md, Soak.
#include <cstdio>
#include <cstring>

#include "tests/soak/soak.hpp"

namespace {

constexpr int inherited_socket = 3;

void print_repetition(const datum::soak::Options& options) {
  std::printf("seed %llu, %u threads, %u peers, boards %s\n", static_cast<unsigned long long>(options.seed),
              options.threads, options.peers, datum::test::environment("DATUM_BOARDS", "(not set)").c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  using namespace datum::soak;
  if (count == 2 && std::strcmp(arguments[1], "--peer") == 0) {
    return serve_as_peer(inherited_socket);
  }
  const std::optional<Options> options = read_options(count, arguments);
  if (!options) {
    return 2;
  }
  print_repetition(*options);
  try {
    Soak soak(*options);
    try {
      soak.run();
    } catch (const std::exception& failure) {
      verdict().fail(failure.what());
    }
    soak.print_summary();
  } catch (const std::exception& failure) {
    verdict().fail(failure.what());
  }
  if (verdict().failed()) {
    std::printf("FAILED: %s\n", verdict().first_failure().c_str());
    return 1;
  }
  std::printf("Nothing was wrong, and nothing is left.\n");
  return 0;
}
