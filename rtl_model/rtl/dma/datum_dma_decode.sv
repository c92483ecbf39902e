// What a descriptor asks for, and the first rule that it breaks. The order of the checks is the contract's.
module datum_dma_decode
  import datum_pkg::*;
  import datum_reg_pkg::*;
  import datum_dma_pkg::*;
(
  input  logic          valid_i,        // else the outputs mean nothing
  input  logic [511:0]  descriptor_i,
  input  logic [63:0]   spaces_i,       // RING_SPACES

  output logic          bad_o,
  output cause_t        cause_o,
  output logic [7:0]    opcode_o,
  output logic          moves_o,        // reads or writes something
  output logic          region_o,
  output logic          fence_o,        // begins only when everything before it has completed
  output va_t           bytes_o,        // of one row
  output logic [127:0]  pattern_o       // byte a mod 16 belongs to address a
);
  logic [7:0][63:0] word;
  logic [7:0]       size_code, src_reason, dst_reason;
  logic [1:0]       condition;
  logic             is_copy, is_region, is_fill, is_value, is_wait, is_timestamp, has_src, has_dst, sized;
  logic             reserved, wrong_size, misaligned;
  logic [127:0]     repeated;

  function automatic logic allowed(input logic [63:0] spaces, input logic [15:0] space);
    allowed = 1'b0;
    for (int unsigned i = 0; i < 4; i++) allowed |= spaces[16*i +: 16] == {1'b1, space[14:0]};
    allowed &= !space[15];
  endfunction

  function automatic logic [7:0] address_reason(input logic [63:0] spaces, input logic [15:0] space, input logic [63:0] address,
                                                input va_t count);
    logic [VaWidth:0] end_address;
    end_address = {1'b0, address[VaWidth-1:0]} + {1'b0, count};
    if (!allowed(spaces, space)) address_reason = FAULT_REASON_SPACE_NOT_ALLOWED;
    else if (address[63:VaWidth] != '0 || (end_address[VaWidth] && end_address[VaWidth-1:0] != '0)) address_reason = FAULT_REASON_NOT_CANONICAL;
    else address_reason = FAULT_REASON_NONE;
  endfunction

  // The outputs are worked out only for a descriptor that is there: the simulation's speed rests on it.
  always_comb begin
    word         = '0;
    opcode_o     = '0;
    {is_copy, is_region, is_fill, is_value, is_wait, is_timestamp, has_src, has_dst, sized} = '0;
    {condition, size_code, reserved, wrong_size, misaligned, src_reason, dst_reason} = '0;
    moves_o      = 1'b0;
    region_o     = 1'b0;
    fence_o      = 1'b0;
    bytes_o      = '0;
    repeated     = '0;
    pattern_o    = '0;
    cause_o      = '{status: STATUS_MALFORMED, reason: FAULT_REASON_NONE, write: 1'b0, space: '0, address: '0};
    if (valid_i) begin
      word         = descriptor_i;
      opcode_o     = word[0][7:0];
      condition    = word[0][DESCRIPTOR_WAIT_CONDITION_LSB +: 2];
      size_code    = word[0][DESCRIPTOR_SIZE_CODE_LSB +: 8];
      is_copy      = opcode_o == OPCODE_COPY;
      is_region    = opcode_o == OPCODE_COPY_REGION;
      is_fill      = opcode_o == OPCODE_FILL;
      is_value     = opcode_o == OPCODE_WRITE_VALUE;
      is_wait      = opcode_o == OPCODE_WAIT_VALUE;
      is_timestamp = opcode_o == OPCODE_TIMESTAMP;
      has_src      = is_copy || is_region;
      has_dst      = has_src || is_fill || is_value || is_wait || is_timestamp;
      sized        = is_fill || is_value || is_timestamp;
      region_o     = is_region;
      fence_o      = word[0][DESCRIPTOR_FLAG_FENCE_LSB] || opcode_o == OPCODE_BARRIER || is_wait || is_timestamp;

      // Words and bits that the opcode leaves unused.
      reserved = word[0][11] || word[0][15:14] != '0 || word[0][31:24] != '0 ||
                 condition == 2'd3 || (!is_wait && condition != '0) || (!sized && size_code != '0) ||
                 word[1][63:32] != '0 || (!has_src && word[1][15:0] != '0) || (!has_dst && word[1][31:16] != '0);
      unique case (opcode_o)
        OPCODE_COPY:        reserved |= word[4][63:48] != '0 || (word[5] | word[6] | word[7]) != '0;
        OPCODE_COPY_REGION: reserved |= word[7][63:32] != '0;
        OPCODE_FILL:        reserved |= word[4][63:48] != '0 || (word[6] | word[7]) != '0;
        OPCODE_WRITE_VALUE: reserved |= (word[4] | word[5] | word[6] | word[7]) != '0;
        OPCODE_WAIT_VALUE:  reserved |= (word[6] | word[7]) != '0;
        OPCODE_TIMESTAMP:   reserved |= (word[2] | word[4] | word[5] | word[6] | word[7]) != '0;
        default:            reserved |= (word[2] | word[3] | word[4] | word[5] | word[6] | word[7]) != '0;
      endcase
      wrong_size = (is_fill && size_code > 8'd4) || (is_value && size_code != 8'd2 && size_code != 8'd3) ||
                   (is_timestamp && size_code != 8'd3);
      misaligned = ((is_value || is_wait || is_timestamp) && word[3][1:0] != '0) ||
                   ((is_wait || is_timestamp || (is_value && size_code == 8'd3)) && word[3][2]);

      // Bytes of the first run.
      unique case (opcode_o)
        OPCODE_COPY, OPCODE_FILL: bytes_o = word[4][47:0];
        OPCODE_COPY_REGION:       bytes_o = 48'(word[4][31:0]);
        OPCODE_WRITE_VALUE:       bytes_o = size_code == 8'd2 ? 48'd4 : 48'd8;
        default:                  bytes_o = 48'd8;
      endcase
      moves_o = has_dst && bytes_o != '0 && (!is_region || (word[4][63:32] != '0 && word[7][31:0] != '0));

      src_reason = has_src ? address_reason(spaces_i, word[1][15:0], word[2], bytes_o) : FAULT_REASON_NONE;
      dst_reason = address_reason(spaces_i, word[1][31:16], word[3], bytes_o);
      if (opcode_o > OPCODE_BARRIER) cause_o.reason = FAULT_REASON_OPCODE;
      else if (reserved)             cause_o.reason = FAULT_REASON_RESERVED_BITS;
      else if (wrong_size)           cause_o.reason = FAULT_REASON_SIZE;
      else if (misaligned)           cause_o.reason = FAULT_REASON_ALIGNMENT;
      else if (moves_o && src_reason != FAULT_REASON_NONE)
        cause_o = '{status: STATUS_MMU, reason: src_reason, write: 1'b0, space: word[1][14:0], address: word[2]};
      else if (moves_o && dst_reason != FAULT_REASON_NONE)
        cause_o = '{status: STATUS_MMU, reason: dst_reason, write: !is_wait, space: word[1][30:16], address: word[3]};
      // The ring may name a space that the board does not have: it has no root.
      else if (moves_o && has_src && 32'(word[1][15:0]) >= SpaceCount)
        cause_o = '{status: STATUS_MMU, reason: FAULT_REASON_NO_ROOT, write: 1'b0, space: word[1][14:0], address: word[2]};
      else if (moves_o && 32'(word[1][31:16]) >= SpaceCount)
        cause_o = '{status: STATUS_MMU, reason: FAULT_REASON_NO_ROOT, write: !is_wait, space: word[1][30:16], address: word[3]};

      // The pattern, repeated to 16 bytes and turned so that it depends on the address and not on the start.
      unique case (size_code[2:0])
        3'd0:    repeated = {16{word[2][7:0]}};
        3'd1:    repeated = {8{word[2][15:0]}};
        3'd2:    repeated = {4{word[2][31:0]}};
        3'd3:    repeated = {2{word[2]}};
        default: repeated = {word[5], word[2]};
      endcase
      pattern_o = 128'(({repeated, repeated} << {word[3][3:0], 3'b000}) >> 128);
    end
  end
  assign bad_o = cause_o.reason != FAULT_REASON_NONE;
endmodule
