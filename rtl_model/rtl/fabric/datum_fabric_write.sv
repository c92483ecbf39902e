// The write half of the fabric: every manager to every subordinate. A subordinate takes whole bursts in turn; data follows in the order of
// the addresses it took. A manager's next address waits while data of its bursts to another subordinate is still to come, so that
// no two subordinates can wait for each other's data.
module datum_fabric_write
  import datum_pkg::*;
#(
  parameter int unsigned Managers = 8,
  parameter int unsigned Subordinates = 4,
  localparam int unsigned SubordinateWidth = $clog2(Subordinates)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  input  logic [Managers-1:0]         awvalid_i,
  output logic [Managers-1:0]         awready_o,
  input  axi_ax_t                     aw_i[Managers],
  input  logic [SubordinateWidth-1:0] aw_target_i[Managers],
  input  logic [Managers-1:0]         wvalid_i,
  output logic [Managers-1:0]         wready_o,
  input  axi_w_t                      w_i[Managers],
  output logic [Managers-1:0]         bvalid_o,
  input  logic [Managers-1:0]         bready_i,
  output axi_b_t                      b_o[Managers],

  output logic [Subordinates-1:0]     awvalid_o,
  input  logic [Subordinates-1:0]     awready_i,
  output fabric_ax_t                  aw_o[Subordinates],
  output logic [Subordinates-1:0]     wvalid_o,
  input  logic [Subordinates-1:0]     wready_i,
  output axi_w_t                      w_o[Subordinates],
  input  logic [Subordinates-1:0]     bvalid_i,
  output logic [Subordinates-1:0]     bready_o,
  input  fabric_b_t                   b_i[Subordinates]
);
  localparam int unsigned IndexWidth = Managers > 1 ? $clog2(Managers) : 1;

  logic [SubordinateWidth-1:0] data_target_q[Managers];   // where the data of the manager goes
  logic [3:0]                  data_pending_q[Managers];  // bursts whose data is still to come
  logic [Managers-1:0]         may_ask[Subordinates];
  logic [Managers-1:0]         address_grant[Subordinates];
  logic [Managers-1:0]         data_grant[Subordinates];
  logic [Managers-1:0]         answer_grant[Subordinates];

  for (genvar s = 0; s < Subordinates; s++) begin : gen_subordinate
    logic                  address_any, address_room, order_room, order_valid, data_room;
    logic [IndexWidth-1:0] address_index, data_index;
    logic [Managers-1:0]   request;
    logic                  take, data_take, data_last;
    logic [2:0]            unused_address_count, unused_order_count, unused_data_count;

    assign request = may_ask[s] & {Managers{address_room && order_room}};

    datum_round_robin #(.Count(Managers)) u_choice (
      .clk_i, .rst_ni, .request_i(request), .take_i(1'b1), .any_o(address_any), .index_o(address_index), .grant_o(address_grant[s])
    );
    assign take = address_any;

    datum_fifo #(.Width($bits(fabric_ax_t)), .DepthLog2(2)) u_address (
      .clk_i, .rst_ni, .valid_i(take), .ready_o(address_room), .data_i({ManagerWidth'(address_index), aw_i[address_index]}),
      .valid_o(awvalid_o[s]), .ready_i(awready_i[s]), .data_o(aw_o[s]), .count_o(unused_address_count)
    );
    datum_fifo #(.Width(IndexWidth), .DepthLog2(2)) u_order (
      .clk_i, .rst_ni, .valid_i(take), .ready_o(order_room), .data_i(address_index),
      .valid_o(order_valid), .ready_i(data_take && data_last), .data_o(data_index), .count_o(unused_order_count)
    );

    assign data_take = order_valid && wvalid_i[data_index] && data_room;
    assign data_last = w_i[data_index].last;
    datum_fifo #(.Width($bits(axi_w_t)), .DepthLog2(2)) u_data (
      .clk_i, .rst_ni, .valid_i(data_take), .ready_o(data_room), .data_i(w_i[data_index]),
      .valid_o(wvalid_o[s]), .ready_i(wready_i[s]), .data_o(w_o[s]), .count_o(unused_data_count)
    );

    for (genvar m = 0; m < Managers; m++) begin : gen_manager
      assign may_ask[s][m]      = awvalid_i[m] && aw_target_i[m] == SubordinateWidth'(s) && data_pending_q[m] < 4'd8
                                  && (data_pending_q[m] == '0 || data_target_q[m] == SubordinateWidth'(s));
      assign data_grant[s][m]   = order_valid && data_room && data_index == IndexWidth'(m);
      assign answer_grant[s][m] = bvalid_i[s] && b_i[s].id[FabricIdWidth-1:ManagerIdWidth] == ManagerWidth'(m);
    end
  end

  always_comb begin
    awready_o = '0;
    wready_o  = '0;
    for (int unsigned s = 0; s < Subordinates; s++) begin
      awready_o |= address_grant[s];
      wready_o  |= data_grant[s];
    end
  end

  // Answers: the lowest subordinate first.
  always_comb begin
    bvalid_o = '0;
    for (int unsigned m = 0; m < Managers; m++) b_o[m] = '0;
    for (int unsigned s = 0; s < Subordinates; s++) begin
      bready_o[s] = (answer_grant[s] & bready_i & ~bvalid_o) != '0;
      for (int unsigned m = 0; m < Managers; m++) begin
        if (answer_grant[s][m] && !bvalid_o[m]) b_o[m] = '{id: b_i[s].id[ManagerIdWidth-1:0], resp: b_i[s].resp};
      end
      bvalid_o |= answer_grant[s];
    end
  end

  for (genvar m = 0; m < Managers; m++) begin : gen_pending
    logic begins, ends;
    assign begins = awvalid_i[m] && awready_o[m];
    assign ends   = wvalid_i[m] && wready_o[m] && w_i[m].last;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) data_pending_q[m] <= '0;
      else data_pending_q[m] <= data_pending_q[m] + 4'(begins) - 4'(ends);
      if (begins) data_target_q[m] <= aw_target_i[m];
    end
  end
endmodule
