"""scripts/profile-rtl: how perf's samples are counted for the blocks of the RTL."""

import importlib.machinery
import importlib.util
import sys
import unittest

from project_copy import PROJECT

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("profile_rtl", str(PROJECT / "scripts/profile-rtl"))
profile_rtl = importlib.util.module_from_spec(importlib.util.spec_from_loader("profile_rtl", loader))
loader.exec_module(profile_rtl)

MODEL = "Vdatum_board_fast___024root__"
REPORT = f"""# Samples: 1K of event 'cpu-clock'
#      Samples  Shared Object        Symbol
           300  libdatum_sim.so      [.] {MODEL}_nba_sequent__TOP__12__PROF__datum_fifo__l27       -      -
           200  libdatum_sim.so      [.] {MODEL}_nba_comb__TOP__7__PROF__datum_fifo__l31           -      -
           296  libdatum_sim.so      [.] {MODEL}_eval_nba                                          -      -
           100  libdatum_sim.so      [.] datum::sim::DramDevice::fill                              -      -
           100  libze_datum.so.1     [.] datum::Ring::poll                                         -      -
             4  [kernel.kallsyms]    [k] finish_task_switch                                        -      -
"""


class ProfileRtl(unittest.TestCase):
    def test_given_samples_of_several_functions_of_a_module_then_they_are_one_row_and_rows_go_by_size(self) -> None:
        rows = profile_rtl.rows(REPORT)
        self.assertEqual([place for place, _ in rows][:2], ["datum_fifo", "the calls of those functions, which have no module"])
        self.assertAlmostEqual(rows[0][1], 50.0)
        self.assertIn(("host, DRAM array and threads in C++", 10.0), rows)
        self.assertIn((profile_rtl.DRIVER, 10.0), rows)

    def test_given_small_shares_then_they_are_told_together_and_everything_adds_up(self) -> None:
        rows = profile_rtl.rows(REPORT)
        self.assertEqual(rows[-1][0], "others, each below 0.5 %")
        self.assertAlmostEqual(rows[-1][1], 0.4)
        self.assertAlmostEqual(sum(percent for _, percent in rows), 100.0)

    def test_given_no_samples_then_it_says_so(self) -> None:
        with self.assertRaises(SystemExit) as ended:
            profile_rtl.rows("# nothing\n")
        self.assertIn("no samples", str(ended.exception))


if __name__ == "__main__":
    unittest.main()
