// The DMA of the board: rings, scheduler, channels, completion records and fault records.
//
// Every AXI manager uses one identifier for its reads and one for its writes (the front end reads with the channel's number), and
// never has reads, or writes, of two targets outstanding at once: the fabric needs no ordering of its own between targets.
// Addresses of write bursts go out only when all their data is here, so that write data never waits for anything but wready.
module datum_dma
  import datum_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned RingCount         = datum_pkg::RingCount,
  parameter int unsigned ChannelCount      = datum_pkg::ChannelCount,   // 1 to 8
  parameter int unsigned ReadBufferBeats   = 512,                       // of each channel, a power of two
  parameter int unsigned OutstandingReads  = 128,                       // bursts of one channel, a power of two
  parameter int unsigned OutstandingWrites = 128,                       // bursts of one channel, a power of two
  parameter int unsigned PrefetchDepth     = 128,                       // descriptors held by one channel, a power of two
  localparam int unsigned TranslatorCount  = 2 * ChannelCount + 1,      // channel c: reads 2c, writes 2c+1; last: front end
  localparam int unsigned ManagerCount     = ChannelCount + 1           // channel c: c; last: front end
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,

  input  logic [63:0]                            timer_i,
  input  logic [63:0]                            cycles_i,
  input  logic [3:0]                             channel_enable_i,
  input  logic [31:0]                            park_recheck_ns_i,
  input  logic                                   kick_all_i,

  // Registers of the rings; one request at a time, each answered by one pulse of reg_rvalid_o.
  input  logic                                   reg_valid_i,
  input  logic                                   reg_write_i,
  input  logic                                   reg_page_i,     // 1: block ring_page, 0: block ring_config
  input  logic [5:0]                             reg_ring_i,
  input  logic [5:0]                             reg_offset_i,   // bytes, a multiple of 4
  input  logic [31:0]                            reg_wdata_i,
  output logic                                   reg_ready_o,
  output logic                                   reg_rvalid_o,
  output logic [31:0]                            reg_rdata_o,

  // Translation.
  output logic [TranslatorCount-1:0]             tr_req_valid_o,
  output translate_req_t [TranslatorCount-1:0]   tr_req_o,
  input  logic [TranslatorCount-1:0]             tr_req_ready_i,
  input  logic [TranslatorCount-1:0]             tr_rsp_valid_i,
  input  translate_rsp_t [TranslatorCount-1:0]   tr_rsp_i,

  input  logic                                   drain_req_i,
  output logic                                   drain_ack_o,

  // AXI managers.
  output logic [ManagerCount-1:0]                arvalid_o,
  output axi_ax_t [ManagerCount-1:0]             ar_o,
  input  logic [ManagerCount-1:0]                arready_i,
  input  logic [ManagerCount-1:0]                rvalid_i,
  input  axi_r_t [ManagerCount-1:0]              r_i,
  output logic [ManagerCount-1:0]                rready_o,
  output logic [ManagerCount-1:0]                awvalid_o,
  output axi_ax_t [ManagerCount-1:0]             aw_o,
  input  logic [ManagerCount-1:0]                awready_i,
  output logic [ManagerCount-1:0]                wvalid_o,
  output axi_w_t [ManagerCount-1:0]              w_o,
  input  logic [ManagerCount-1:0]                wready_i,
  input  logic [ManagerCount-1:0]                bvalid_i,
  input  axi_b_t [ManagerCount-1:0]              b_i,
  output logic [ManagerCount-1:0]                bready_o,

  // Interrupts: vector of the ring, or RingCount for a fault.
  output logic                                   irq_valid_o,
  output logic [6:0]                             irq_vector_o,
  input  logic                                   irq_ready_i,

  output logic                                   fault_valid_o,  // pulse
  output fault_t                                 fault_o,
  output logic [3:0]                             descriptor_done_o,  // descriptors completed in this cycle
  output logic                                   executing_o,        // a channel executes a descriptor
  output logic                                   quiescent_o,
  output logic                                   parked_o
);
  localparam int unsigned FrontEnd = ChannelCount;

  if (ChannelCount < 1 || ChannelCount > 8) $error("ChannelCount must be 1 to 8");
  if (RingCount < 1 || RingCount > 64) $error("RingCount must be 1 to 64");
  if (ReadBufferBeats < 64) $error("ReadBufferBeats must be 64 or more");
  if (PrefetchDepth < 16) $error("PrefetchDepth must be 16 or more");

  logic [63:0]                      eligible, faulted, stopping, stopped, record_busy;
  logic [ChannelCount-1:0]          free, enabled, bind_channel, resumed, release_valid, release_ready;
  logic                             bind_any, rings_idle, fetch_idle, record_idle, others_wait;
  logic [RingWidth-1:0]             bind_ring;
  binding_t                         binding;
  logic                             midway;
  suspended_t                       resumed_descriptor;
  doorbell_t                        doorbell;
  logic [ChannelCount-1:0][RingWidth-1:0] bound_ring;
  logic [ChannelCount-1:0][31:0]    bound_head;
  release_t [ChannelCount-1:0]      releases;
  release_t                         released;
  logic                             fail_valid;
  fault_t                           fail;
  logic [ChannelCount-1:0]          fetch_valid, fetch_ready, fetched, record_valid, record_ready, retired, executing, channel_idle, landed_hit;
  logic [ChannelCount-1:0][PaWidth-1:0] fetch_address;
  logic [ChannelCount-1:0][3:0]     fetch_len;
  record_t [ChannelCount-1:0]       records;
  landed_t [ChannelCount-1:0]       landed, landed_q;
  watch_t [ChannelCount-1:0]        watches;

  always_ff @(posedge clk_i) landed_q <= rst_ni ? landed : '0;

  datum_dma_rings #(.RingCount(RingCount), .ChannelCount(ChannelCount), .ManagerCount(ChannelCount)) u_rings (
    .clk_i, .rst_ni, .timer_i, .park_recheck_ns_i, .kick_all_i, .drain_i(drain_req_i),
    .reg_valid_i, .reg_write_i, .reg_page_i, .reg_ring_i, .reg_offset_i, .reg_wdata_i, .reg_ready_o, .reg_rvalid_o, .reg_rdata_o,
    .eligible_o(eligible), .bind_i(bind_any), .bind_ring_i(bind_ring), .binding_o(binding), .midway_o(midway), .resumed_o(resumed_descriptor),
    .doorbell_o(doorbell), .faulted_o(faulted), .stopping_o(stopping),
    .bound_i(~free), .bound_ring_i(bound_ring), .bound_head_i(bound_head), .resumed_i(resumed),
    .release_valid_i(release_valid != '0), .release_i(released),
    .stopped_o(stopped), .record_busy_i(record_busy), .fail_valid_i(fail_valid), .fail_i(fail),
    .landed_i(landed_q), .parked_o, .idle_o(rings_idle)
  );

  datum_dma_scheduler #(.ChannelCount(ChannelCount)) u_scheduler (
    .clk_i, .rst_ni, .channel_enable_i, .eligible_i(eligible), .free_i(free), .enabled_o(enabled),
    .bind_o(bind_channel), .bind_any_o(bind_any), .ring_o(bind_ring)
  );
  assign others_wait = eligible != '0 && (free & enabled) == '0;

  // Rings come back one a cycle.
  assign release_ready = release_valid & (~release_valid + 1'b1);
  always_comb begin
    released = releases[0];
    for (int unsigned c = 1; c < ChannelCount; c++) if (release_ready[c]) released = releases[c];
  end

  for (genvar c = 0; c < ChannelCount; c++) begin : g_channel
    always_comb begin
      landed_hit[c] = 1'b0;
      for (int unsigned m = 0; m < ChannelCount; m++) landed_hit[c] |= watch_hit(landed_q[m], watches[c]);
    end

    datum_dma_channel #(
      .ReadBufferBeats(ReadBufferBeats), .OutstandingReads(OutstandingReads), .OutstandingWrites(OutstandingWrites),
      .PrefetchDepth(PrefetchDepth)
    ) u_channel (
      .clk_i, .rst_ni, .timer_i, .drain_i(drain_req_i), .idle_o(channel_idle[c]),
      .free_o(free[c]), .bind_i(bind_channel[c]), .binding_i(binding), .midway_i(midway), .resumed_i(resumed_descriptor), .others_wait_i(others_wait), .enabled_i(enabled[c]),
      .faulted_i(faulted[bound_ring[c]]), .stopping_i(stopping[bound_ring[c]]), .doorbell_i(doorbell),
      .ring_o(bound_ring[c]), .head_o(bound_head[c]), .resumed_o(resumed[c]),
      .release_valid_o(release_valid[c]), .release_o(releases[c]), .release_ready_i(release_ready[c]),
      .fetch_valid_o(fetch_valid[c]), .fetch_address_o(fetch_address[c]), .fetch_len_o(fetch_len[c]),
      .fetch_ready_i(fetch_ready[c]), .fetched_i(fetched[c]), .fetched_data_i(r_i[FrontEnd].data),
      .fetched_bad_i(r_i[FrontEnd].resp[1]),
      .record_valid_o(record_valid[c]), .record_o(records[c]), .record_ready_i(record_ready[c]), .retired_o(retired[c]), .executing_o(executing[c]),
      .landed_o(landed[c]), .landed_hit_i(landed_hit[c]), .watch_o(watches[c]),
      .tr_req_valid_o(tr_req_valid_o[2*c +: 2]), .tr_req_o(tr_req_o[2*c +: 2]), .tr_req_ready_i(tr_req_ready_i[2*c +: 2]),
      .tr_rsp_valid_i(tr_rsp_valid_i[2*c +: 2]), .tr_rsp_i(tr_rsp_i[2*c +: 2]),
      .arvalid_o(arvalid_o[c]), .ar_o(ar_o[c]), .arready_i(arready_i[c]),
      .rvalid_i(rvalid_i[c]), .r_i(r_i[c]), .rready_o(rready_o[c]),
      .awvalid_o(awvalid_o[c]), .aw_o(aw_o[c]), .awready_i(awready_i[c]),
      .wvalid_o(wvalid_o[c]), .w_o(w_o[c]), .wready_i(wready_i[c]),
      .bvalid_i(bvalid_i[c]), .b_i(b_i[c]), .bready_o(bready_o[c])
    );
  end

  datum_dma_fetch #(.ChannelCount(ChannelCount)) u_fetch (
    .clk_i, .rst_ni, .drain_i(drain_req_i), .idle_o(fetch_idle),
    .req_valid_i(fetch_valid), .req_address_i(fetch_address), .req_len_i(fetch_len), .req_ready_o(fetch_ready), .rsp_valid_o(fetched),
    .arvalid_o(arvalid_o[FrontEnd]), .ar_o(ar_o[FrontEnd]), .arready_i(arready_i[FrontEnd]),
    .rvalid_i(rvalid_i[FrontEnd]), .r_i(r_i[FrontEnd]), .rready_o(rready_o[FrontEnd])
  );

  datum_dma_record #(.ChannelCount(ChannelCount), .RingCount(RingCount)) u_record (
    .clk_i, .rst_ni, .drain_i(drain_req_i), .idle_o(record_idle), .timer_i, .cycles_i,
    .req_valid_i(record_valid), .req_i(records), .req_ready_o(record_ready), .stopped_i(stopped), .busy_o(record_busy),
    .fail_valid_o(fail_valid), .fail_o(fail), .fault_valid_o, .fault_o,
    .irq_valid_o, .irq_vector_o, .irq_ready_i,
    .awvalid_o(awvalid_o[FrontEnd]), .aw_o(aw_o[FrontEnd]), .awready_i(awready_i[FrontEnd]),
    .wvalid_o(wvalid_o[FrontEnd]), .w_o(w_o[FrontEnd]), .wready_i(wready_i[FrontEnd]),
    .bvalid_i(bvalid_i[FrontEnd]), .b_i(b_i[FrontEnd]), .bready_o(bready_o[FrontEnd])
  );

  // The front end's accesses are untranslated: its translation port is not used.
  assign tr_req_valid_o[TranslatorCount-1] = 1'b0;
  assign tr_req_o[TranslatorCount-1]       = '0;
  logic unused_front_end;
  assign unused_front_end = ^{tr_req_ready_i[TranslatorCount-1], tr_rsp_valid_i[TranslatorCount-1], tr_rsp_i[TranslatorCount-1]};

  // A drain waits for the front end too, so that nothing at all is outstanding when it is acknowledged.
  logic drained_q;
  always_ff @(posedge clk_i) drained_q <= rst_ni && drain_req_i && (&channel_idle) && fetch_idle && record_idle;
  assign drain_ack_o = drained_q && drain_req_i;

  always_comb begin
    descriptor_done_o = '0;
    for (int unsigned c = 0; c < ChannelCount; c++) descriptor_done_o += 4'(retired[c]);
  end
  assign executing_o = executing != '0;

  assign quiescent_o = rings_idle && (&free) && fetch_idle && record_idle && !irq_valid_o && !reg_valid_i && !kick_all_i && !drain_req_i;
endmodule
