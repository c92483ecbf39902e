#include "tools/bench/peer_driver.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace datum::bench {
namespace {

constexpr std::chrono::minutes patience{15};

[[noreturn]] void become_child(int output, const std::string& group, const Environment& changes) {
  for (const auto& [name, value] : changes) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ::dup2(output, STDOUT_FILENO);
  ::execl("/proc/self/exe", "datum-bench", group.c_str(), "--json", nullptr);
  ::_exit(127);
}

/// All that comes until the other end is closed; nothing if it takes too long.
std::optional<std::string> read_all(int input) {
  std::string text;
  std::array<char, 4096> buffer{};
  const int patience_ms = static_cast<int>(std::chrono::milliseconds(patience).count());
  while (true) {
    pollfd ready{input, POLLIN, 0};
    if (::poll(&ready, 1, patience_ms) <= 0) {
      return std::nullopt;
    }
    const ssize_t got = ::read(input, buffer.data(), buffer.size());
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::optional<std::vector<Figure>> parse(const std::string& text) {
  const nlohmann::json array = nlohmann::json::parse(text, nullptr, false);
  if (!array.is_array()) {
    return std::nullopt;
  }
  std::vector<Figure> figures;
  for (const nlohmann::json& object : array) {
    Figure figure;
    figure.name = object.at("name");
    figure.value = object.at("value");
    figure.unit = object.at("unit");
    figure.noisy = object.at("noisy");
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace

std::optional<std::vector<Figure>> run_in_child(const std::string& group, const Environment& changes) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    become_child(ends[1], group, changes);
  }
  ::close(ends[1]);
  std::optional<std::string> text;
  if (child > 0) {
    text = read_all(ends[0]);
    if (!text) {
      ::kill(child, SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      text.reset();
    }
  }
  ::close(ends[0]);
  return text ? parse(*text) : std::nullopt;
}

std::optional<PeerDriver> find_intel_driver() {
  std::error_code none;
  const std::filesystem::path folder(DATUM_PEERS_ROOT "/lib");
  const std::filesystem::path driver = std::filesystem::canonical(folder / "libze_intel_gpu.so.1", none);
  if (none) {
    return std::nullopt;
  }
  // The name of the file ends in its release.
  const std::string release = driver.filename().string().substr(std::string("libze_intel_gpu.so.").size());
  return PeerDriver{"Intel GPU driver " + release + " without a GPU, this run",
                    {{"ZE_ENABLE_ALT_DRIVERS", driver.string()},
                     {"LD_LIBRARY_PATH", folder.string()},
                     {"NEOReadDebugKeys", "1"},
                     {"UseAubStream", "0"},
                     {"SetCommandStreamReceiver", "1"},
                     {"ProductFamilyOverride", "pvc"},
                     {"HardwareInfoOverride", "1x2x4"}}};
}

}  // namespace datum::bench
