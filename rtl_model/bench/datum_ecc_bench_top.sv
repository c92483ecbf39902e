// Encoder, a place to turn bits, and decoder of one word, for the bench of the code.
module datum_ecc_bench_top (
  input  logic        valid_i,
  input  logic [63:0] data_i,
  input  logic [71:0] flips_i,       // 71:64 are check bits
  output logic [7:0]  check_o,
  output logic [7:0]  syndrome_o,
  output logic [63:0] data_o,
  output logic        corrected_o,
  output logic        failed_o
);
  logic [63:0] stored;
  logic [7:0]  check_of_stored;

  assign stored     = data_i ^ flips_i[63:0];
  assign syndrome_o = check_of_stored ^ check_o ^ flips_i[71:64];

  datum_ecc_encoder #(.Lanes(1)) u_write (.valid_i, .data_i, .check_o);
  datum_ecc_encoder #(.Lanes(1)) u_read (.valid_i(1'b1), .data_i(stored), .check_o(check_of_stored));
  datum_ecc_decoder #(.Lanes(1)) u_decoder (.data_i(stored), .syndrome_i(syndrome_o), .data_o, .corrected_o, .failed_o);
endmodule
