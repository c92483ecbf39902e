"""scripts/check_includes.py lets layers see what they may and nothing else."""

import sys
import unittest

from project_copy import PROJECT, ProjectCopy


class CheckIncludes(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = ProjectCopy()
        self.addCleanup(self.tree.__exit__)
        for header in (
            "include/datum/base/result.hpp",
            "driver/memory/registry.hpp",
            "driver/device/board.hpp",
            "driver/object/context.hpp",
            "sim/model/board.hpp",
            "vfio_backend/kernel.hpp",
        ):
            self.tree.write(header, "#pragma once\n")

    def check(self, path: str, include: str) -> tuple[int, str]:
        self.tree.write(path, f"#include {include}\n")
        result = self.tree.run(sys.executable, str(PROJECT / "scripts/check_includes.py"), str(self.tree.root))
        return result.returncode, result.stderr

    def assert_accepted(self, path: str, include: str) -> None:
        status, errors = self.check(path, include)
        self.assertEqual((status, errors), (0, ""))

    def assert_refused(self, path: str, include: str, sentence: str) -> None:
        status, errors = self.check(path, include)
        self.assertEqual(status, 1)
        self.assertEqual(errors, f"{path}:1: {sentence}\n")

    def test_given_a_contract_header_when_any_layer_includes_it_then_it_is_accepted(self) -> None:
        for path in ("driver/memory/a.cpp", "sim/a.cpp", "vfio_backend/a.cpp", "tools/a.cpp", "include/datum/board/a.hpp"):
            self.assert_accepted(path, "<datum/base/result.hpp>")

    def test_given_the_driver_when_it_includes_the_simulation_then_it_is_refused(self) -> None:
        self.assert_refused(
            "driver/device/a.cpp",
            '"sim/model/board.hpp"',
            "driver/device must not include sim/model/board.hpp; it may include driver/device, driver/trace, include",
        )

    def test_given_the_simulation_when_it_includes_the_driver_then_it_is_refused_in_angle_brackets_too(self) -> None:
        self.assert_refused(
            "sim/a.cpp",
            "<driver/memory/registry.hpp>",
            "sim must not include driver/memory/registry.hpp; it may include sim, include, vfio_user, rtl_model/verilated_runtime",
        )

    def test_given_a_protocol_when_its_two_ends_include_it_then_it_joins_them_and_knows_neither(self) -> None:
        self.assert_accepted("sim/server/a.cpp", '"vfio_user/messages.hpp"')
        self.assert_accepted("vfio_backend/user/a.cpp", '"vfio_user/messages.hpp"')
        for other in ("sim/backend.hpp", "vfio_backend/kernel.hpp"):
            status, errors = self.check("vfio_user/a.cpp", f'"{other}"')
            self.assertEqual(status, 1)
            self.assertIn("vfio_user must not include", errors)

    def test_given_memory_when_it_includes_an_object_above_it_then_it_is_refused(self) -> None:
        status, errors = self.check("driver/memory/a.cpp", '"driver/object/context.hpp"')
        self.assertEqual(status, 1)
        self.assertIn("driver/memory must not include driver/object/context.hpp", errors)

    def test_given_commands_when_they_include_memory_and_device_then_both_are_accepted(self) -> None:
        self.assert_accepted("driver/command/a.cpp", '"driver/memory/registry.hpp"')
        self.assert_accepted("driver/command/a.cpp", '"driver/device/board.hpp"')

    def test_given_the_backend_table_when_it_names_a_backend_then_only_that_file_may(self) -> None:
        self.assert_accepted("driver/device/backend_table.cpp", '"vfio_backend/kernel.hpp"')
        status, errors = self.check("driver/device/other.cpp", '"vfio_backend/kernel.hpp"')
        self.assertEqual(status, 1)
        self.assertIn("driver/device/other.cpp:1:", errors)

    def test_given_a_contract_when_it_includes_a_layer_then_it_is_refused(self) -> None:
        status, errors = self.check("include/datum/board/a.hpp", '"driver/device/board.hpp"')
        self.assertEqual(status, 1)
        self.assertIn("include must not include driver/device/board.hpp", errors)

    def test_given_a_path_that_climbs_when_it_is_included_then_it_is_refused(self) -> None:
        status, errors = self.check("driver/memory/a.cpp", '"../../sim/model/board.hpp"')
        self.assertEqual(status, 1)
        self.assertIn("climbs out of its folder", errors)

    def test_given_a_quoted_name_that_is_no_file_when_it_is_included_then_it_is_refused(self) -> None:
        status, errors = self.check("driver/memory/a.cpp", '"level_zero/ze_api.h"')
        self.assertEqual(status, 1)
        self.assertIn("is no file of the project", errors)

    def test_given_verilated_code_when_included_then_only_those_who_wrap_it_may(self) -> None:
        self.assert_accepted("sim/rtl/board.cpp", '"Vdatum_board.h"')
        status, errors = self.check("driver/device/a.cpp", '"Vdatum_board.h"')
        self.assertEqual(status, 1)
        self.assertIn("driver/device/a.cpp:1:", errors)

    def test_given_cpp_beside_the_rtl_when_checked_then_it_belongs_nowhere(self) -> None:
        self.assert_refused("rtl_model/rtl/a.cpp", "<vector>", "rtl_model/rtl/a.cpp belongs to no layer of scripts/check_includes.py")

    def test_given_a_folder_without_sources_when_it_is_checked_then_that_is_a_failure(self) -> None:
        with ProjectCopy() as empty:
            result = empty.run(sys.executable, str(PROJECT / "scripts/check_includes.py"), str(empty.root))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no C++ source below", result.stderr)


if __name__ == "__main__":
    unittest.main()
