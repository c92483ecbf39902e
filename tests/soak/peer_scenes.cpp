#include "tests/soak/peer_scenes.hpp"

#include <chrono>
#include <thread>

namespace datum::soak {
namespace {

/// One peer in so many is killed amid what it was asked for.
constexpr std::uint64_t kills_one_in = 6;

/// Kills the peer at some moment of what it does, or not at all: false.
bool kill_at_times(Stage& stage, Peer& peer) {
  const bool killed = stage.random.one_in(kills_one_in);
  const std::chrono::microseconds moment(stage.random.below(3000));
  if (killed) {
    std::this_thread::sleep_for(moment);
    peer.kill();
  }
  return killed;
}

/// What the peer could not do is its failure, unless our board was reset under the memory that it uses.
Answer successful_answer(Stage& stage, Peer& peer) {
  Answer answer = peer.answer();
  if (answer.succeeded == 0) {
    check(zeContextGetStatus(stage.site.context), "zeContextGetStatus");
    require(false, std::string("a peer failed: ") + answer.text);
  }
  return answer;
}

test::MemoryKind draw_exported_kind(Stage& stage) {
  return stage.random.one_in(2) ? test::MemoryKind::device : test::MemoryKind::host;
}

}  // namespace

void play_lending(Stage& stage, Peer& peer) {
  Request request{Request::Kind::open};
  request.bytes = stage.draw_size();
  request.seed = stage.random.next();
  Block block(stage.site, draw_exported_kind(stage), request.bytes);
  upload(stage, block.data(), request.bytes, request.seed);
  check(zeMemGetIpcHandle(stage.site.context, block.data(), &request.memory), "zeMemGetIpcHandle");
  peer.send(request);
  if (!kill_at_times(stage, peer)) {
    static_cast<void>(successful_answer(stage, peer));
    require_held(stage, block.data(), request.bytes, request.seed + 1, "memory that a peer wrote to");
  }
  if (stage.random.one_in(2)) {
    check(zeMemPutIpcHandle(stage.site.context, request.memory), "zeMemPutIpcHandle");
  }
  // Whatever became of the peer, the memory is as good as before.
  upload(stage, block.data(), request.bytes, request.seed + 2);
  require_held(stage, block.data(), request.bytes, request.seed + 2, "memory that was lent");
}

void play_borrowing(Stage& stage, Peer& peer) {
  Request request{Request::Kind::lend};
  request.on_host = stage.random.one_in(2) ? 1 : 0;
  request.bytes = stage.draw_size();
  request.seed = stage.random.next();
  peer.send(request);
  const Answer answer = successful_answer(stage, peer);
  if (kill_at_times(stage, peer)) {
    // Nobody is there who could hand the memory out.
    void* opened = nullptr;
    const ze_result_t code =
        zeMemOpenIpcHandle(stage.site.context, stage.site.device, answer.memory, 0, &opened);
    require(code != ZE_RESULT_SUCCESS, "memory of a process that was killed was opened by its bytes");
    return;
  }
  {
    Block block = Block::open(stage.site, answer.memory, request.bytes);
    require_held(stage, block.data(), request.bytes, request.seed, "memory of a peer");
    if (kill_at_times(stage, peer)) {
      require_held(stage, block.data(), request.bytes, request.seed, "memory of a peer that was killed");
      return;
    }
  }
  peer.send({Request::Kind::take_back});
  static_cast<void>(successful_answer(stage, peer));
}

void play_shared_events(Stage& stage, Peer& peer) {
  const Pool pool = make_pool(stage.site, 2, ZE_EVENT_POOL_FLAG_IPC);
  const Event asked = make_event(pool, 0);
  const Event answered = make_event(pool, 1);
  Request request{Request::Kind::events};
  request.seed = stage.random.next();
  check(zeEventPoolGetIpcHandle(pool, &request.pool), "zeEventPoolGetIpcHandle");
  peer.send(request);
  const bool by_board = stage.random.one_in(2);
  if (by_board) {
    const List list = make_immediate_list(stage.site, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    check(zeCommandListAppendSignalEvent(list, asked), "zeCommandListAppendSignalEvent");
  } else {
    check(zeEventHostSignal(asked), "zeEventHostSignal");
  }
  if (kill_at_times(stage, peer)) {
    const ze_result_t code = zeEventHostSynchronize(answered, 1'000'000);
    require(code == ZE_RESULT_SUCCESS || code == ZE_RESULT_NOT_READY || code == ZE_RESULT_ERROR_DEVICE_LOST,
            "a wait for a peer that was killed");
    return;
  }
  check(zeEventHostSynchronize(answered, test::patience_ns), "zeEventHostSynchronize");
  static_cast<void>(successful_answer(stage, peer));
}

void play_reset_of_peer(Stage& stage, Peer& peer) {
  peer.send({Request::Kind::reset});
  if (!kill_at_times(stage, peer)) {
    static_cast<void>(successful_answer(stage, peer));
  }
}

}  // namespace datum::soak
