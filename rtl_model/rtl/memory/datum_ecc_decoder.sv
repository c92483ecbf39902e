// Corrects words of 64 bits by their syndromes: the check bits that came with a word, summed with those of its data.
module datum_ecc_decoder #(
  parameter int unsigned Lanes = 8
) (
  input  logic [64*Lanes-1:0] data_i,
  input  logic [8*Lanes-1:0]  syndrome_i,
  output logic [64*Lanes-1:0] data_o,
  output logic [Lanes-1:0]    corrected_o,   // one bit was wrong: data_o is right, the word in the memory is not
  output logic [Lanes-1:0]    failed_o       // more bits were wrong: data_o means nothing
);
  always_comb begin
    data_o      = data_i;
    corrected_o = '0;
    failed_o    = '0;
    if (syndrome_i != '0) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (syndrome_i[8*l+:8] != 8'd0) begin
          failed_o[l]        = datum_ecc_pkg::beyond_repair(syndrome_i[8*l+:8]);
          corrected_o[l]     = !failed_o[l];
          data_o[64*l+:64]   = data_i[64*l+:64] ^ datum_ecc_pkg::flipped_bit(syndrome_i[8*l+:7]);
        end
      end
    end
  end
endmodule
