// What the soak's process holds between two epochs, when nothing of the API lives: it must not grow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace datum::soak {

/// A folder for files of the soak and its peers alone, named in the environment as the runtime folder and the
/// one for temporary files; it goes at the end.
class OwnFolder {
 public:
  OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder();

  [[nodiscard]] std::size_t entries() const;

 private:
  std::filesystem::path path_;
};

struct Holding {
  const char* name;
  std::int64_t count = 0;
  std::int64_t slack = 0;  ///< by how much it may differ at the end from the most of the first half
};

enum HoldingIndex : std::size_t {
  descriptors,
  mappings,
  threads,
  resident,
  device_bytes,
  objects,
  shared_files,
  runtime_files,
  holding_kinds
};

using Holdings = std::array<Holding, holding_kinds>;

/// `peers`: how many live, each of which has a socket here.
[[nodiscard]] Holdings take_holdings(const OwnFolder& folder, std::size_t peers);

/// The most of each that was seen.
void keep_most(Holdings& most, const Holdings& now);

/// Empty, or what has grown.
[[nodiscard]] std::string growth(const Holdings& before, const Holdings& now);

}  // namespace datum::soak
