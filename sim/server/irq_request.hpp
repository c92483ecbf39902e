// DEVICE_SET_IRQS.
#pragma once

#include "sim/server/served_board.hpp"
#include "vfio_user/message_socket.hpp"

namespace datum::sim {

/// 0 or an errno; then nothing has changed. Takes the descriptors out of the message.
[[nodiscard]] int set_irqs(ServedBoard& board, vfio_user::Message& message);

}  // namespace datum::sim
