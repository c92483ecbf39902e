// datum_fabric_write: credits of bursts. A subordinate's data comes in the order of the addresses it took, and nothing deadlocks by two subordinates that
// wait for each other's data.
//
//   - The count of a manager's bursts whose data is to come is that of its entries in the orders of the subordinates, and at most eight.
//   - All of them are of one subordinate: the next address for another one waits.
//   - Data is taken only from a manager with a burst to come, for the subordinate whose turn it is, and goes to one subordinate only.
//
// Two managers and two subordinates; of one manager, any.
// fault rtl/fabric/datum_fabric_write.sv: "&& (data_pending_q[m] == '0 || data_target_q[m] == SubordinateWidth'(s))" becomes ""
// fault rtl/fabric/datum_fabric_write.sv: ".ready_i(data_take && data_last)" becomes ".ready_i(data_take)"
// fault rtl/fabric/datum_fabric_write.sv: "4'(begins) - 4'(ends)" becomes "4'(begins)"
`include "proofs.svh"

module fabric_write_proof
  import datum_pkg::*;
(
  input logic           clk_i,
  input logic           rst_ni,
  input logic [1:0]     awvalid_i,
  input axi_ax_t        aw_first_i,
  input axi_ax_t        aw_second_i,
  input logic [1:0]     aw_target_i,     // of each manager
  input logic [1:0]     wvalid_i,
  input axi_w_t         w_first_i,
  input axi_w_t         w_second_i,
  input logic [1:0]     awready_i,
  input logic [1:0]     wready_i,
  input logic           any_i
);
  logic [1:0] awready, wready, bvalid, awvalid, wvalid, bready;
  axi_ax_t    aw_in[2];
  axi_w_t     w_in[2];
  logic [0:0] target_in[2];
  axi_b_t     b_out[2];
  fabric_ax_t aw_out[2];
  axi_w_t     w_out[2];
  fabric_b_t  b_in[2];
  assign aw_in[0]     = aw_first_i;
  assign aw_in[1]     = aw_second_i;
  assign w_in[0]      = w_first_i;
  assign w_in[1]      = w_second_i;
  assign target_in[0] = aw_target_i[0];
  assign target_in[1] = aw_target_i[1];
  assign b_in[0]      = '0;
  assign b_in[1]      = '0;

  datum_fabric_write #(.Managers(2), .Subordinates(2)) dut (
    .clk_i, .rst_ni, .awvalid_i, .awready_o(awready), .aw_i(aw_in), .aw_target_i(target_in), .wvalid_i, .wready_o(wready), .w_i(w_in),
    .bvalid_o(bvalid), .bready_i(2'b11), .b_o(b_out), .awvalid_o(awvalid), .awready_i, .aw_o(aw_out), .wvalid_o(wvalid), .wready_i, .w_o(w_out),
    .bvalid_i(2'b00), .bready_o(bready), .b_i(b_in)
  );

  `RESET_FIRST
  `ANY(manager_q, any_i)

  // Its entries in the order of each subordinate.
  logic [2:0] held_first, held_second, count_first, count_second;
  logic [1:0] place;
  always_comb begin
    held_first   = dut.gen_subordinate[0].u_order.write_q - dut.gen_subordinate[0].u_order.read_q;
    held_second  = dut.gen_subordinate[1].u_order.write_q - dut.gen_subordinate[1].u_order.read_q;
    count_first  = '0;
    count_second = '0;
    place        = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      place = dut.gen_subordinate[0].u_order.read_q[1:0] + 2'(i);
      if (3'(i) < held_first && dut.gen_subordinate[0].u_order.words_q[place] == manager_q) count_first = count_first + 1'b1;
      place = dut.gen_subordinate[1].u_order.read_q[1:0] + 2'(i);
      if (3'(i) < held_second && dut.gen_subordinate[1].u_order.words_q[place] == manager_q) count_second = count_second + 1'b1;
    end
  end

  logic [3:0] pending;
  logic       taken, target;
  assign pending = dut.data_pending_q[manager_q];
  assign target  = dut.data_target_q[manager_q];
  assign taken   = wvalid_i[manager_q] && wready[manager_q];

  logic unused_bits;
  assign unused_bits = ^{awready, bvalid, awvalid, wvalid, bready, b_out[0], b_out[1], aw_out[0], aw_out[1], w_out[0], w_out[1]};

  `PROVE(orders_hold_four, !started_q || (held_first <= 3'd4 && held_second <= 3'd4))
  `PROVE(pending_is_that_of_the_orders, !started_q || pending == 4'(count_first) + 4'(count_second))
  `PROVE(of_one_subordinate, !started_q || (target ? count_first == '0 : count_second == '0) || pending == '0)
  `PROVE(at_most_eight, !started_q || pending <= 4'd8)
  `PROVE(data_has_an_address, !started_q || !rst_ni || !taken || pending != '0)
  `PROVE(to_one_subordinate, !started_q || !(dut.data_grant[0][manager_q] && dut.data_grant[1][manager_q]))
  `PROVE(to_the_one_of_its_burst, !started_q || !taken || dut.data_grant[target][manager_q])
endmodule
