// The error-correcting code of the memory: 64 data bits and 8 check bits, which correct one wrong bit and detect two.
package datum_ecc_pkg;

  // Check bits that are made wrong in a word that is lost: what no single wrong bit does.
  localparam logic [7:0] Poison = 8'h03;

  // Every bit of a word has a column of 8 bits; the check bits are those that make the sum of the columns of all ones of the word zero.
  // Data bit n: {parity, 1, n}, but data bit 0: {parity, 0, 111111}, since {0, 1, 000000} is check bit 6. Check bit k: 1 << k. `parity` makes each
  // column odd, so one wrong bit leaves an odd syndrome, two an even one that is not zero.
  //
  // Of the sum over n only the halves' parity is needed at each step, so the word is folded in two six times.
  function automatic logic [7:0] check_of(input logic [63:0] data);
    logic [31:0] sum32;
    logic [15:0] sum16;
    logic [7:0]  sum8;
    logic [3:0]  sum4;
    logic [1:0]  sum2;
    logic        sum1;
    logic [6:0]  low;
    sum32 = data[63:32] ^ data[31:0];
    sum16 = sum32[31:16] ^ sum32[15:0];
    sum8  = sum16[15:8] ^ sum16[7:0];
    sum4  = sum8[7:4] ^ sum8[3:0];
    sum2  = sum4[3:2] ^ sum4[1:0];
    sum1  = sum2[1] ^ sum2[0];
    low   = {sum1, ^data[63:32], ^sum32[31:16], ^sum16[15:8], ^sum8[7:4], ^sum4[3:2], sum2[1]} ^ {7{data[0]}};
    check_of = {sum1 ^ (^low), low};
  endfunction

  // The wrong data bit of a syndrome that is not zero: one-hot, or zero where a check bit is wrong. Means nothing when two bits are wrong.
  function automatic logic [63:0] flipped_bit(input logic [6:0] syndrome);
    flipped_bit = 64'd0;
    if (syndrome[6]) flipped_bit = syndrome[5:0] == 6'd0 ? 64'd0 : 64'd1 << syndrome[5:0];
    else if (syndrome[5:0] == 6'd63) flipped_bit = 64'd1;
  endfunction

  // Whether a syndrome that is not zero is that of no single wrong bit.
  function automatic logic beyond_repair(input logic [7:0] syndrome);
    beyond_repair = !(^syndrome)
                    || (!syndrome[6] && syndrome[5:0] != 6'd63 && (syndrome & (syndrome - 8'd1)) != 8'd0);
  endfunction

endpackage
