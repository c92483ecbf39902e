// An ordinary Level Zero program: it knows the loader's interface and nothing of the board. scripts/demo sets
// the environment that makes the loader pick Datum and Datum pick a board.
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

#include "tools/demo/level_zero_session.hpp"
#include "tools/demo/report.hpp"
#include "tools/demo/round_trip.hpp"

namespace {

constexpr int exit_mismatch = 1;
constexpr int exit_usage = 2;

std::vector<std::byte> read_file(const std::string& path) {
  struct stat status {};

  if (::stat(path.c_str(), &status) != 0) {
    throw datum::demo::Failure{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  }
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    throw datum::demo::Failure{fmt::format("cannot use {}: it is {}", path,
                                           S_ISREG(status.st_mode) ? "empty" : "not a regular file")};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
    throw datum::demo::Failure{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || std::string(argv[1]) == "--help") {
    fmt::print(argc == 2 ? stdout : stderr,
               "usage: datum-demo FILE\nCopies FILE to the first Level Zero device, across it and back, and "
               "compares.\n"
               "Exit status: 0 every byte came back, 1 it did not, 2 it could not be tried.\n");
    return argc == 2 ? EXIT_SUCCESS : exit_usage;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // who watches through a pipe sees each step as it ends
  try {
    const std::vector<std::byte> file = read_file(argv[1]);
    const datum::demo::Session session;
    datum::demo::print_findings(session);
    fmt::print("file          {} ({})\n", argv[1], datum::demo::size_text(file.size()));
    return datum::demo::round_trip(session, file) ? EXIT_SUCCESS : exit_mismatch;
  } catch (const datum::demo::Failure& failure) {
    fmt::print(stderr, "datum-demo: {}\n", failure.what);
    return exit_usage;
  }
}
