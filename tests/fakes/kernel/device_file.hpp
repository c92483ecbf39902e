// A device that was opened: regions, interrupts, resets.
#pragma once

#include "tests/fakes/kernel/open_file.hpp"

namespace datum::test {

class DeviceFile final : public OpenFile {
 public:
  /// By its own node: unusable until it is bound. By its group: in `space` from the start.
  DeviceFile(Machine& machine, FileTable& table, Slot& slot, std::shared_ptr<IommuRules> space);
  ~DeviceFile() override;

  int ioctl(unsigned long request, void* argument) override;
  ssize_t pread(void* to, std::size_t bytes, std::uint64_t position) override;
  ssize_t pwrite(const void* from, std::size_t bytes, std::uint64_t position) override;
  int mmap(std::uint64_t position, std::size_t bytes, int protection, void** base) override;

 private:
  int bind(void* argument);
  int attach(void* argument);
  int device_info(void* argument) const;
  int region_info(void* argument) const;
  int irq_info(void* argument) const;
  int set_irqs(const void* argument);
  int reset();
  int bus_reset(const void* argument);
  int bus_reset_info(void* argument) const;
  int feature(void* argument);
  void open();

  Machine& machine_;
  FileTable& table_;
  Slot& slot_;
  std::shared_ptr<OpenFile> iommufd_;
  std::shared_ptr<IommuRules> space_;
  bool bound_ = false;
};

}  // namespace datum::test
