// Check bits of words of 64 bits. Without valid_i they are zero, and cost a simulation nothing.
module datum_ecc_encoder #(
  parameter int unsigned Lanes = 8
) (
  input  logic                valid_i,
  input  logic [64*Lanes-1:0] data_i,
  output logic [8*Lanes-1:0]  check_o
);
  always_comb begin
    check_o = '0;
    if (valid_i) for (int unsigned l = 0; l < Lanes; l++) check_o[8*l+:8] = datum_ecc_pkg::check_of(data_i[64*l+:64]);
  end
endmodule
