// What a worker of the soak does: scenes, each with data that it checks, all drawn from its random numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/soak/objects.hpp"
#include "tests/support/pattern.hpp"

namespace datum::soak {

/// An allocation that outlives the scene in which it was made.
struct Kept {
  Block block;
  std::uint64_t seed = 0;  ///< of the pattern that it holds
};

/// What a scene may use.
struct Stage {
  Site site;
  test::Random random;
  std::size_t largest = 0;   ///< bytes of an allocation
  std::uint64_t copied = 0;  ///< bytes that the board copied or filled
  std::vector<Kept> kept{};

  [[nodiscard]] std::size_t draw_size();
  /// Of any kind, ordinary memory included.
  [[nodiscard]] Block draw_block(std::size_t bytes);
  [[nodiscard]] Block draw_host_block(std::size_t bytes);
};

using Appends = std::function<void(ze_command_list_handle_t)>;
/// Has the board do what is appended, in one of the ways there are, and waits for it.
void run(Stage& stage, const Appends& appends);
void copy(Stage& stage, void* to, const void* from, std::size_t bytes);
/// The pattern goes there, or has to be there; both by the board.
void upload(Stage& stage, void* to, std::size_t bytes, std::uint64_t seed);
void require_held(Stage& stage, const void* from, std::size_t bytes, std::uint64_t seed, const char* where);

struct Scene {
  const char* name;
  void (*play)(Stage&);
  unsigned weight;
};

void play_copies(Stage& stage);
void play_fills(Stage& stage);
void play_regions(Stage& stage);
void play_kept_memory(Stage& stage);
void play_virtual_memory(Stage& stage);
void play_export_within(Stage& stage);
void play_event_chain(Stage& stage);
void play_repeated_list(Stage& stage);
void play_objects(Stage& stage);
void play_refusals(Stage& stage);

inline constexpr std::array scenes{
    Scene{"copies", play_copies, 6},
    Scene{"fills", play_fills, 3},
    Scene{"regions", play_regions, 2},
    Scene{"kept memory", play_kept_memory, 5},
    Scene{"virtual memory", play_virtual_memory, 2},
    Scene{"export within the process", play_export_within, 2},
    Scene{"event chains", play_event_chain, 3},
    Scene{"repeated lists", play_repeated_list, 2},
    Scene{"objects", play_objects, 2},
    Scene{"refusals", play_refusals, 1},
};

}  // namespace datum::soak
