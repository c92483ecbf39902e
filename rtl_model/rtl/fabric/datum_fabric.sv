// Joins the managers of the board (channels, ring front end, page-table walker, interrupt messages, aperture) with DRAM, on-chip memory and
// host. Reads and writes, and different subordinates, do not slow each other down.
//
// A manager with bursts of one identifier outstanding at two subordinates gets their answers in any order: managers do not do that.
module datum_fabric
  import datum_pkg::*;
#(
  parameter int unsigned Managers = 8,
  parameter logic [Managers-1:0] Haltable = '1,   // managers that halt_i concerns
  parameter longint unsigned OnchipBytes = 262144,
  localparam int unsigned Subordinates = 3        // by target_e
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [63:0]             memory_bytes_i,

  // While halt_i is high no burst of a haltable manager begins; halted_o: all of theirs are answered.
  input  logic                    halt_i,
  output logic                    halted_o,
  output logic                    idle_o,         // no burst of any manager is unanswered

  input  logic [Managers-1:0]     awvalid_i,
  output logic [Managers-1:0]     awready_o,
  input  axi_ax_t                 aw_i[Managers],
  input  logic [Managers-1:0]     wvalid_i,
  output logic [Managers-1:0]     wready_o,
  input  axi_w_t                  w_i[Managers],
  output logic [Managers-1:0]     bvalid_o,
  input  logic [Managers-1:0]     bready_i,
  output axi_b_t                  b_o[Managers],
  input  logic [Managers-1:0]     arvalid_i,
  output logic [Managers-1:0]     arready_o,
  input  axi_ax_t                 ar_i[Managers],
  output logic [Managers-1:0]     rvalid_o,
  input  logic [Managers-1:0]     rready_i,
  output axi_r_t                  r_o[Managers],

  output logic [Subordinates-1:0] awvalid_o,
  input  logic [Subordinates-1:0] awready_i,
  output fabric_ax_t              aw_o[Subordinates],
  output logic [Subordinates-1:0] wvalid_o,
  input  logic [Subordinates-1:0] wready_i,
  output axi_w_t                  w_o[Subordinates],
  input  logic [Subordinates-1:0] bvalid_i,
  output logic [Subordinates-1:0] bready_o,
  input  fabric_b_t               b_i[Subordinates],
  output logic [Subordinates-1:0] arvalid_o,
  input  logic [Subordinates-1:0] arready_i,
  output fabric_ax_t              ar_o[Subordinates],
  input  logic [Subordinates-1:0] rvalid_i,
  output logic [Subordinates-1:0] rready_o,
  input  fabric_r_t               r_i[Subordinates]
);
  localparam int unsigned Places = Subordinates + 1;         // the last one refuses
  localparam logic [1:0] Refuser = 2'(Subordinates);
  localparam int unsigned CountWidth = 10;

  function automatic logic [1:0] place_of(input phys_t where, input logic [63:0] memory_bytes);
    unique case (where.target)
      TargetDram:   return 64'(where.address) < memory_bytes ? 2'(TargetDram) : Refuser;
      TargetOnchip: return 64'(where.address) < 64'(OnchipBytes) ? 2'(TargetOnchip) : Refuser;
      TargetHost:   return 2'(TargetHost);
      default:      return Refuser;
    endcase
  endfunction

  logic [1:0]          aw_place[Managers];
  logic [1:0]          ar_place[Managers];
  logic [Managers-1:0] awvalid, arvalid, busy;

  logic [Places-1:0]   awvalid_place, awready_place, wvalid_place, wready_place, bvalid_place, bready_place;
  logic [Places-1:0]   arvalid_place, arready_place, rvalid_place, rready_place;
  fabric_ax_t          aw_of[Places];
  axi_w_t              w_of[Places];
  fabric_b_t           b_of[Places];
  fabric_ax_t          ar_of[Places];
  fabric_r_t           r_of[Places];

  assign awvalid  = awvalid_i & ~(Haltable & {Managers{halt_i}});
  assign arvalid  = arvalid_i & ~(Haltable & {Managers{halt_i}});
  assign halted_o = halt_i && (busy & Haltable) == '0;
  assign idle_o   = busy == '0;

  for (genvar m = 0; m < Managers; m++) begin : gen_manager
    logic [CountWidth-1:0] reads_q, writes_q;
    assign aw_place[m] = place_of(aw_i[m].addr, memory_bytes_i);
    assign ar_place[m] = place_of(ar_i[m].addr, memory_bytes_i);
    assign busy[m]     = reads_q != '0 || writes_q != '0;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        reads_q  <= '0;
        writes_q <= '0;
      end else begin
        reads_q <= reads_q + CountWidth'(arvalid[m] && arready_o[m]) - CountWidth'(rvalid_o[m] && rready_i[m] && r_o[m].last);
        writes_q <= writes_q + CountWidth'(awvalid[m] && awready_o[m]) - CountWidth'(bvalid_o[m] && bready_i[m]);
      end
    end

    reads_are_counted: assert property (@(posedge clk_i) disable iff (!rst_ni) rvalid_o[m] |-> reads_q != '0);
    writes_are_counted: assert property (@(posedge clk_i) disable iff (!rst_ni) bvalid_o[m] |-> writes_q != '0);
`ifdef DATUM_ASSERTIONS
    // Bursts of at most 16 beats stay inside 4 KiB, and what is offered stays until it is taken.
    logic [6:0] aw_end, ar_end;
    assign aw_end = 7'(aw_i[m].addr.address[11:6]) + 7'(aw_i[m].len);
    assign ar_end = 7'(ar_i[m].addr.address[11:6]) + 7'(ar_i[m].len);
    writes_inside_page: assert property (@(posedge clk_i) disable iff (!rst_ni) awvalid[m] |-> !aw_end[6]);
    reads_inside_page: assert property (@(posedge clk_i) disable iff (!rst_ni) arvalid[m] |-> !ar_end[6]);
    aw_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      awvalid[m] && !awready_o[m] && !halt_i |=> awvalid_i[m] && $stable(aw_end));
    ar_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      arvalid[m] && !arready_o[m] && !halt_i |=> arvalid_i[m] && $stable(ar_end));
`endif
  end

  datum_fabric_write #(.Managers(Managers), .Subordinates(Places)) u_write (
    .clk_i, .rst_ni,
    .awvalid_i(awvalid), .awready_o, .aw_i, .aw_target_i(aw_place), .wvalid_i, .wready_o, .w_i, .bvalid_o, .bready_i, .b_o,
    .awvalid_o(awvalid_place), .awready_i(awready_place), .aw_o(aw_of), .wvalid_o(wvalid_place), .wready_i(wready_place), .w_o(w_of),
    .bvalid_i (bvalid_place), .bready_o(bready_place), .b_i(b_of)
  );

  datum_fabric_read #(.Managers(Managers), .Subordinates(Places)) u_read (
    .clk_i, .rst_ni,
    .arvalid_i(arvalid), .arready_o, .ar_i, .ar_target_i(ar_place), .rvalid_o, .rready_i, .r_o,
    .arvalid_o(arvalid_place), .arready_i(arready_place), .ar_o(ar_of), .rvalid_i(rvalid_place), .rready_o(rready_place), .r_i(r_of)
  );

  assign awvalid_o = awvalid_place[Subordinates-1:0];
  assign wvalid_o  = wvalid_place[Subordinates-1:0];
  assign bready_o  = bready_place[Subordinates-1:0];
  assign arvalid_o = arvalid_place[Subordinates-1:0];
  assign rready_o  = rready_place[Subordinates-1:0];
  assign awready_place[Subordinates-1:0] = awready_i;
  assign wready_place[Subordinates-1:0]  = wready_i;
  assign bvalid_place[Subordinates-1:0]  = bvalid_i;
  assign arready_place[Subordinates-1:0] = arready_i;
  assign rvalid_place[Subordinates-1:0]  = rvalid_i;
  for (genvar s = 0; s < Subordinates; s++) begin : gen_subordinate
    assign aw_o[s] = aw_of[s];
    assign w_o[s]  = w_of[s];
    assign b_of[s] = b_i[s];
    assign ar_o[s] = ar_of[s];
    assign r_of[s] = r_i[s];
  end

  datum_fabric_refuser u_refuser (
    .clk_i, .rst_ni,
    .awvalid_i(awvalid_place[Refuser]), .awready_o(awready_place[Refuser]), .aw_i(aw_of[Refuser]),
    .wvalid_i (wvalid_place[Refuser]), .wready_o(wready_place[Refuser]), .w_i(w_of[Refuser]),
    .bvalid_o (bvalid_place[Refuser]), .bready_i(bready_place[Refuser]), .b_o(b_of[Refuser]),
    .arvalid_i(arvalid_place[Refuser]), .arready_o(arready_place[Refuser]), .ar_i(ar_of[Refuser]),
    .rvalid_o (rvalid_place[Refuser]), .rready_i(rready_place[Refuser]), .r_o(r_of[Refuser])
  );
endmodule
