// The board: what stands behind the PCIe hard block. Bus names and rules are AXI4's and AXI4-Lite's.
module datum_board
  import datum_pkg::*;
  import datum_mmu_pkg::*;
  import datum_dram_pkg::*;
#(
  parameter int unsigned     HostIdWidth = 10,
  parameter longint unsigned OnchipBytes = 262144,
  parameter longint unsigned ClockHz = 300_000_000
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  // Straps: constant while rst_ni is high.
  input  logic [63:0]  strap_memory_bytes_i,
  input  logic [63:0]  strap_aperture_fixed_bytes_i,
  input  logic [63:0]  strap_aperture_window_bytes_i,
  input  logic [3:0]   strap_channels_i,
  input  logic         strap_memory_clean_i,

  // Timebase in nanoseconds; never goes back.
  input  logic [63:0]  timer_i,

  output logic         quiescent_o,   // nothing in flight: the clock may stop until an input changes or a parked ring is due
  output logic         parked_o,      // at least one ring waits for a word

  // BAR0: registers.
  input  logic [18:0]  s_axil_bar0_awaddr_i,
  input  logic         s_axil_bar0_awvalid_i,
  output logic         s_axil_bar0_awready_o,
  input  logic [31:0]  s_axil_bar0_wdata_i,
  input  logic [3:0]   s_axil_bar0_wstrb_i,
  input  logic         s_axil_bar0_wvalid_i,
  output logic         s_axil_bar0_wready_o,
  output logic [1:0]   s_axil_bar0_bresp_o,
  output logic         s_axil_bar0_bvalid_o,
  input  logic         s_axil_bar0_bready_i,
  input  logic [18:0]  s_axil_bar0_araddr_i,
  input  logic         s_axil_bar0_arvalid_i,
  output logic         s_axil_bar0_arready_o,
  output logic [31:0]  s_axil_bar0_rdata_o,
  output logic [1:0]   s_axil_bar0_rresp_o,
  output logic         s_axil_bar0_rvalid_o,
  input  logic         s_axil_bar0_rready_i,

  // BAR4: MSI-X table at 0, pending bits at 0x1000.
  input  logic [12:0]  s_axil_bar4_awaddr_i,
  input  logic         s_axil_bar4_awvalid_i,
  output logic         s_axil_bar4_awready_o,
  input  logic [31:0]  s_axil_bar4_wdata_i,
  input  logic [3:0]   s_axil_bar4_wstrb_i,
  input  logic         s_axil_bar4_wvalid_i,
  output logic         s_axil_bar4_wready_o,
  output logic [1:0]   s_axil_bar4_bresp_o,
  output logic         s_axil_bar4_bvalid_o,
  input  logic         s_axil_bar4_bready_i,
  input  logic [12:0]  s_axil_bar4_araddr_i,
  input  logic         s_axil_bar4_arvalid_i,
  output logic         s_axil_bar4_arready_o,
  output logic [31:0]  s_axil_bar4_rdata_o,
  output logic [1:0]   s_axil_bar4_rresp_o,
  output logic         s_axil_bar4_rvalid_o,
  input  logic         s_axil_bar4_rready_i,

  // BAR2: aperture. Bursts of up to 16 full-width beats inside 4 KiB; wstrb selects bytes.
  input  logic [3:0]   s_axi_bar2_awid_i,
  input  logic [39:0]  s_axi_bar2_awaddr_i,
  input  logic [7:0]   s_axi_bar2_awlen_i,
  input  logic         s_axi_bar2_awvalid_i,
  output logic         s_axi_bar2_awready_o,
  input  logic [511:0] s_axi_bar2_wdata_i,
  input  logic [63:0]  s_axi_bar2_wstrb_i,
  input  logic         s_axi_bar2_wlast_i,
  input  logic         s_axi_bar2_wvalid_i,
  output logic         s_axi_bar2_wready_o,
  output logic [3:0]   s_axi_bar2_bid_o,
  output logic [1:0]   s_axi_bar2_bresp_o,
  output logic         s_axi_bar2_bvalid_o,
  input  logic         s_axi_bar2_bready_i,
  input  logic [3:0]   s_axi_bar2_arid_i,
  input  logic [39:0]  s_axi_bar2_araddr_i,
  input  logic [7:0]   s_axi_bar2_arlen_i,
  input  logic         s_axi_bar2_arvalid_i,
  output logic         s_axi_bar2_arready_o,
  output logic [3:0]   s_axi_bar2_rid_o,
  output logic [511:0] s_axi_bar2_rdata_o,
  output logic [1:0]   s_axi_bar2_rresp_o,
  output logic         s_axi_bar2_rlast_o,
  output logic         s_axi_bar2_rvalid_o,
  input  logic         s_axi_bar2_rready_i,

  // Host: descriptors, data, completion records, interrupt messages (single beats with four bytes of wstrb).
  // Responses with the same id come in order; different ids in any order, whole bursts of reads may interleave by beat.
  output logic [HostIdWidth-1:0] m_axi_host_awid_o,
  output logic [63:0]  m_axi_host_awaddr_o,
  output logic [7:0]   m_axi_host_awlen_o,
  output logic [2:0]   m_axi_host_awsize_o,
  output logic [1:0]   m_axi_host_awburst_o,
  output logic         m_axi_host_awvalid_o,
  input  logic         m_axi_host_awready_i,
  output logic [511:0] m_axi_host_wdata_o,
  output logic [63:0]  m_axi_host_wstrb_o,
  output logic         m_axi_host_wlast_o,
  output logic         m_axi_host_wvalid_o,
  input  logic         m_axi_host_wready_i,
  input  logic [HostIdWidth-1:0] m_axi_host_bid_i,
  input  logic [1:0]   m_axi_host_bresp_i,
  input  logic         m_axi_host_bvalid_i,
  output logic         m_axi_host_bready_o,
  output logic [HostIdWidth-1:0] m_axi_host_arid_o,
  output logic [63:0]  m_axi_host_araddr_o,
  output logic [7:0]   m_axi_host_arlen_o,
  output logic [2:0]   m_axi_host_arsize_o,
  output logic [1:0]   m_axi_host_arburst_o,
  output logic         m_axi_host_arvalid_o,
  input  logic         m_axi_host_arready_i,
  input  logic [HostIdWidth-1:0] m_axi_host_rid_i,
  input  logic [511:0] m_axi_host_rdata_i,
  input  logic [1:0]   m_axi_host_rresp_i,
  input  logic         m_axi_host_rlast_i,
  input  logic         m_axi_host_rvalid_i,
  output logic         m_axi_host_rready_o,

  // DRAM device: at most one activate, one precharge, one column command a cycle. One column is 64 bytes; a row of a bank has 128 of them, 16 banks in
  // four groups (bank[1:0] is the group). Write data comes with the column command; read data exactly T_CL cycles after it. A column is eight words
  // of 64 bits with eight check bits each; wlanes chooses words. Bits of wflips are to be stored wrong in the word wflip_lane: a card turns them on
  // the way to its pins.
  output logic         dram_act_valid_o,
  output logic [3:0]   dram_act_bank_o,
  output logic [21:0]  dram_act_row_o,
  output logic         dram_pre_valid_o,
  output logic [3:0]   dram_pre_bank_o,
  output logic         dram_pre_all_o,
  output logic         dram_ref_valid_o,
  output logic         dram_cas_valid_o,
  output logic         dram_cas_write_o,
  output logic [3:0]   dram_cas_bank_o,
  output logic [6:0]   dram_cas_col_o,
  output logic [511:0] dram_wdata_o,
  output logic [63:0]  dram_wcheck_o,
  output logic [7:0]   dram_wlanes_o,
  output logic [63:0]  dram_wflips_o,
  output logic [2:0]   dram_wflip_lane_o,
  input  logic         dram_rvalid_i,
  input  logic [511:0] dram_rdata_i,
  input  logic [63:0]  dram_rcheck_i
);
  // Managers of the fabric: channels, ring front end, walker, interrupt messages, aperture.
  localparam int unsigned DmaManagers = ChannelCount + 1;
  localparam int unsigned WalkerManager = DmaManagers;
  localparam int unsigned MessageManager = DmaManagers + 1;
  localparam int unsigned ApertureManager = DmaManagers + 2;
  localparam int unsigned Managers = DmaManagers + 3;
  localparam int unsigned Translators = 2 * ChannelCount + 1;
  localparam int unsigned Subordinates = 3;

  // Inputs that many blocks look at are registered first: they change rarely, or need not be seen in the same cycle.
  logic [63:0] memory_bytes_q, fixed_bytes_q, window_bytes_q, timer_q;
  logic [3:0]  channels_q;
  logic        memory_clean_q;

  always_ff @(posedge clk_i) begin
    memory_bytes_q <= strap_memory_bytes_i;
    fixed_bytes_q  <= strap_aperture_fixed_bytes_i;
    window_bytes_q <= strap_aperture_window_bytes_i;
    channels_q     <= strap_channels_i;
    memory_clean_q <= strap_memory_clean_i;
    timer_q        <= timer_i;
  end

  logic core_rst_n, reset_start, reset_busy, halt, halted;

  datum_reset u_reset (
    .clk_i, .rst_ni, .start_i(reset_start), .busy_o(reset_busy), .halt_o(halt), .halted_i(halted), .core_rst_no(core_rst_n)
  );

  // --- registers

  logic [PaWidth-1:12] window_frame;
  logic [1:0]          window_ordinal;
  logic [3:0]          channel_enable, perf_index;
  logic [31:0]         park_recheck_ns;
  logic                kick_all, memory_ready;
  logic                ring_valid, ring_write, ring_page, ring_ready, ring_rvalid;
  logic [5:0]          ring_index, ring_offset;
  logic [31:0]         ring_wdata, ring_rdata;
  logic                invalidate_start, invalidate_busy, invalidate_done;
  invalidation_t       invalidate_what;
  logic                root_write, root_high;
  logic [SpaceWidth-1:0] root_space;
  logic [31:0]         root_wdata, root_rdata;
  logic                irq_valid, irq_ready;
  logic [6:0]          irq_vector;
  logic                fault_valid;
  fault_t              fault;
  logic [63:0]         perf_value, cycles;
  logic                memory_write, memory_inject, memory_wide, dma_irq, memory_irq, memory_regs_idle;
  logic [18:0]         memory_offset;
  logic [31:0]         memory_wdata;
  logic [63:0]         memory_value;
  dram_timing_t        timing;
  logic                timing_refused, timing_pending, timing_apply, timing_taken;
  logic [6:0]          dma_irq_vector;
  logic                work_idle, regs_idle, msix_idle, dma_idle, mmu_idle, fabric_idle, dram_idle, onchip_idle, aperture_idle;

  datum_regs #(.OnchipBytes(OnchipBytes), .ClockHz(ClockHz)) u_regs (
    .clk_i, .rst_ni, .core_rst_ni(core_rst_n),
    .memory_bytes_i         (memory_bytes_q),
    .aperture_fixed_bytes_i (fixed_bytes_q),
    .aperture_window_bytes_i(window_bytes_q),
    .channels_i             (channels_q),
    .memory_clean_i         (memory_clean_q),
    .timer_i                (timer_q),
    .s_axil_awaddr_i        (s_axil_bar0_awaddr_i),
    .s_axil_awvalid_i       (s_axil_bar0_awvalid_i),
    .s_axil_awready_o       (s_axil_bar0_awready_o),
    .s_axil_wdata_i         (s_axil_bar0_wdata_i),
    .s_axil_wstrb_i         (s_axil_bar0_wstrb_i),
    .s_axil_wvalid_i        (s_axil_bar0_wvalid_i),
    .s_axil_wready_o        (s_axil_bar0_wready_o),
    .s_axil_bresp_o         (s_axil_bar0_bresp_o),
    .s_axil_bvalid_o        (s_axil_bar0_bvalid_o),
    .s_axil_bready_i        (s_axil_bar0_bready_i),
    .s_axil_araddr_i        (s_axil_bar0_araddr_i),
    .s_axil_arvalid_i       (s_axil_bar0_arvalid_i),
    .s_axil_arready_o       (s_axil_bar0_arready_o),
    .s_axil_rdata_o         (s_axil_bar0_rdata_o),
    .s_axil_rresp_o         (s_axil_bar0_rresp_o),
    .s_axil_rvalid_o        (s_axil_bar0_rvalid_o),
    .s_axil_rready_i        (s_axil_bar0_rready_i),
    .cycles_o               (cycles),
    .reset_start_o          (reset_start),
    .reset_busy_i           (reset_busy),
    .window_frame_o         (window_frame),
    .window_ordinal_o       (window_ordinal),
    .channel_enable_o       (channel_enable),
    .park_recheck_ns_o      (park_recheck_ns),
    .kick_all_o             (kick_all),
    .memory_ready_i         (memory_ready),
    .quiescent_i            (work_idle),
    .ring_valid_o           (ring_valid),
    .ring_write_o           (ring_write),
    .ring_page_o            (ring_page),
    .ring_index_o           (ring_index),
    .ring_offset_o          (ring_offset),
    .ring_wdata_o           (ring_wdata),
    .ring_ready_i           (ring_ready),
    .ring_rvalid_i          (ring_rvalid),
    .ring_rdata_i           (ring_rdata),
    .invalidate_start_o     (invalidate_start),
    .invalidate_what_o      (invalidate_what),
    .invalidate_busy_i      (invalidate_busy),
    .invalidate_done_i      (invalidate_done),
    .root_write_o           (root_write),
    .root_high_o            (root_high),
    .root_space_o           (root_space),
    .root_wdata_o           (root_wdata),
    .root_rdata_i           (root_rdata),
    .irq_i                  (irq_valid && irq_ready),
    .irq_vector_i           (irq_vector),
    .fault_valid_i          (fault_valid),
    .fault_i                (fault),
    .memory_write_o         (memory_write),
    .memory_inject_o        (memory_inject),
    .memory_offset_o        (memory_offset),
    .memory_wdata_o         (memory_wdata),
    .memory_value_i         (memory_value),
    .memory_wide_i          (memory_wide),
    .timing_i               (timing),
    .timing_refused_i       (timing_refused),
    .timing_pending_i       (timing_pending),
    .perf_index_o           (perf_index),
    .perf_value_i           (perf_value),
    .idle_o                 (regs_idle)
  );

  // --- managers

  logic [Managers-1:0] awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  axi_ax_t             aw[Managers];
  axi_w_t              w[Managers];
  axi_b_t              b[Managers];
  axi_ax_t             ar[Managers];
  axi_r_t              r[Managers];

  logic [Translators-1:0]           tr_req_valid, tr_req_ready, tr_rsp_valid;
  translate_req_t [Translators-1:0] dma_tr_req;
  translate_rsp_t [Translators-1:0] dma_tr_rsp;
  translate_req_t                   tr_req[Translators];
  translate_rsp_t                   tr_rsp[Translators];
  axi_ax_t [DmaManagers-1:0]        dma_aw, dma_ar;
  axi_w_t [DmaManagers-1:0]         dma_w;
  axi_b_t [DmaManagers-1:0]         dma_b;
  axi_r_t [DmaManagers-1:0]         dma_r;
  logic                             drain_req, drain_ack;
  logic [3:0]                       descriptors_done;
  logic                             executing;

  for (genvar m = 0; m < DmaManagers; m++) begin : gen_dma_manager
    assign aw[m]    = dma_aw[m];
    assign w[m]     = dma_w[m];
    assign dma_b[m] = b[m];
    assign ar[m]    = dma_ar[m];
    assign dma_r[m] = r[m];
  end
  for (genvar t = 0; t < Translators; t++) begin : gen_translator
    assign tr_req[t]     = dma_tr_req[t];
    assign dma_tr_rsp[t] = tr_rsp[t];
  end

  datum_dma u_dma (
    .clk_i,
    .rst_ni           (core_rst_n),
    .timer_i          (timer_q),
    .cycles_i         (cycles),
    .channel_enable_i (channel_enable),
    .park_recheck_ns_i(park_recheck_ns),
    .kick_all_i       (kick_all),
    .reg_valid_i      (ring_valid),
    .reg_write_i      (ring_write),
    .reg_page_i       (ring_page),
    .reg_ring_i       (ring_index),
    .reg_offset_i     (ring_offset),
    .reg_wdata_i      (ring_wdata),
    .reg_ready_o      (ring_ready),
    .reg_rvalid_o     (ring_rvalid),
    .reg_rdata_o      (ring_rdata),
    .tr_req_valid_o   (tr_req_valid),
    .tr_req_o         (dma_tr_req),
    .tr_req_ready_i   (tr_req_ready),
    .tr_rsp_valid_i   (tr_rsp_valid),
    .tr_rsp_i         (dma_tr_rsp),
    .drain_req_i      (drain_req),
    .drain_ack_o      (drain_ack),
    .arvalid_o        (arvalid[DmaManagers-1:0]),
    .ar_o             (dma_ar),
    .arready_i        (arready[DmaManagers-1:0]),
    .rvalid_i         (rvalid[DmaManagers-1:0]),
    .r_i              (dma_r),
    .rready_o         (rready[DmaManagers-1:0]),
    .awvalid_o        (awvalid[DmaManagers-1:0]),
    .aw_o             (dma_aw),
    .awready_i        (awready[DmaManagers-1:0]),
    .wvalid_o         (wvalid[DmaManagers-1:0]),
    .w_o              (dma_w),
    .wready_i         (wready[DmaManagers-1:0]),
    .bvalid_i         (bvalid[DmaManagers-1:0]),
    .b_i              (dma_b),
    .bready_o         (bready[DmaManagers-1:0]),
    .irq_valid_o      (dma_irq),
    .irq_vector_o     (dma_irq_vector),
    .irq_ready_i      (irq_ready),
    .fault_valid_o    (fault_valid),
    .fault_o          (fault),
    .descriptor_done_o(descriptors_done),
    .executing_o      (executing),
    .quiescent_o      (dma_idle),
    .parked_o
  );

  // The memory controller's interrupt waits for those of the rings.
  assign irq_valid  = dma_irq || memory_irq;
  assign irq_vector = dma_irq ? dma_irq_vector : 7'(RingCount + 1);

  logic [4:0] tlb_hits;
  logic       walk;

  datum_mmu #(.Ports(Translators)) u_mmu (
    .clk_i,
    .rst_ni            (core_rst_n),
    .req_valid_i       (tr_req_valid),
    .req_i             (tr_req),
    .req_ready_o       (tr_req_ready),
    .rsp_valid_o       (tr_rsp_valid),
    .rsp_o             (tr_rsp),
    .invalidate_start_i(invalidate_start),
    .invalidate_what_i (invalidate_what),
    .invalidate_busy_o (invalidate_busy),
    .invalidate_done_o (invalidate_done),
    .drain_req_o       (drain_req),
    .drain_ack_i       (drain_ack),
    .root_write_i      (root_write),
    .root_high_i       (root_high),
    .root_space_i      (root_space),
    .root_data_i       (root_wdata),
    .root_data_o       (root_rdata),
    .arvalid_o         (arvalid[WalkerManager]),
    .arready_i         (arready[WalkerManager]),
    .ar_o              (ar[WalkerManager]),
    .rvalid_i          (rvalid[WalkerManager]),
    .rready_o          (rready[WalkerManager]),
    .r_i               (r[WalkerManager]),
    .hits_o            (tlb_hits),
    .walk_o            (walk),
    .idle_o            (mmu_idle)
  );

  // The walker only reads, messages are only written.
  assign awvalid[WalkerManager]  = 1'b0;
  assign aw[WalkerManager]       = '0;
  assign wvalid[WalkerManager]   = 1'b0;
  assign w[WalkerManager]        = '0;
  assign bready[WalkerManager]   = 1'b1;
  assign arvalid[MessageManager] = 1'b0;
  assign ar[MessageManager]      = '0;
  assign rready[MessageManager]  = 1'b1;

  datum_msix #(.Vectors(RingCount + 2)) u_msix (
    .clk_i, .rst_ni,
    .clear_i         (!core_rst_n),
    .irq_valid_i     (irq_valid),
    .irq_vector_i    (irq_vector),
    .irq_ready_o     (irq_ready),
    .s_axil_awaddr_i (s_axil_bar4_awaddr_i),
    .s_axil_awvalid_i(s_axil_bar4_awvalid_i),
    .s_axil_awready_o(s_axil_bar4_awready_o),
    .s_axil_wdata_i  (s_axil_bar4_wdata_i),
    .s_axil_wstrb_i  (s_axil_bar4_wstrb_i),
    .s_axil_wvalid_i (s_axil_bar4_wvalid_i),
    .s_axil_wready_o (s_axil_bar4_wready_o),
    .s_axil_bresp_o  (s_axil_bar4_bresp_o),
    .s_axil_bvalid_o (s_axil_bar4_bvalid_o),
    .s_axil_bready_i (s_axil_bar4_bready_i),
    .s_axil_araddr_i (s_axil_bar4_araddr_i),
    .s_axil_arvalid_i(s_axil_bar4_arvalid_i),
    .s_axil_arready_o(s_axil_bar4_arready_o),
    .s_axil_rdata_o  (s_axil_bar4_rdata_o),
    .s_axil_rresp_o  (s_axil_bar4_rresp_o),
    .s_axil_rvalid_o (s_axil_bar4_rvalid_o),
    .s_axil_rready_i (s_axil_bar4_rready_i),
    .awvalid_o       (awvalid[MessageManager]),
    .awready_i       (awready[MessageManager]),
    .aw_o            (aw[MessageManager]),
    .wvalid_o        (wvalid[MessageManager]),
    .wready_i        (wready[MessageManager]),
    .w_o             (w[MessageManager]),
    .bvalid_i        (bvalid[MessageManager]),
    .bready_o        (bready[MessageManager]),
    .b_i             (b[MessageManager]),
    .idle_o          (msix_idle)
  );

  datum_aperture u_aperture (
    .clk_i, .rst_ni,
    .fixed_bytes_i   (fixed_bytes_q),
    .window_bytes_i  (window_bytes_q),
    .window_frame_i  (window_frame),
    .window_ordinal_i(window_ordinal),
    .s_axi_awid_i    (s_axi_bar2_awid_i),
    .s_axi_awaddr_i  (s_axi_bar2_awaddr_i),
    .s_axi_awlen_i   (s_axi_bar2_awlen_i),
    .s_axi_awvalid_i (s_axi_bar2_awvalid_i),
    .s_axi_awready_o (s_axi_bar2_awready_o),
    .s_axi_wdata_i   (s_axi_bar2_wdata_i),
    .s_axi_wstrb_i   (s_axi_bar2_wstrb_i),
    .s_axi_wlast_i   (s_axi_bar2_wlast_i),
    .s_axi_wvalid_i  (s_axi_bar2_wvalid_i),
    .s_axi_wready_o  (s_axi_bar2_wready_o),
    .s_axi_bid_o     (s_axi_bar2_bid_o),
    .s_axi_bresp_o   (s_axi_bar2_bresp_o),
    .s_axi_bvalid_o  (s_axi_bar2_bvalid_o),
    .s_axi_bready_i  (s_axi_bar2_bready_i),
    .s_axi_arid_i    (s_axi_bar2_arid_i),
    .s_axi_araddr_i  (s_axi_bar2_araddr_i),
    .s_axi_arlen_i   (s_axi_bar2_arlen_i),
    .s_axi_arvalid_i (s_axi_bar2_arvalid_i),
    .s_axi_arready_o (s_axi_bar2_arready_o),
    .s_axi_rid_o     (s_axi_bar2_rid_o),
    .s_axi_rdata_o   (s_axi_bar2_rdata_o),
    .s_axi_rresp_o   (s_axi_bar2_rresp_o),
    .s_axi_rlast_o   (s_axi_bar2_rlast_o),
    .s_axi_rvalid_o  (s_axi_bar2_rvalid_o),
    .s_axi_rready_i  (s_axi_bar2_rready_i),
    .awvalid_o       (awvalid[ApertureManager]),
    .awready_i       (awready[ApertureManager]),
    .aw_o            (aw[ApertureManager]),
    .wvalid_o        (wvalid[ApertureManager]),
    .wready_i        (wready[ApertureManager]),
    .w_o             (w[ApertureManager]),
    .bvalid_i        (bvalid[ApertureManager]),
    .bready_o        (bready[ApertureManager]),
    .b_i             (b[ApertureManager]),
    .arvalid_o       (arvalid[ApertureManager]),
    .arready_i       (arready[ApertureManager]),
    .ar_o            (ar[ApertureManager]),
    .rvalid_i        (rvalid[ApertureManager]),
    .rready_o        (rready[ApertureManager]),
    .r_i             (r[ApertureManager]),
    .idle_o          (aperture_idle)
  );

  // --- fabric and what stands behind it

  logic [Subordinates-1:0] s_awvalid, s_awready, s_wvalid, s_wready, s_bvalid, s_bready, s_arvalid, s_arready, s_rvalid, s_rready;
  fabric_ax_t              s_aw[Subordinates];
  axi_w_t                  s_w[Subordinates];
  fabric_b_t               s_b[Subordinates];
  fabric_ax_t              s_ar[Subordinates];
  fabric_r_t               s_r[Subordinates];

  datum_fabric #(
    .Managers(Managers), .Haltable(~(Managers'(1) << ApertureManager)), .OnchipBytes(OnchipBytes)
  ) u_fabric (
    .clk_i, .rst_ni, .memory_bytes_i(memory_bytes_q), .halt_i(halt), .halted_o(halted), .idle_o(fabric_idle),
    .awvalid_i(awvalid), .awready_o(awready), .aw_i(aw), .wvalid_i(wvalid), .wready_o(wready), .w_i(w),
    .bvalid_o(bvalid), .bready_i(bready), .b_o(b), .arvalid_i(arvalid), .arready_o(arready), .ar_i(ar),
    .rvalid_o(rvalid), .rready_i(rready), .r_o(r),
    .awvalid_o(s_awvalid), .awready_i(s_awready), .aw_o(s_aw), .wvalid_o(s_wvalid), .wready_i(s_wready), .w_o(s_w),
    .bvalid_i(s_bvalid), .bready_o(s_bready), .b_i(s_b), .arvalid_o(s_arvalid), .arready_i(s_arready), .ar_o(s_ar),
    .rvalid_i(s_rvalid), .rready_o(s_rready), .r_i(s_r)
  );

  logic       scrub_valid, scrub_ready, scrubbing, inject_valid, inject_ready, injecting, ecc_valid;
  column_t    scrub_column, inject_column;
  injection_t injection;
  ecc_event_t ecc;

  datum_memory_regs u_memory_regs (
    .clk_i,
    .rst_ni        (core_rst_n),
    .memory_bytes_i(memory_bytes_q),
    .write_i       (memory_write),
    .inject_block_i(memory_inject),
    .offset_i      (memory_offset),
    .wdata_i       (memory_wdata),
    .value_o       (memory_value),
    .wide_o        (memory_wide),
    .ecc_valid_i   (ecc_valid),
    .ecc_i         (ecc),
    .scrub_valid_o (scrub_valid),
    .scrub_ready_i (scrub_ready),
    .scrub_column_o(scrub_column),
    .scrubbing_i   (scrubbing),
    .inject_valid_o(inject_valid),
    .inject_ready_i(inject_ready),
    .inject_column_o(inject_column),
    .injection_o   (injection),
    .injecting_i   (injecting),
    .irq_valid_o   (memory_irq),
    .irq_ready_i   (irq_ready && !dma_irq),
    .idle_o        (memory_regs_idle)
  );

  // Belongs to the controller: a reset by software leaves both alone.
  datum_timing_regs u_timing (
    .clk_i, .rst_ni,
    .write_i  (memory_write && !memory_inject),
    .offset_i (memory_offset),
    .wdata_i  (memory_wdata),
    .timing_o (timing),
    .refused_o(timing_refused),
    .pending_o(timing_pending),
    .apply_o  (timing_apply),
    .taken_i  (timing_taken)
  );

  datum_dram_ctrl u_dram (
    .clk_i, .rst_ni, .timing_i(timing), .timing_apply_i(timing_apply), .timing_taken_o(timing_taken),
    .awvalid_i(s_awvalid[TargetDram]), .awready_o(s_awready[TargetDram]), .aw_i(s_aw[TargetDram]),
    .wvalid_i (s_wvalid[TargetDram]), .wready_o(s_wready[TargetDram]), .w_i(s_w[TargetDram]),
    .bvalid_o (s_bvalid[TargetDram]), .bready_i(s_bready[TargetDram]), .b_o(s_b[TargetDram]),
    .arvalid_i(s_arvalid[TargetDram]), .arready_o(s_arready[TargetDram]), .ar_i(s_ar[TargetDram]),
    .rvalid_o (s_rvalid[TargetDram]), .rready_i(s_rready[TargetDram]), .r_o(s_r[TargetDram]),
    .dram_act_valid_o, .dram_act_bank_o, .dram_act_row_o, .dram_pre_valid_o, .dram_pre_bank_o, .dram_pre_all_o, .dram_ref_valid_o,
    .dram_cas_valid_o, .dram_cas_write_o, .dram_cas_bank_o, .dram_cas_col_o, .dram_wdata_o, .dram_wcheck_o, .dram_wlanes_o, .dram_wflips_o,
    .dram_wflip_lane_o, .dram_rvalid_i, .dram_rdata_i, .dram_rcheck_i,
    .scrub_valid_i(scrub_valid), .scrub_ready_o(scrub_ready), .scrub_column_i(scrub_column), .scrubbing_o(scrubbing),
    .inject_valid_i(inject_valid), .inject_ready_o(inject_ready), .inject_column_i(inject_column), .injection_i(injection),
    .injecting_o(injecting), .ecc_valid_o(ecc_valid), .ecc_o(ecc),
    .ready_o  (memory_ready),
    .idle_o   (dram_idle)
  );

  datum_onchip #(.Bytes(int'(OnchipBytes))) u_onchip (
    .clk_i, .rst_ni,
    .awvalid_i(s_awvalid[TargetOnchip]), .awready_o(s_awready[TargetOnchip]), .aw_i(s_aw[TargetOnchip]),
    .wvalid_i (s_wvalid[TargetOnchip]), .wready_o(s_wready[TargetOnchip]), .w_i(s_w[TargetOnchip]),
    .bvalid_o (s_bvalid[TargetOnchip]), .bready_i(s_bready[TargetOnchip]), .b_o(s_b[TargetOnchip]),
    .arvalid_i(s_arvalid[TargetOnchip]), .arready_o(s_arready[TargetOnchip]), .ar_i(s_ar[TargetOnchip]),
    .rvalid_o (s_rvalid[TargetOnchip]), .rready_i(s_rready[TargetOnchip]), .r_o(s_r[TargetOnchip]),
    .idle_o   (onchip_idle)
  );

  datum_host_port #(.HostIdWidth(HostIdWidth)) u_host (
    .clk_i, .rst_ni,
    .awvalid_i(s_awvalid[TargetHost]), .awready_o(s_awready[TargetHost]), .aw_i(s_aw[TargetHost]),
    .wvalid_i (s_wvalid[TargetHost]), .wready_o(s_wready[TargetHost]), .w_i(s_w[TargetHost]),
    .bvalid_o (s_bvalid[TargetHost]), .bready_i(s_bready[TargetHost]), .b_o(s_b[TargetHost]),
    .arvalid_i(s_arvalid[TargetHost]), .arready_o(s_arready[TargetHost]), .ar_i(s_ar[TargetHost]),
    .rvalid_o (s_rvalid[TargetHost]), .rready_i(s_rready[TargetHost]), .r_o(s_r[TargetHost]),
    .m_axi_host_awid_o, .m_axi_host_awaddr_o, .m_axi_host_awlen_o, .m_axi_host_awsize_o, .m_axi_host_awburst_o, .m_axi_host_awvalid_o,
    .m_axi_host_awready_i, .m_axi_host_wdata_o, .m_axi_host_wstrb_o, .m_axi_host_wlast_o, .m_axi_host_wvalid_o, .m_axi_host_wready_i,
    .m_axi_host_bid_i, .m_axi_host_bresp_i, .m_axi_host_bvalid_i, .m_axi_host_bready_o, .m_axi_host_arid_o, .m_axi_host_araddr_o,
    .m_axi_host_arlen_o, .m_axi_host_arsize_o, .m_axi_host_arburst_o, .m_axi_host_arvalid_o, .m_axi_host_arready_i, .m_axi_host_rid_i,
    .m_axi_host_rdata_i, .m_axi_host_rresp_i, .m_axi_host_rlast_i, .m_axi_host_rvalid_i, .m_axi_host_rready_o
  );

  // --- what happens, and whether anything does

  datum_perf u_perf (
    .clk_i,
    .rst_ni         (core_rst_n),
    .host_read_i    (m_axi_host_rvalid_i && m_axi_host_rready_o),
    .host_write_i   (m_axi_host_wvalid_o && m_axi_host_wready_i),
    .dram_read_i    (dram_cas_valid_o && !dram_cas_write_o),
    .dram_write_i   (dram_cas_valid_o && dram_cas_write_o),
    .dram_activate_i(dram_act_valid_o),
    .dram_refresh_i (dram_ref_valid_o),
    .tlb_hits_i     (tlb_hits),
    .walk_i         (walk),
    .descriptors_i  (descriptors_done),
    .executing_i    (executing),
    .timer_i        (timer_q),
    .index_i        (perf_index),
    .value_o        (perf_value)
  );

  assign work_idle   = dma_idle && mmu_idle && msix_idle && fabric_idle && dram_idle && onchip_idle && aperture_idle
                       && memory_regs_idle && !reset_busy;
  assign quiescent_o = work_idle && regs_idle && rst_ni;

endmodule
