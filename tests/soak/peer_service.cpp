// The peer's own side: what it does with a request.
#include <algorithm>
#include <cstdio>
#include <sys/socket.h>

#include "tests/soak/management.hpp"
#include "tests/soak/peer.hpp"
#include "tests/soak/scenes.hpp"

namespace datum::soak {
namespace {

class Service {
 public:
  Service() : context_(make_context(test::session().driver)) {}

  void end() {
    lent_.end();
    context_.destroy();
  }

  void serve(const Request& request, Answer& answer) {
    const Site site{test::session().driver, test::session().devices.front(), context_};
    Stage stage{site, test::Random(request.seed), request.bytes};
    switch (request.kind) {
    case Request::Kind::open:
      return open(stage, request);
    case Request::Kind::lend:
      return lend(stage, request, answer);
    case Request::Kind::take_back:
      return lent_.end();
    case Request::Kind::events:
      return answer_event(stage, request);
    case Request::Kind::reset:
      end();
      check(reset_board(0), "zesDeviceReset");
      context_ = make_context(test::session().driver);
    }
  }

 private:
  static void open(Stage& stage, const Request& request) {
    Block opened = Block::open(stage.site, request.memory, request.bytes);
    require_held(stage, opened.data(), request.bytes, request.seed, "memory that another process lent");
    upload(stage, opened.data(), request.bytes, request.seed + 1);
  }

  void lend(Stage& stage, const Request& request, Answer& answer) {
    lent_ = Block(stage.site, request.on_host != 0 ? test::MemoryKind::host : test::MemoryKind::device,
                  request.bytes);
    upload(stage, lent_.data(), request.bytes, request.seed);
    check(zeMemGetIpcHandle(context_, lent_.data(), &answer.memory), "zeMemGetIpcHandle");
  }

  static void answer_event(Stage& stage, const Request& request) {
    const OpenedPool pool = open_pool(stage.site, request.pool);
    const Event asked = make_event(pool, 0);
    const Event answered = make_event(pool, 1);
    if (stage.random.one_in(2)) {
      check(zeEventHostSynchronize(asked, test::patience_ns), "zeEventHostSynchronize");
      check(zeEventHostSignal(answered), "zeEventHostSignal");
      return;
    }
    const List list = make_immediate_list(stage.site, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_handle_t awaited = asked;
    check(zeCommandListAppendBarrier(list, answered, 1, &awaited), "zeCommandListAppendBarrier");
    check(zeCommandListHostSynchronize(list, test::patience_ns), "zeCommandListHostSynchronize");
  }

  Context context_;
  Block lent_;
};

/// False: nobody asks any more.
bool serve_next(int socket, Service& service) {
  Request request;
  if (::recv(socket, &request, sizeof request, 0) != ssize_t{sizeof request}) {
    return false;
  }
  Answer answer;
  answer.number = request.number;
  try {
    service.serve(request, answer);
    require_clean_ends();
    answer.succeeded = 1;
  } catch (const std::exception& failure) {
    std::snprintf(answer.text, sizeof answer.text, "%s", failure.what());
  }
  return ::send(socket, &answer, sizeof answer, MSG_NOSIGNAL) == ssize_t{sizeof answer};
}

}  // namespace

int serve_as_peer(int socket) {
  try {
    Service service;
    while (serve_next(socket, service)) {
    }
    service.end();
    require_clean_ends();
  } catch (const std::exception& failure) {
    verdict().fail(failure.what());
  }
  if (!verdict().failed() && live_objects() != 0) {
    verdict().fail(std::to_string(live_objects()) + " objects are left");
  }
  if (verdict().failed()) {
    std::fprintf(stderr, "soak: a peer: %s\n", verdict().first_failure().c_str());
  }
  return verdict().failed() ? 1 : 0;
}

}  // namespace datum::soak
