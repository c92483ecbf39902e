// datum_msix: no interrupt is lost, none is made up, and masks hold.
//
//   - A vector that was raised is pending until its message begins, however long it is masked; then it is not, unless it was raised again.
//   - A message begins only for a vector that is pending and not masked, with the address and the data of its entry.
//   - There is one message at a time: the next one begins when the last one was answered. Address and data stay until they are taken.
//
// Of one vector, any. The board clears the block only while the fabric takes nothing of it and has answered all (board_reset.sv); vectors that were
// raised before are dropped.
// fault rtl/control/datum_msix.sv: ".request_i(pending_q & ~masked_q)" becomes ".request_i(pending_q)"
// fault rtl/control/datum_msix.sv: "(pending_q & ~(state_q == StateIdle ? due_grant : '0)) | raised" becomes "(pending_q | raised) & ~(state_q == StateIdle ? due_grant : '0)"
// fault rtl/control/datum_msix.sv: "default: if (bvalid_i) state_q" becomes "default: state_q"
`include "proofs.svh"

module msix_proof
  import datum_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        clear_i,
  input logic        irq_valid_i,
  input logic [6:0]  irq_vector_i,
  input logic [12:0] awaddr_i,
  input logic        awvalid_i,
  input logic [31:0] wdata_i,
  input logic [3:0]  wstrb_i,
  input logic        wvalid_i,
  input logic        bready_i,
  input logic        awready_i,
  input logic        wready_i,
  input logic        bvalid_i,
  input axi_b_t      b_i,
  input logic [1:0]  any_i
);
  localparam int unsigned Vectors = 4;

  logic        irq_ready, table_awready, table_wready, table_bvalid, table_arready, table_rvalid;
  logic [1:0]  table_bresp, table_rresp;
  logic [31:0] table_rdata;
  logic        awvalid, wvalid, bready, idle;
  axi_ax_t     aw;
  axi_w_t      w;

  datum_msix #(.Vectors(Vectors)) dut (
    .clk_i, .rst_ni, .clear_i, .irq_valid_i, .irq_vector_i, .irq_ready_o(irq_ready),
    .s_axil_awaddr_i(awaddr_i), .s_axil_awvalid_i(awvalid_i), .s_axil_awready_o(table_awready), .s_axil_wdata_i(wdata_i), .s_axil_wstrb_i(wstrb_i),
    .s_axil_wvalid_i(wvalid_i), .s_axil_wready_o(table_wready), .s_axil_bresp_o(table_bresp), .s_axil_bvalid_o(table_bvalid),
    .s_axil_bready_i(bready_i), .s_axil_araddr_i('0), .s_axil_arvalid_i(1'b0), .s_axil_arready_o(table_arready), .s_axil_rdata_o(table_rdata),
    .s_axil_rresp_o(table_rresp), .s_axil_rvalid_o(table_rvalid), .s_axil_rready_i(1'b1),
    .awvalid_o(awvalid), .awready_i, .aw_o(aw), .wvalid_o(wvalid), .wready_i, .w_o(w), .bvalid_i, .bready_o(bready), .b_i, .idle_o(idle)
  );

  `RESET_FIRST
  `ANY(vector_q, any_i)

  logic                owed_q;             // raised, and no message has begun since
  logic                sending_q;          // a message is under way
  logic                address_q, data_q;  // of which this was taken
  logic                of_it_q;            // it is the vector's
  logic                aw_waited_q, w_waited_q;
  logic [63:0]         entry_address_q;
  logic [31:0]         entry_data_q;
  logic [31:0]         waiting_word_q;
  logic [PaWidth-1:0]  waiting_address_q;
  logic                raised, begins, begins_it;

  assign raised    = irq_valid_i && irq_vector_i == 7'(vector_q);
  assign begins    = dut.state_q == 2'd0 && dut.due_any && !clear_i;
  assign begins_it = begins && dut.due_vector == 7'(vector_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owed_q      <= 1'b0;
      sending_q   <= 1'b0;
      address_q   <= 1'b0;
      data_q      <= 1'b0;
      of_it_q     <= 1'b0;
      aw_waited_q <= 1'b0;
      w_waited_q  <= 1'b0;
    end else begin
      owed_q <= !clear_i && (raised || (owed_q && !begins_it));
      if (clear_i) begin
        sending_q <= 1'b0;
        of_it_q   <= 1'b0;
      end else if (begins) begin
        sending_q <= 1'b1;
        of_it_q   <= begins_it;
      end else if (address_q && data_q && bvalid_i) begin
        sending_q <= 1'b0;
        of_it_q   <= 1'b0;
      end
      if (begins) begin
        address_q <= 1'b0;
        data_q    <= 1'b0;
      end else begin
        address_q <= address_q || (awvalid && awready_i);
        data_q    <= data_q || (wvalid && wready_i);
      end
      aw_waited_q <= awvalid && !awready_i && !clear_i;
      w_waited_q  <= wvalid && !wready_i && !clear_i;
    end
    if (begins_it) begin
      entry_address_q <= {dut.address_high_q[vector_q], dut.address_low_q[vector_q]};
      entry_data_q    <= dut.data_q[vector_q];
    end
    waiting_address_q <= aw.addr.address;
    waiting_word_q    <= w.data[31:0];
  end

  logic [63:0] lane_mask;
  assign lane_mask = 64'd15 << entry_address_q[5:0];

  logic unused_bits;
  assign unused_bits = ^{irq_ready, table_awready, table_wready, table_bresp, table_bvalid, table_arready, table_rdata, table_rresp, table_rvalid,
                         bready, idle, entry_address_q[63:PaWidth]};

  `ASSUME(vectors_exist, !irq_valid_i || irq_vector_i < 7'(Vectors))
  `ASSUME(answers_have_a_message, !started_q || !bvalid_i || (sending_q && address_q && data_q))
  `ASSUME(cleared_when_all_is_answered, !started_q || !clear_i || (!(sending_q && (address_q || data_q)) && !awready_i && !wready_i))
  `PROVE(pending_while_owed, !started_q || !rst_ni || dut.pending_q[vector_q] == owed_q)
  `PROVE(begins_when_owed_and_not_masked, !started_q || !rst_ni || !begins_it || (owed_q && !dut.masked_q[vector_q]))
  `PROVE(one_at_a_time, !started_q || !rst_ni || !begins || !sending_q)
  `PROVE(states_are_those_of_a_message, !started_q || (sending_q ? dut.state_q == (address_q && data_q ? 2'd2 : 2'd1) : dut.state_q == 2'd0))
  `PROVE(parts_are_sent_once, !started_q || !sending_q || (dut.aw_sent_q == address_q && dut.w_sent_q == data_q) || dut.state_q == 2'd2)
  `PROVE(of_a_message_only, !started_q || sending_q || !of_it_q)
  `PROVE(entry_is_kept, !started_q || !of_it_q || (dut.message_address_q == entry_address_q && dut.message_data_q == entry_data_q))
  `PROVE(nothing_without_a_message, !started_q || !rst_ni || sending_q || (!awvalid && !wvalid))
  `PROVE(to_the_address_of_its_entry, !started_q || !(of_it_q && awvalid)
         || (aw.addr.target == TargetHost && aw.addr.address == {entry_address_q[PaWidth-1:6], 6'd0} && aw.len == '0))
  `PROVE(with_the_data_of_its_entry, !started_q || !(of_it_q && wvalid) || (w.data[31:0] == entry_data_q && w.strb == lane_mask && w.last))
  `PROVE(address_stays, !started_q || !rst_ni || !aw_waited_q || (awvalid && aw.addr.address == waiting_address_q))
  `PROVE(data_stays, !started_q || !rst_ni || !w_waited_q || (wvalid && w.data[31:0] == waiting_word_q))
endmodule
