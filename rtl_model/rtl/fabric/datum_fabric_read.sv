// The read half of the fabric: every manager to every subordinate. Data finds its way back by the manager's number in the identifier.
module datum_fabric_read
  import datum_pkg::*;
#(
  parameter int unsigned Managers = 8,
  parameter int unsigned Subordinates = 4,
  localparam int unsigned SubordinateWidth = $clog2(Subordinates)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  input  logic [Managers-1:0]         arvalid_i,
  output logic [Managers-1:0]         arready_o,
  input  axi_ax_t                     ar_i[Managers],
  input  logic [SubordinateWidth-1:0] ar_target_i[Managers],
  output logic [Managers-1:0]         rvalid_o,
  input  logic [Managers-1:0]         rready_i,
  output axi_r_t                      r_o[Managers],

  output logic [Subordinates-1:0]     arvalid_o,
  input  logic [Subordinates-1:0]     arready_i,
  output fabric_ax_t                  ar_o[Subordinates],
  input  logic [Subordinates-1:0]     rvalid_i,
  output logic [Subordinates-1:0]     rready_o,
  input  fabric_r_t                   r_i[Subordinates]
);
  localparam int unsigned IndexWidth = Managers > 1 ? $clog2(Managers) : 1;

  logic [Managers-1:0]         address_grant[Subordinates];
  logic [Managers-1:0]         data_grant[Subordinates];
  logic [SubordinateWidth-1:0] source[Managers];

  for (genvar s = 0; s < Subordinates; s++) begin : gen_subordinate
    logic                  any, room;
    logic [IndexWidth-1:0] index;
    logic [Managers-1:0]   request;
    logic [2:0]            unused_count;

    for (genvar m = 0; m < Managers; m++) begin : gen_manager
      assign request[m]       = arvalid_i[m] && ar_target_i[m] == SubordinateWidth'(s) && room;
      assign data_grant[s][m] = rvalid_i[s] && r_i[s].id[FabricIdWidth-1:ManagerIdWidth] == ManagerWidth'(m);
    end

    datum_round_robin #(.Count(Managers)) u_choice (
      .clk_i, .rst_ni, .request_i(request), .take_i(1'b1), .any_o(any), .index_o(index), .grant_o(address_grant[s])
    );
    datum_fifo #(.Width($bits(fabric_ax_t)), .DepthLog2(2)) u_address (
      .clk_i, .rst_ni, .valid_i(any), .ready_o(room), .data_i({ManagerWidth'(index), ar_i[index]}),
      .valid_o(arvalid_o[s]), .ready_i(arready_i[s]), .data_o(ar_o[s]), .count_o(unused_count)
    );
  end

  // Data: the lowest subordinate first.
  always_comb begin
    arready_o = '0;
    rvalid_o  = '0;
    for (int unsigned m = 0; m < Managers; m++) source[m] = '0;
    for (int unsigned s = 0; s < Subordinates; s++) begin
      arready_o |= address_grant[s];
      rready_o[s] = (data_grant[s] & rready_i & ~rvalid_o) != '0;
      for (int unsigned m = 0; m < Managers; m++) if (data_grant[s][m] && !rvalid_o[m]) source[m] = SubordinateWidth'(s);
      rvalid_o |= data_grant[s];
    end
  end

  for (genvar m = 0; m < Managers; m++) begin : gen_data
    assign r_o[m] = '{id: r_i[source[m]].id[ManagerIdWidth-1:0], data: r_i[source[m]].data, resp: r_i[source[m]].resp,
                      last: r_i[source[m]].last};
  end
endmodule
