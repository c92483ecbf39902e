// What is done with a peer: memory and events go to and fro, and at times it is killed amid it.
#pragma once

#include <array>

#include "tests/soak/peer.hpp"
#include "tests/soak/scenes.hpp"

namespace datum::soak {

struct PeerScene {
  const char* name;
  void (*play)(Stage&, Peer&);
  unsigned weight;
};

void play_lending(Stage& stage, Peer& peer);
void play_borrowing(Stage& stage, Peer& peer);
void play_shared_events(Stage& stage, Peer& peer);
void play_reset_of_peer(Stage& stage, Peer& peer);

inline constexpr std::array peer_scenes{
    PeerScene{"memory lent to a peer", play_lending, 4},
    PeerScene{"memory borrowed of a peer", play_borrowing, 4},
    PeerScene{"events shared with a peer", play_shared_events, 4},
    PeerScene{"reset of a peer's board", play_reset_of_peer, 1},
};

}  // namespace datum::soak
