// What comes back from the device: whom it is for, and corrected. One cycle behind the pins.
module datum_dram_return
  import datum_pkg::*;
  import datum_dram_pkg::*;
(
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // Column reads as they are issued; their data comes in the same order.
  input  logic                   issue_i,
  input  read_tag_t              issue_tag_i,
  input  logic                   dram_rvalid_i,
  input  logic [DataWidth-1:0]   dram_rdata_i,
  input  logic [8*LaneCount-1:0] dram_rcheck_i,

  output logic                   valid_o,
  output read_tag_t              tag_o,
  output logic [DataWidth-1:0]   data_o,
  output logic [LaneCount-1:0]   corrected_o,   // a bit of the word was wrong; data_o is right
  output logic [LaneCount-1:0]   failed_o,      // more were; data_o is not
  output logic [8*LaneCount-1:0] syndrome_o
);
  logic                   order_ready, order_valid;
  read_tag_t              arriving;
  logic [4:0]             unused_order_count;
  logic [8*LaneCount-1:0] check;
  logic [DataWidth-1:0]   data_q;
  logic [8*LaneCount-1:0] syndrome_q;

  datum_fifo #(.Width($bits(read_tag_t)), .DepthLog2(4)) u_order (
    .clk_i, .rst_ni, .valid_i(issue_i), .ready_o(order_ready), .data_i(issue_tag_i), .valid_o(order_valid),
    .ready_i(dram_rvalid_i), .data_o(arriving), .count_o(unused_order_count)
  );
  datum_ecc_encoder #(.Lanes(LaneCount)) u_check (.valid_i(dram_rvalid_i), .data_i(dram_rdata_i), .check_o(check));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_o    <= 1'b0;
      syndrome_q <= '0;
    end else begin
      valid_o    <= dram_rvalid_i;
      syndrome_q <= dram_rvalid_i ? check ^ dram_rcheck_i : '0;
    end
    if (dram_rvalid_i) begin
      tag_o  <= arriving;
      data_q <= dram_rdata_i;
    end
  end

  datum_ecc_decoder #(.Lanes(LaneCount)) u_decoder (
    .data_i(data_q), .syndrome_i(syndrome_q), .data_o, .corrected_o, .failed_o
  );
  assign syndrome_o = syndrome_q;

  data_was_asked_for: assert property (@(posedge clk_i) disable iff (!rst_ni) dram_rvalid_i |-> order_valid);
  order_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni) issue_i |-> order_ready);
endmodule
