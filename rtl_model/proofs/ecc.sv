// datum_ecc_encoder and datum_ecc_decoder: one wrong bit is corrected, two are detected.
//
//   - A word without a wrong bit comes out as it is, and nothing is reported.
//   - A word with any one of its 72 bits wrong comes out right, and is reported as corrected.
//   - A word with any two of its 72 bits wrong is reported as lost, and not as corrected.
//   - A word whose check bits were poisoned (of a word that is lost) is reported as lost.
//
// The word is zero: the code is a sum of columns, so syndromes do not depend on it.
// fault rtl/memory/datum_ecc_pkg.sv: "if (syndrome[6]) flipped_bit = syndrome[5:0] == 6'd0" becomes "if (syndrome[6]) flipped_bit = syndrome[5:0] == 6'd1"
// fault rtl/memory/datum_ecc_pkg.sv: "beyond_repair = !(^syndrome)" becomes "beyond_repair = 1'b0"
// fault rtl/memory/datum_ecc_pkg.sv: "check_of = {sum1 ^ (^low), low}" becomes "check_of = {sum1, low}"
`include "proofs.svh"

module ecc_proof (
  input logic       clk_i,
  input logic [6:0] first_i,
  input logic [6:0] second_i
);
  logic [71:0] one, two;
  logic [7:0]  check_none, check_one, check_two, check_poison;
  logic [63:0] data_none, data_one, data_two, data_poison;
  logic        corrected_none, corrected_one, corrected_two, corrected_poison;
  logic        failed_none, failed_one, failed_two, failed_poison;

  assign one = 72'd1 << first_i;
  assign two = one ^ (72'd1 << second_i);

  datum_ecc_encoder #(.Lanes(1)) u_none (.valid_i(1'b1), .data_i(64'd0), .check_o(check_none));
  datum_ecc_encoder #(.Lanes(1)) u_one (.valid_i(1'b1), .data_i(one[63:0]), .check_o(check_one));
  datum_ecc_encoder #(.Lanes(1)) u_two (.valid_i(1'b1), .data_i(two[63:0]), .check_o(check_two));

  datum_ecc_decoder #(.Lanes(1)) u_read_none (
    .data_i(64'd0), .syndrome_i(check_none), .data_o(data_none), .corrected_o(corrected_none), .failed_o(failed_none)
  );
  datum_ecc_decoder #(.Lanes(1)) u_read_one (
    .data_i(one[63:0]), .syndrome_i(check_one ^ one[71:64]), .data_o(data_one), .corrected_o(corrected_one), .failed_o(failed_one)
  );
  datum_ecc_decoder #(.Lanes(1)) u_read_two (
    .data_i(two[63:0]), .syndrome_i(check_two ^ two[71:64]), .data_o(data_two), .corrected_o(corrected_two), .failed_o(failed_two)
  );
  assign check_poison = check_none ^ datum_ecc_pkg::Poison;
  datum_ecc_decoder #(.Lanes(1)) u_read_poison (
    .data_i(64'd0), .syndrome_i(check_poison), .data_o(data_poison), .corrected_o(corrected_poison), .failed_o(failed_poison)
  );

  logic unused_bits;
  assign unused_bits = ^{clk_i, data_two, data_poison};

  `ASSUME(two_bits_of_the_word, first_i < 7'd72 && second_i < 7'd72 && first_i != second_i)
  `PROVE(a_right_word_is_right, data_none == 64'd0 && !corrected_none && !failed_none)
  `PROVE(one_wrong_bit_is_corrected, data_one == 64'd0 && corrected_one && !failed_one)
  `PROVE(two_wrong_bits_are_seen, failed_two && !corrected_two)
  `PROVE(poison_is_seen, failed_poison && !corrected_poison)
endmodule
