// Host memory that moves into another file under the application's feet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <datum/base/mapping.hpp>
#include <datum/base/result.hpp>

namespace datum {

class HeldWrites;

/// How far the application's threads are kept from writing while pages move.
enum class WriteHold : std::uint8_t {
  wanted,        ///< as far as this process may use the kernel's userfaultfd
  of_user_code,  ///< as ordinary users may
  none,          ///< never: for tests of the other way
};

/// Pages that were mapped at an address and have been replaced by those of a file. The old ones are kept and
/// come back when this is destroyed.
///
/// The move takes three steps: a copy into the file; the file's pages take the place of the old ones, which
/// the kernel does at one stroke; what was written to the old pages after they were copied is taken over.
/// With a hold, threads that write wait from before the copy until the file is in place, and nothing is left
/// to take over. Privileged processes hold system calls that write as well; in others one that writes there
/// in those microseconds fails with EFAULT. Where there is no hold, a byte that is written in the
/// microseconds between is seen again a few microseconds later, a thread that writes a byte then reads it may
/// meet its own older value in between, and a write is lost that restored the value which the byte had when
/// it was copied.
class MovedPages {
 public:
  /// `pages` are whole pages of a shared mapping; `file` holds as many bytes. out_of_host_memory: nothing was
  /// moved.
  static Result<std::unique_ptr<MovedPages>> move(std::span<std::byte> pages, int file,
                                                  WriteHold hold = WriteHold::wanted);
  ~MovedPages();
  MovedPages(const MovedPages&) = delete;
  MovedPages& operator=(const MovedPages&) = delete;

  /// Takes over what boards wrote to the old pages since the copy. To be called once, when no board can reach
  /// them any longer.
  void take_over_late_writes() noexcept;

  /// Puts the old pages back, as they are now. false: they could not be, and the addresses still show the
  /// file.
  bool restore() noexcept;

  [[nodiscard]] bool held_writes() const noexcept { return held_writes_; }

 private:
  MovedPages() = default;

  Status move_pieces(int file, const HeldWrites& held);
  void copy_back() noexcept;

  std::span<std::byte> pages_;
  std::size_t moved_bytes_ = 0;  ///< of them, from the first on
  std::byte* old_ = nullptr;     ///< the old pages, at an address of their own
  Mapping fresh_;                ///< the file, while pages move
  Mapping snapshot_;             ///< what was copied
  bool held_writes_ = false;
};

}  // namespace datum
