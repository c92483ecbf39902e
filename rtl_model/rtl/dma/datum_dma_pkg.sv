// Types between the blocks of the DMA.
package datum_dma_pkg;
  import datum_pkg::*;

  // Descriptors of one channel that have begun and not retired, numbered modulo 2^SlotWidth in the order of the ring.
  localparam int unsigned SlotWidth = 7;
  typedef logic [SlotWidth-1:0] slot_t;

  localparam int unsigned WordShift = $clog2(DataBytes);
  localparam int unsigned WordCountWidth = VaWidth - WordShift + 1;
  typedef logic [VaWidth-1:0] va_t;
  typedef logic [WordCountWidth-1:0] word_count_t;
  typedef logic [WordShift-1:0] offset_t;

  // A run of bytes for the mover: at least one byte, and neither range leaves the 48-bit space.
  typedef struct packed {
    slot_t                  slot;
    logic                   last;       // last run of its descriptor
    logic                   fill;       // the destination gets `pattern`, nothing is read
    logic                   look;       // reads one 64-bit word for WAIT_VALUE, writes nothing
    logic                   sync;       // a value: written alone, after everything before it and before everything behind it
    logic                   bad;        // not a run: the next run of the descriptor would leave the address space
    logic                   bad_write;
    logic [63:0]            bad_address;
    logic [SpaceWidth-1:0]  src_space;
    logic [SpaceWidth-1:0]  dst_space;
    va_t                    src;
    va_t                    dst;
    va_t                    bytes;
    logic [127:0]           pattern;    // byte a mod 16 belongs to address a
  } job_t;

  // Two bits more than an address: a step of a region is less than 2^32, so the first row outside the space is seen as such.
  typedef logic [VaWidth+1:0] wide_t;

  // How far the runs of a descriptor have come.
  typedef struct packed {
    job_t                   first;
    logic                   region;
    wide_t                  src;        // of the row
    wide_t                  dst;
    wide_t                  plane_src;
    wide_t                  plane_dst;
    va_t                    done;       // bytes of the row
    logic [31:0]            rows;
    logic [31:0]            rows_left;
    logic [31:0]            planes_left;
    logic [31:0]            src_row_pitch;
    logic [31:0]            dst_row_pitch;
    logic [31:0]            src_slice_pitch;
    logic [31:0]            dst_slice_pitch;
  } position_t;

  // A descriptor that made way for other rings in the middle.
  typedef struct packed {
    position_t              position;
    logic                   complete;
    logic                   raise;
    logic [31:0]            sequence_number;
  } suspended_t;

  // The part of a job that the reader hands to the writer.
  typedef struct packed {
    slot_t                  slot;
    logic                   last;
    logic                   fill;
    logic                   sync;
    logic [SpaceWidth-1:0]  space;
    va_t                    dst;
    word_count_t            words;
    offset_t                tail;       // offset of the last byte in the last word
    logic [127:0]           pattern;
  } write_job_t;

  // Why a descriptor failed.
  typedef struct packed {
    logic [7:0]             status;
    logic [7:0]             reason;
    logic                   write;
    logic [14:0]            space;
    logic [63:0]            address;
  } cause_t;

  typedef struct packed {
    slot_t                  slot;
    cause_t                 cause;
  } failure_t;

  // A place in memory that parked rings watch: a page, of which only a hash is kept, and the 64-bit word in it.
  typedef struct packed {
    logic [7:0]             page_hash;
    logic [PageShift-4:0]   word;
  } watch_t;

  // A write that was answered. `exact`: only the word of `place` was written; else anything in its page may have been.
  typedef struct packed {
    logic                   valid;
    logic                   exact;
    watch_t                 place;
  } landed_t;

  function automatic logic [7:0] page_hash(input target_e target, input logic [PaWidth-1:PageShift] frame);
    page_hash = frame[19:12] ^ frame[27:20] ^ frame[35:28] ^ frame[43:36] ^ frame[51:44] ^ {target, 6'd0};
  endfunction

  function automatic logic watch_hit(input landed_t landed, input watch_t watch);
    watch_hit = landed.valid && landed.place.page_hash == watch.page_hash && (!landed.exact || landed.place.word == watch.word);
  endfunction

  // What a channel knows of the ring that it is bound to.
  typedef struct packed {
    logic [RingWidth-1:0]   ring;
    logic [63:0]            base;
    logic [63:0]            completion;
    logic [63:0]            spaces;
    logic [31:0]            size_log2;
    logic [31:0]            head;
    logic [31:0]            tail;
    logic                   parked;     // its next descriptor is a wait that did not hold
    logic [3:0]             weight;     // turns more than one that it may take at a time
  } binding_t;

  // How a channel leaves a ring.
  typedef struct packed {
    logic [RingWidth-1:0]   ring;
    logic [31:0]            head;
    logic                   again;      // it has work that can go on at once
    logic                   park;
    watch_t                 watch;
    logic                   midway;
    suspended_t             suspended;  // if midway
  } release_t;

  // A completion record to be written, and what follows it.
  typedef struct packed {
    logic [RingWidth-1:0]   ring;
    logic [63:0]            completion;
    logic [31:0]            sequence_number;
    logic [31:0]            head;
    logic                   raise;
    logic                   failed;
    cause_t                 cause;
  } record_t;

  // A doorbell, as the channels see it.
  typedef struct packed {
    logic                   valid;
    logic [RingWidth-1:0]   ring;
    logic [31:0]            tail;
  } doorbell_t;

endpackage
