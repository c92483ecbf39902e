// BAR0: all registers of the description. Those of the rings live in the DMA, roots of spaces in the MMU.
module datum_regs
  import datum_pkg::*;
  import datum_reg_pkg::*;
  import datum_mmu_pkg::*;
  import datum_dram_pkg::*;
#(
  parameter longint unsigned OnchipBytes = 262144,
  parameter longint unsigned ClockHz = 300_000_000
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       core_rst_ni,     // also low in a reset by software

  input  logic [63:0]                memory_bytes_i,
  input  logic [63:0]                aperture_fixed_bytes_i,
  input  logic [63:0]                aperture_window_bytes_i,
  input  logic [3:0]                 channels_i,
  input  logic                       memory_clean_i,
  input  logic [63:0]                timer_i,

  input  logic [18:0]                s_axil_awaddr_i,
  input  logic                       s_axil_awvalid_i,
  output logic                       s_axil_awready_o,
  input  logic [31:0]                s_axil_wdata_i,
  input  logic [3:0]                 s_axil_wstrb_i,
  input  logic                       s_axil_wvalid_i,
  output logic                       s_axil_wready_o,
  output logic [1:0]                 s_axil_bresp_o,
  output logic                       s_axil_bvalid_o,
  input  logic                       s_axil_bready_i,
  input  logic [18:0]                s_axil_araddr_i,
  input  logic                       s_axil_arvalid_i,
  output logic                       s_axil_arready_o,
  output logic [31:0]                s_axil_rdata_o,
  output logic [1:0]                 s_axil_rresp_o,
  output logic                       s_axil_rvalid_o,
  input  logic                       s_axil_rready_i,

  output logic [63:0]                cycles_o,
  output logic                       reset_start_o,
  input  logic                       reset_busy_i,
  output logic [PaWidth-1:12]        window_frame_o,
  output logic [1:0]                 window_ordinal_o,
  output logic [3:0]                 channel_enable_o,
  output logic [31:0]                park_recheck_ns_o,
  output logic                       kick_all_o,
  input  logic                       memory_ready_i,
  input  logic                       quiescent_i,     // all but the access that asks

  // Rings.
  output logic                       ring_valid_o,
  output logic                       ring_write_o,
  output logic                       ring_page_o,
  output logic [5:0]                 ring_index_o,
  output logic [5:0]                 ring_offset_o,
  output logic [31:0]                ring_wdata_o,
  input  logic                       ring_ready_i,
  input  logic                       ring_rvalid_i,
  input  logic [31:0]                ring_rdata_i,

  // MMU.
  output logic                       invalidate_start_o,
  output invalidation_t              invalidate_what_o,
  input  logic                       invalidate_busy_i,
  input  logic                       invalidate_done_i,
  output logic                       root_write_o,
  output logic                       root_high_o,
  output logic [SpaceWidth-1:0]      root_space_o,
  output logic [31:0]                root_wdata_o,
  input  logic [31:0]                root_rdata_i,

  // Interrupt status and fault log.
  input  logic                       irq_i,
  input  logic [6:0]                 irq_vector_i,
  input  logic                       fault_valid_i,
  input  fault_t                     fault_i,

  // Error correction, scrubber and injection.
  output logic                       memory_write_o,
  output logic                       memory_inject_o,  // of the inject block
  output logic [18:0]                memory_offset_o,
  output logic [31:0]                memory_wdata_o,
  input  logic [63:0]                memory_value_i,
  input  logic                       memory_wide_i,
  input  dram_timing_t               timing_i,
  input  logic                       timing_refused_i,
  input  logic                       timing_pending_i,

  output logic [3:0]                 perf_index_o,
  input  logic [63:0]                perf_value_i,

  output logic                       idle_o
);
  // --- bus

  logic        request, request_write, done;
  logic [18:0] address;
  logic [31:0] wdata, rdata;
  logic        high;

  datum_axil_slave #(.AddressWidth(19)) u_slave (
    .clk_i, .rst_ni,
    .s_axil_awaddr_i, .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_wdata_i, .s_axil_wstrb_i, .s_axil_wvalid_i, .s_axil_wready_o,
    .s_axil_bresp_o, .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_araddr_i, .s_axil_arvalid_i, .s_axil_arready_o,
    .s_axil_rdata_o, .s_axil_rresp_o, .s_axil_rvalid_o, .s_axil_rready_i,
    .request_o(request), .write_o(request_write), .address_o(address), .wdata_o(wdata), .done_i(done), .rdata_i(rdata), .idle_o
  );

  assign high = address[2];

  // --- which block

  typedef enum logic [2:0] { BlockNone, BlockGlobal, BlockMmu, BlockSpace, BlockMemory, BlockInject, BlockPerf, BlockRing } block_e;

  block_e      block;
  logic        ring_is_page;
  logic [18:0] offset;            // in the block
  logic        access;            // the access takes place in this cycle
  logic        write;

  always_comb begin
    block        = BlockNone;
    ring_is_page = 1'b0;
    offset       = 19'(address[11:2]) << 2;
    if (address < MMU_BASE) begin
      block = BlockGlobal;
    end else if (address < SPACE_BASE) begin
      block  = BlockMmu;
      offset = 19'(address[10:2]) << 2;
    end else if (address < MEMORY_BASE) begin
      block = BlockSpace;
    end else if (address < PERF_BASE) begin
      block = BlockMemory;
    end else if (address < INJECT_BASE) begin
      block = BlockPerf;
    end else if (address < INJECT_BASE + 19'h1000) begin
      block = BlockInject;
    end else if (address >= RING_CONFIG_BASE && address < RING_CONFIG_BASE + 19'(RING_CONFIG_STRIDE * RING_CONFIG_COUNT)) begin
      block  = BlockRing;
      offset = 19'(address[5:2]) << 2;
    end else if (address >= RING_PAGE_BASE && address < RING_PAGE_BASE + 19'(RING_PAGE_STRIDE * RING_PAGE_COUNT)
                 && address[11:6] == '0) begin
      block        = BlockRing;
      ring_is_page = 1'b1;
    end
  end

  // Rings do not answer while they are being reset.
  logic ring_access, ring_asked_q;
  assign ring_access = block == BlockRing && !reset_busy_i;
  assign done        = request && (ring_access ? ring_rvalid_i : 1'b1);
  assign access      = request && !ring_access;
  assign write       = access && request_write && !reset_busy_i;

  assign ring_valid_o  = request && ring_access && !ring_asked_q;
  assign ring_write_o  = request_write;
  assign ring_page_o   = ring_is_page;
  assign ring_index_o  = ring_is_page ? 6'(address[18:12] - RING_PAGE_BASE[18:12]) : address[11:6];
  assign ring_offset_o = {address[5:2], 2'b00};
  assign ring_wdata_o  = wdata;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || done) ring_asked_q <= 1'b0;
    else if (ring_valid_o && ring_ready_i) ring_asked_q <= 1'b1;
  end

  // --- registers of the global and MMU blocks

  logic [63:0] window_base_q, scratch_q, cycles_q, inv_address_q, inv_bytes_q;
  logic [31:0] park_recheck_q, inv_space_q;
  logic [30:0] inv_done_q;
  logic [3:0]  channel_enable_q, channels;
  logic [63:0] interrupt_rings;
  logic [31:0] interrupt_global, fault_count, fault_info, fault_ring, fault_sequence;
  logic [63:0] fault_address;

  function automatic logic [63:0] with_half(input logic [63:0] old, input logic upper, input logic [31:0] data);
    return upper ? {data, old[31:0]} : {old[63:32], data};
  endfunction

  localparam logic [63:0] WindowMask = (((64'd1 << WINDOW_BASE_ADDRESS_WIDTH) - 64'd1) << WINDOW_BASE_ADDRESS_LSB)
                                       | (((64'd1 << WINDOW_BASE_ORDINAL_WIDTH) - 64'd1) << WINDOW_BASE_ORDINAL_LSB);

  logic        write_global, write_mmu;
  logic [18:0] base_offset;         // of the 64-bit register

  assign write_global = write && block == BlockGlobal;
  assign write_mmu    = write && block == BlockMmu;
  assign base_offset  = {offset[18:3], 3'd0};
  assign channels     = channels_i == '0 ? 4'd1 : channels_i > 4'(ChannelCount) ? 4'(ChannelCount) : channels_i;

  always_ff @(posedge clk_i) begin
    if (!core_rst_ni) begin
      window_base_q    <= WINDOW_BASE_RESET;
      scratch_q        <= SCRATCH_RESET;
      park_recheck_q   <= PARK_RECHECK_NS_RESET;
      channel_enable_q <= channels;
      cycles_q         <= '0;
      inv_address_q    <= INV_ADDRESS_RESET;
      inv_bytes_q      <= INV_BYTES_RESET;
      inv_space_q      <= INV_SPACE_RESET;
      inv_done_q       <= '0;
    end else begin
      cycles_q <= cycles_q + 64'd1;
      if (invalidate_done_i) inv_done_q <= inv_done_q + 1'b1;
      if (write_global && base_offset == WINDOW_BASE_OFFSET) window_base_q <= with_half(window_base_q, high, wdata) & WindowMask;
      if (write_global && base_offset == SCRATCH_OFFSET) scratch_q <= with_half(scratch_q, high, wdata);
      if (write_global && offset == PARK_RECHECK_NS_OFFSET) park_recheck_q <= wdata;
      if (write_global && offset == CHANNEL_ENABLE_OFFSET) begin
        channel_enable_q <= wdata == '0 ? 4'd1 : wdata > 32'(channels) ? channels : wdata[3:0];
      end
      if (write_mmu && base_offset == INV_ADDRESS_OFFSET) inv_address_q <= with_half(inv_address_q, high, wdata);
      if (write_mmu && base_offset == INV_BYTES_OFFSET) inv_bytes_q <= with_half(inv_bytes_q, high, wdata);
      if (write_mmu && offset == INV_SPACE_OFFSET) inv_space_q <= wdata;
    end
  end

  assign cycles_o          = cycles_q;
  assign window_frame_o    = window_base_q[WINDOW_BASE_ADDRESS_LSB+:WINDOW_BASE_ADDRESS_WIDTH];
  assign window_ordinal_o  = window_base_q[WINDOW_BASE_ORDINAL_LSB+:WINDOW_BASE_ORDINAL_WIDTH];
  assign channel_enable_o  = channel_enable_q;
  assign park_recheck_ns_o = park_recheck_q;
  assign kick_all_o        = write_global && offset == KICK_ALL_OFFSET;
  assign reset_start_o     = write_global && offset == RESET_OFFSET && wdata[RESET_BUSY_LSB];

  // Last page of the range; everything above 48 bits counts as the end.
  logic [63:0] inv_end;
  logic [1:0]  inv_command;
  assign inv_end     = inv_address_q + inv_bytes_q - 64'd1;
  assign inv_command = wdata[INV_COMMAND_COMMAND_LSB+:INV_COMMAND_COMMAND_WIDTH];
  assign invalidate_start_o = write_mmu && offset == INV_COMMAND_OFFSET && (inv_command == 2'd1 || inv_command == 2'd2)
                              && !invalidate_busy_i;
  assign invalidate_what_o = '{
    everything: inv_command == 2'd2, whole_space: inv_bytes_q == '0, space: inv_space_q[SpaceWidth-1:0],
    first: inv_address_q[VaWidth-1:PageShift],
    last: inv_end[63:VaWidth] != '0 ? '1 : inv_end[VaWidth-1:PageShift]
  };

  assign root_write_o = write && block == BlockSpace;
  assign root_high_o  = high;
  assign root_space_o = address[SpaceWidth+2:3];
  assign root_wdata_o = wdata;

  assign memory_write_o  = write && (block == BlockMemory || block == BlockInject);
  assign memory_inject_o = block == BlockInject;
  assign memory_offset_o = offset;
  assign memory_wdata_o  = wdata;

  datum_interrupts u_interrupts (
    .clk_i, .rst_ni(core_rst_ni), .irq_i, .irq_vector_i, .fault_valid_i, .fault_i,
    .rings_low_clear_i (write_global && offset == INTERRUPT_RINGS_OFFSET),
    .rings_high_clear_i(write_global && offset == INTERRUPT_RINGS_OFFSET + 19'd4),
    .global_clear_i    (write_global && offset == INTERRUPT_GLOBAL_OFFSET),
    .fault_clear_i     (write_global && offset == FAULT_CLEAR_OFFSET),
    .data_i            (wdata),
    .rings_o           (interrupt_rings),
    .global_o          (interrupt_global),
    .fault_count_o     (fault_count),
    .fault_info_o      (fault_info),
    .fault_ring_o      (fault_ring),
    .fault_address_o   (fault_address),
    .fault_sequence_o  (fault_sequence)
  );

  // --- reading

  logic [63:0] value;      // of the register; a 32-bit one stands in both halves
  logic        wide;

  function automatic logic [63:0] twice(input logic [31:0] word);
    return {word, word};
  endfunction

  always_comb begin
    value        = '0;
    wide         = 1'b0;
    perf_index_o = offset[6:3];
    unique case (block)
      BlockGlobal: begin
        wide = 1'b1;
        unique case (base_offset)
          MEMORY_BYTES_OFFSET:          value = memory_bytes_i;
          ONCHIP_BYTES_OFFSET:          value = 64'(OnchipBytes);
          APERTURE_FIXED_BYTES_OFFSET:  value = aperture_fixed_bytes_i;
          APERTURE_WINDOW_BYTES_OFFSET: value = aperture_window_bytes_i;
          WINDOW_BASE_OFFSET:           value = window_base_q;
          CLOCK_HZ_OFFSET:              value = 64'(ClockHz);
          TIMER_HZ_OFFSET:              value = 64'd1_000_000_000;
          CYCLES_OFFSET:                value = cycles_q;
          TIMER_OFFSET:                 value = timer_i;
          INTERRUPT_RINGS_OFFSET:       value = interrupt_rings;
          SCRATCH_OFFSET:               value = scratch_q;
          FAULT_LOG_ADDRESS_OFFSET:     value = fault_address;
          default: begin
            wide = 1'b0;
            unique case (offset)
              MAGIC_OFFSET:              value = twice(MAGIC_RESET);
              VERSION_OFFSET:            value = twice(VERSION_RESET);
              BUILD_ID_OFFSET:           value = twice(DESCRIPTION_CRC);
              RING_COUNT_OFFSET:         value = twice(32'(RingCount));
              CHANNEL_COUNT_OFFSET:      value = twice(32'(channels));
              SPACE_COUNT_OFFSET:        value = twice(32'(SpaceCount));
              VECTOR_COUNT_OFFSET:       value = twice(32'(RingCount + 2));
              RESET_OFFSET:              value = twice(32'(reset_busy_i));
              STATUS_OFFSET:             value = twice({29'd0, quiescent_i, memory_clean_i, memory_ready_i});
              CHANNEL_ENABLE_OFFSET:     value = twice(32'(channel_enable_q));
              PARK_RECHECK_NS_OFFSET:    value = twice(park_recheck_q);
              INTERRUPT_GLOBAL_OFFSET:   value = twice(interrupt_global);
              FAULT_COUNT_OFFSET:        value = twice(fault_count);
              FAULT_LOG_INFO_OFFSET:     value = twice(fault_info);
              FAULT_LOG_RING_OFFSET:     value = twice(fault_ring);
              FAULT_LOG_SEQUENCE_OFFSET: value = twice(fault_sequence);
              default:                   value = '0;
            endcase
          end
        endcase
      end
      BlockMmu: begin
        wide = base_offset == INV_ADDRESS_OFFSET || base_offset == INV_BYTES_OFFSET;
        if (base_offset == INV_ADDRESS_OFFSET) value = inv_address_q;
        else if (base_offset == INV_BYTES_OFFSET) value = inv_bytes_q;
        else if (offset == INV_SPACE_OFFSET) value = twice(inv_space_q);
        else if (offset == INV_STATUS_OFFSET) value = twice({invalidate_busy_i, inv_done_q});
      end
      BlockSpace: value = twice(root_rdata_i);
      BlockMemory: begin
        unique case (offset)
          MC_STATUS_OFFSET:  value = twice({30'd0, 1'b1, memory_ready_i});
          MC_TIMING0_OFFSET: value = twice({timing_i.t_rrd_l, timing_i.t_ras, timing_i.t_rp, timing_i.t_rcd});
          MC_TIMING1_OFFSET: value = twice({timing_i.t_rtw, timing_i.t_wtr, timing_i.t_ccd_l, timing_i.t_cl});
          MC_TIMING2_OFFSET: value = twice({timing_i.t_faw, timing_i.t_rfc, timing_i.t_refi});
          MC_TIMING3_OFFSET: value = twice({16'd0, timing_i.t_rtp, timing_i.t_wr});
          MC_TIMING_STATUS_OFFSET: value = twice({30'd0, timing_pending_i, timing_refused_i});
          default: begin
            value = memory_value_i;
            wide  = memory_wide_i;
          end
        endcase
      end
      BlockInject: begin
        value = memory_value_i;
        wide  = memory_wide_i;
      end
      BlockPerf: begin
        wide = 1'b1;
        if (offset[11:7] == '0) value = perf_value_i;
      end
      default: value = '0;
    endcase
  end

  // The high half of a 64-bit register as it was when the low half was read; used once.
  logic        snapshot_q;
  logic [18:3] snapshot_place_q;
  logic [31:0] snapshot_data_q;
  logic        snapshot_fits;

  assign snapshot_fits = snapshot_q && wide && snapshot_place_q == address[18:3];
  assign rdata = ring_access ? ring_rdata_i : !high ? value[31:0] : snapshot_fits ? snapshot_data_q : value[63:32];

  always_ff @(posedge clk_i) begin
    if (!core_rst_ni) begin
      snapshot_q <= 1'b0;
    end else if (access && !request_write && wide) begin
      if (!high) begin
        snapshot_q       <= 1'b1;
        snapshot_place_q <= address[18:3];
        snapshot_data_q  <= value[63:32];
      end else if (snapshot_fits) begin
        snapshot_q <= 1'b0;
      end
    end
  end

  logic unused_bits;
  assign unused_bits = ^{address[1:0], inv_end[PageShift-1:0], inv_address_q[63:VaWidth]};
endmodule
