// Geometry, timing and address mapping of the DRAM behind the board, in cycles of the controller (one column of 64 bytes a cycle).
package datum_dram_pkg;

  localparam int unsigned BankCount = 16;
  localparam int unsigned BankWidth = 4;
  localparam int unsigned GroupWidth = 2;   // the low bits of a bank are its group
  localparam int unsigned ColumnWidth = 7;
  localparam int unsigned RowWidth = 22;
  localparam int unsigned SlotWidth = 7;    // one slot for each beat under way, in either direction
  localparam int unsigned LaneCount = 8;    // words of a column, each with check bits of its own
  localparam int unsigned MergeWidth = 4;   // writes that wait for what is in the memory already
  localparam int unsigned TagWidth = SlotWidth + 1;

  // A column by its device address.
  typedef logic [38:6] column_t;

  // Whom a column read is for: a slot of the read side or a merge.
  typedef struct packed {
    logic                 merge;
    logic [SlotWidth-1:0] index;
  } read_tag_t;

  // Widths as in the MC_TIMING registers. A value n means: the second command stands at least n cycles after the first. Names in _l are of one bank
  // group; across groups a cycle is enough, which one command of a kind a cycle is by itself.
  typedef struct packed {
    logic [7:0]  t_rcd;
    logic [7:0]  t_rp;
    logic [7:0]  t_ras;
    logic [7:0]  t_rrd_l;
    logic [7:0]  t_cl;
    logic [7:0]  t_ccd_l;
    logic [7:0]  t_wtr;
    logic [7:0]  t_rtw;
    logic [15:0] t_refi;
    logic [11:0] t_rfc;
    logic [3:0]  t_faw;
    logic [7:0]  t_wr;
    logic [7:0]  t_rtp;
  } dram_timing_t;

  // DDR4-2400 CL17 of 8 Gbit parts, four memory clocks a cycle, rounded up. t_wtr, t_rtw and t_wr count from command to command, so they
  // contain the write latency and the burst.
  localparam dram_timing_t Ddr4At300Mhz = '{
    t_rcd: 8'd5, t_rp: 8'd5, t_ras: 8'd10, t_rrd_l: 8'd2,
    t_cl: 8'd5, t_ccd_l: 8'd2, t_wtr: 8'd7, t_rtw: 8'd3,
    t_refi: 16'd2340, t_rfc: 12'd105, t_faw: 4'd7,
    t_wr: 8'd9, t_rtp: 8'd3
  };

  // What may be programmed. Any two sets of such values are legal together, and t_rfc covers each rule but its own and t_refi: behind a refresh
  // only the new set counts.
  localparam dram_timing_t LeastTiming = '{
    t_rcd: 8'd2, t_rp: 8'd2, t_ras: 8'd2, t_rrd_l: 8'd2, t_cl: 8'd2, t_ccd_l: 8'd2, t_wtr: 8'd2, t_rtw: 8'd2, t_refi: 16'd1024, t_rfc: 12'd32,
    t_faw: 4'd2, t_wr: 8'd2, t_rtp: 8'd2
  };
  localparam dram_timing_t MostTiming = '{
    t_rcd: 8'd16, t_rp: 8'd16, t_ras: 8'd24, t_rrd_l: 8'd8, t_cl: 8'd12, t_ccd_l: 8'd8, t_wtr: 8'd16, t_rtw: 8'd16, t_refi: 16'd65535, t_rfc: 12'd511,
    t_faw: 4'd15, t_wr: 8'd24, t_rtp: 8'd16
  };

  function automatic logic between(input logic [15:0] least, input logic [15:0] value, input logic [15:0] most);
    return least <= value && value <= most;
  endfunction

  function automatic logic legal(input dram_timing_t timing);
    return between(16'(LeastTiming.t_rcd), 16'(timing.t_rcd), 16'(MostTiming.t_rcd))
           && between(16'(LeastTiming.t_rp), 16'(timing.t_rp), 16'(MostTiming.t_rp))
           && between(16'(LeastTiming.t_ras), 16'(timing.t_ras), 16'(MostTiming.t_ras))
           && between(16'(LeastTiming.t_rrd_l), 16'(timing.t_rrd_l), 16'(MostTiming.t_rrd_l))
           && between(16'(LeastTiming.t_cl), 16'(timing.t_cl), 16'(MostTiming.t_cl))
           && between(16'(LeastTiming.t_ccd_l), 16'(timing.t_ccd_l), 16'(MostTiming.t_ccd_l))
           && between(16'(LeastTiming.t_wtr), 16'(timing.t_wtr), 16'(MostTiming.t_wtr))
           && between(16'(LeastTiming.t_rtw), 16'(timing.t_rtw), 16'(MostTiming.t_rtw))
           && between(LeastTiming.t_refi, timing.t_refi, MostTiming.t_refi)
           && between(16'(LeastTiming.t_rfc), 16'(timing.t_rfc), 16'(MostTiming.t_rfc))
           && between(16'(LeastTiming.t_faw), 16'(timing.t_faw), 16'(MostTiming.t_faw))
           && between(16'(LeastTiming.t_wr), 16'(timing.t_wr), 16'(MostTiming.t_wr))
           && between(16'(LeastTiming.t_rtp), 16'(timing.t_rtp), 16'(MostTiming.t_rtp));
  endfunction

  typedef struct packed {
    logic [BankWidth-1:0]   bank;
    logic [RowWidth-1:0]    row;
    logic [ColumnWidth-1:0] column;
  } dram_place_t;

  // One column access that waits in the queue of its bank and row.
  typedef struct packed {
    logic [ColumnWidth-1:0] column;
    logic [TagWidth-1:0]    tag;      // a read_tag_t, or the slot of a write
  } dram_entry_t;

  // Why a column is read and, where something is to be changed, written back.
  typedef enum logic [1:0] {
    MergeWrite,      // a write covers part of a word
    MergeRepair,     // a read found an error that can be corrected
    MergeScrub,      // nobody knows of an error
    MergeInject      // an error is to be made
  } merge_e;

  // An error to be made, of one word.
  typedef struct packed {
    logic [$clog2(LaneCount)-1:0] lane;
    logic [63:0]                  data;
    logic [7:0]                   check;
  } injection_t;

  // What was wrong with a column that was read.
  typedef struct packed {
    logic [LaneCount-1:0]   corrected;
    logic [LaneCount-1:0]   failed;
    logic [8*LaneCount-1:0] syndrome;
    column_t                column;
    logic                   scrub;
  } ecc_event_t;

  // Consecutive columns alternate between the groups; rows are spread over the banks, so that streams a power of two apart do not meet in one bank.
  function automatic dram_place_t place_of(input column_t address);
    dram_place_t place;
    place.row    = address[38:17];
    place.column = address[14:8];
    place.bank   = {address[16:15], address[7:6]} ^ place.row[3:0] ^ place.row[7:4] ^ place.row[11:8] ^ place.row[15:12];
    return place;
  endfunction

endpackage
