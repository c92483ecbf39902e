// The guest that a test runs in, as root: its cards, their drivers, its kernel's log.
#pragma once

#include <string>
#include <vector>

namespace datum::test {

/// PCI addresses of the boards in its slots, in order.
[[nodiscard]] std::vector<std::string> cards();
/// A file of the device in sysfs.
[[nodiscard]] std::string device_file(const std::string& pci, const std::string& name);
/// Name of the device's driver; empty: none.
[[nodiscard]] std::string driver_of(const std::string& pci);
/// Other devices of its IOMMU group.
[[nodiscard]] std::vector<std::string> neighbours_of(const std::string& pci);

/// Contents of a file, without the line's end; empty where there is none.
[[nodiscard]] std::string read_file(const std::string& path);
/// Writes to a file that exists; false when the kernel refuses.
bool write_file(const std::string& path, const std::string& text);

/// Without the tool that is under test. The device has the driver (or none) that the name says afterwards.
void give_to_vfio(const std::string& pci);
void give_back(const std::string& pci);

/// The device's own node, and those that every card needs; whichever the kernel has.
[[nodiscard]] std::vector<std::string> nodes_of(const std::string& pci);
/// Sets owner and permissions of all nodes.
void set_nodes(const std::string& pci, unsigned group, unsigned mode);

/// What the kernel has said since its start.
[[nodiscard]] std::string kernel_log();
/// Waits for `text` in what it said after `before` was its log; false after a bound.
[[nodiscard]] bool kernel_says(const std::string& text, const std::string& before);

}  // namespace datum::test
