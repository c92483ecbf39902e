"""The ports of datum_board are those that the board contract describes, each once, and the simulation knows them all."""

import re
import unittest
from fnmatch import fnmatchcase
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


HOST_ID_WIDTH = 10      # the parameter of datum_board that a port's width depends on


def widths_of_module(file: str = "rtl_model/rtl/datum_board.sv") -> dict[str, int]:
    text = (PROJECT / file).read_text(encoding="utf-8")
    header = re.sub(r"//[^\n]*", "", text.split(");", 1)[0]).replace("HostIdWidth-1", str(HOST_ID_WIDTH - 1))
    ports = re.findall(r"\b(?:input|output)\s+logic\s*(?:\[(\d+):0\])?\s*(\w+)", header)
    return {name: int(high or 0) + 1 for high, name in ports}


def ports_of_module() -> list[str]:
    return list(widths_of_module())


def described_patterns() -> list[str]:
    text = (PROJECT / "docs/board-contract.md").read_text(encoding="utf-8")
    section = text.split("## 7. Ports of the RTL board", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [pattern for row in rows for pattern in re.findall(r"`([\w*]+)`", row)]


class PortContract(unittest.TestCase):
    def test_given_the_ports_when_looked_up_then_the_contract_describes_each_once(self) -> None:
        ports, patterns = ports_of_module(), described_patterns()
        self.assertGreater(len(ports), 100)
        for port in ports:
            self.assertEqual(len([pattern for pattern in patterns if fnmatchcase(port, pattern)]), 1, port)

    def test_given_what_is_described_when_looked_for_then_the_module_has_it(self) -> None:
        for pattern in described_patterns():
            self.assertTrue(any(fnmatchcase(port, pattern) for port in ports_of_module()), pattern)

    def test_given_the_simulated_host_when_compared_then_it_is_connected_to_every_port(self) -> None:
        listed = (PROJECT / "include/datum/board/design_ports.h").read_text(encoding="utf-8")
        self.assertEqual(sorted(re.findall(r"^  P\d+\((\w+)\)", listed, re.MULTILINE)), sorted(ports_of_module()))

    def test_given_the_widths_when_compared_then_they_are_what_verilator_keeps_a_port_in(self) -> None:
        listed = (PROJECT / "include/datum/board/design_ports.h").read_text(encoding="utf-8")
        kept = {name: int(bits) for bits, name in re.findall(r"^  P(\d+)\((\w+)\)", listed, re.MULTILINE)}
        for name, width in widths_of_module().items():
            self.assertEqual(kept[name], next(bits for bits in (8, 16, 32, 64, 512) if width <= bits), name)

    def test_given_the_example_of_an_own_board_when_compared_then_it_has_the_same_ports(self) -> None:
        self.assertEqual(widths_of_module("examples/my_accelerator/rtl/my_accelerator.sv"), widths_of_module())


if __name__ == "__main__":
    unittest.main()
