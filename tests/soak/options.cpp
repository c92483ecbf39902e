#include "tests/soak/options.hpp"

#include <charconv>
#include <cstdio>
#include <string_view>

#include "tests/support/test_run.hpp"

namespace datum::soak {
namespace {

constexpr std::string_view usage =
    "usage: datum_soak [--seconds N] [--epochs N] [--seed N] [--threads N] [--peers N] [--resets 0|1]\n";

bool set(Options& options, std::string_view name, std::uint64_t value) {
  constexpr std::uint64_t most = 64;
  if (name == "--seconds") {
    options.duration = std::chrono::seconds(value);
  } else if (name == "--epochs") {
    options.epochs = value;
  } else if (name == "--seed") {
    options.seed = value;
  } else if (name == "--resets" && value <= 1) {
    options.resets = value == 1;
  } else if (name == "--threads" && value >= 1 && value <= most) {
    options.threads = static_cast<unsigned>(value);
  } else if (name == "--peers" && value <= most) {
    options.peers = static_cast<unsigned>(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<Options> read_options(int count, char** arguments) {
  Options options;
  options.seed = test::test_seed();
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view text = arguments[i + 1];
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !set(options, arguments[i], value)) {
      std::fprintf(stderr, "soak: %s %s is not understood\n%s", arguments[i], arguments[i + 1], usage.data());
      return std::nullopt;
    }
  }
  if (count % 2 == 0) {
    std::fprintf(stderr, "soak: %s has no value\n%s", arguments[count - 1], usage.data());
    return std::nullopt;
  }
  return options;
}

}  // namespace datum::soak
