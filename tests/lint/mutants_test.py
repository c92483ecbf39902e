"""The mutants of scripts/mutate: what is changed, what is left alone, and the source that has them all in it."""

import sys
import tempfile
import unittest
from pathlib import Path

from project_copy import PROJECT

sys.path.insert(0, str(PROJECT / "rtl_model/mutation"))
sys.dont_write_bytecode = True
from mutants import instrumented, mutants_of  # noqa: E402

SOURCE = """// A comment: a == b.
module datum_thing
  import datum_pkg::*;
#(
  parameter int unsigned Depth = 4
) (
  input  logic       clk_i,
  output logic [3:0] value_o
);
  localparam int unsigned Width = Depth + 1;
  logic [Width-1:0] count_q;

  assign value_o = count_q[3:0];

  always_ff @(posedge clk_i) begin
    for (int unsigned k = 0; k + 1 < Depth; k++) begin
      if (enable_i && !full) count_q <= (Width + 1)'(count_q + 1'b1);
    end
  end

  datum_part #(.Size(Depth + 1)) u_part (.clk_i, .take_i(a || b), .out_o(other));

  small: assert property (@(posedge clk_i) count_q == '0);
`ifdef DATUM_ASSERTIONS
  assign checked = a && b;
`endif
endmodule
"""


class Mutants(unittest.TestCase):
    def mutants(self, text: str = SOURCE):
        with tempfile.TemporaryDirectory(prefix="datum-test-") as folder:
            path = Path(folder) / "thing.sv"
            path.write_text(text)
            return mutants_of(path, Path(folder))

    def pairs(self, line: int, text: str = SOURCE) -> list[tuple[str, str]]:
        source, found = self.mutants(text)
        return [(mutant.operator, mutant.lines(source.text)[1]) for mutant in found if mutant.line == line]

    def test_given_a_condition_and_an_assignment_when_mutated_then_each_operator_has_its_turn(self) -> None:
        self.assertEqual(self.pairs(17), [
            ("operator swapped", "if (enable_i || !full) count_q <= (Width + 1)'(count_q + 1'b1);"),
            ("negation dropped", "if (enable_i && full) count_q <= (Width + 1)'(count_q + 1'b1);"),
            ("condition negated", "if (!(enable_i && !full)) count_q <= (Width + 1)'(count_q + 1'b1);"),
            ("operator swapped", "if (enable_i && !full) count_q <= (Width + 1)'(count_q - 1'b1);"),
            ("constant changed", "if (enable_i && !full) count_q <= (Width + 1)'(count_q + 1'b0);"),
            ("assignment dropped", "if (enable_i && !full) ;"),
        ])

    def test_given_a_connection_with_an_operator_when_mutated_then_it_is_changed(self) -> None:
        self.assertEqual([operator for operator, _ in self.pairs(21)], ["operator swapped"])

    def test_given_headers_declarations_loops_ranges_assertions_and_comments_when_mutated_then_they_are_left_alone(self) -> None:
        _, found = self.mutants()
        self.assertEqual({mutant.line for mutant in found}, {17, 21})

    def test_given_what_stands_there_for_lint_alone_when_mutated_then_it_is_left_alone(self) -> None:
        text = SOURCE.replace("assign value_o = count_q[3:0];", "assign unused_bits = ^{a & b};")
        self.assertEqual(self.pairs(13, text), [])

    def test_given_a_package_when_mutated_then_its_functions_are_and_a_model_can_choose(self) -> None:
        text = """package datum_pack_pkg;
  localparam int unsigned Width = 4 + 1;
  function automatic logic both(input logic a, input logic b);
    logic c;
    c = a && b;
    both = c;
  endfunction
endpackage
"""
        self.assertEqual(self.pairs(5, text), [("operator swapped", "c = a || b;"), ("assignment dropped", ";")])
        self.assertEqual(self.pairs(2, text), [])
        source, found = self.mutants(text)
        self.assertIn("package datum_pack_pkg; int unsigned mutant_ = $c32(", instrumented(source, list(enumerate(found, start=1))))

    def test_given_a_choice_in_a_record_when_mutated_then_its_condition_alone_is_negated(self) -> None:
        text = SOURCE.replace("value_o = count_q[3:0];", "value_o = '{low: a == b ? c : d, high: e};")
        self.assertIn(("condition negated", "assign value_o = '{low: !(a == b) ? c : d, high: e};"), self.pairs(13, text))

    def test_given_a_default_of_combinational_logic_when_mutated_then_it_is_not_dropped(self) -> None:
        text = SOURCE.replace("assign value_o = count_q[3:0];", "always_comb begin value_o = a; if (b) value_o = c; end")
        dropped = [line for operator, line in self.pairs(13, text) if operator == "assignment dropped"]
        self.assertEqual(dropped, ["always_comb begin value_o = a; if (b) ; end"])

    def test_given_numbers_when_mutated_then_they_keep_their_width(self) -> None:
        text = SOURCE.replace("value_o = count_q[3:0];", "value_o = a + 4'd15 + 8'h0f + '0 + 7;")
        changed = [line.removeprefix("assign value_o = ") for operator, line in self.pairs(13, text) if operator == "constant changed"]
        self.assertEqual(changed, ["a + 4'd0 + 8'h0f + '0 + 7;", "a + 4'd15 + 8'h10 + '0 + 7;", "a + 4'd15 + 8'h0f + '1 + 7;", "a + 4'd15 + 8'h0f + '0 + 8;"])

    def test_given_all_mutants_when_put_into_one_source_then_a_number_chooses_each(self) -> None:
        source, found = self.mutants()
        text = instrumented(source, list(enumerate(found, start=1)))
        self.assertIn('initial mutant_ = $c32("', text)
        self.assertIn("if ((mutant_ == 1) ? (enable_i || !full) : (mutant_ == 2) ? (enable_i && full) : (mutant_ == 3) ? (!(enable_i && !full)) : (enable_i && !full))",
                      text)
        self.assertIn("begin case (mutant_) 4: count_q <= (Width + 1)'(count_q - 1'b1); 5: count_q <= (Width + 1)'(count_q + 1'b0); 6: ; "
                      "default: count_q <= (Width + 1)'(count_q + 1'b1); endcase end", text)
        self.assertIn(".take_i((mutant_ == 7) ? (a && b) : (a || b))", text)

    def test_given_the_rtl_when_read_then_every_file_with_logic_has_mutants(self) -> None:
        root = PROJECT / "rtl_model"
        without = {path.stem for path in root.glob("rtl/**/*.sv") if not path.stem.endswith("_pkg") and not mutants_of(path, root)[1]}
        self.assertEqual(without, {"datum_host_port"})    # wires only


if __name__ == "__main__":
    unittest.main()
