// The DMA of the board: rings, scheduler, channels, completion records and fault records.
//
// Every AXI manager uses one identifier for its reads and one for its writes (the front end reads with the channel's number), and
// never has reads, or writes, of two targets outstanding at once: the fabric needs no ordering of its own between targets.
// Addresses of write bursts go out only when all their data is here, so that write data never waits for anything but wready.
module datum_dma
  import datum_pkg::*;
#(
  parameter int unsigned RingCount         = datum_pkg::RingCount,
  parameter int unsigned ChannelCount      = datum_pkg::ChannelCount,   // 1 to 8
  parameter int unsigned ReadBufferBeats   = 256,                       // of each channel, a power of two
  parameter int unsigned OutstandingReads  = 64,                        // bursts of one channel, a power of two
  parameter int unsigned OutstandingWrites = 64,                        // bursts of one channel, a power of two
  parameter int unsigned PrefetchDepth     = 64,                        // descriptors held by one channel, a power of two
  localparam int unsigned TranslatorCount  = 2 * ChannelCount + 1,      // channel c: reads 2c, writes 2c+1; last: front end
  localparam int unsigned ManagerCount     = ChannelCount + 1           // channel c: c; last: front end
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,

  input  logic [63:0]                            timer_i,
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
  output logic                                   quiescent_o,
  output logic                                   parked_o
);
endmodule
