#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flow/tracker.h>

/*
 * Scripts of one connection: A asks queue pair 2 of B, B answers (or asks) queue pair 1 of A. Each
 * packet says what it is to be taken for; each script what it comes to.
 */

enum {
	FIRST = 0x00,
	MIDDLE = 0x01,
	LAST = 0x02,
	SEND = 0x04,
	WRITE_FIRST = 0x06,
	WRITE_LAST = 0x08,
	READ = 0x0c,
	RESP_FIRST = 0x0d,
	RESP_MIDDLE = 0x0e,
	RESP_LAST = 0x0f,
	RESP_ONLY = 0x10,
	ACK = 0x11,
	ATOMIC_ACK = 0x12,
	FETCH_ADD = 0x14,
	FLUSH = 0x1c,
	ATOMIC_WRITE = 0x1d,
	UC_SEND = 0x24,
	UD_SEND = 0x64,
	CNP = 0x81,
};
enum { NAK_SEQUENCE = 0x60, NAK_ACCESS = 0x62, RNR = 0x21, MTU = 1024 };
enum { US = 1000, MS = 1000000 };

struct packet {
	char from;    /* 'A', 'B'; 0: the script ends */
	bool damaged; /* its ICRC is wrong: it is not followed */
	bool asks;    /* for an ACK */
	uint8_t opcode;
	uint32_t psn;
	uint32_t wanted;   /* of what is compared */
	uint32_t more;     /* syndrome of an ACKNOWLEDGE, length of a READ or WRITE */
	uint32_t after_us; /* since the packet before; 0: 10 */
	uint32_t repeat;   /* so many more like it, PSN by PSN */
	uint32_t msn;      /* of an ACKNOWLEDGE */
};

struct script {
	const char *sentence;
	uint8_t met; /* true: set-up named the halves; JOINED: something else did, later */
	struct packet packets[24];
	struct ft_tracker_totals wanted;
	uint32_t messages[FT_MESSAGE_KINDS], bytes; /* completed; all their bytes */
	uint32_t uncertain;
};

enum { JOINED = true + 1 };
enum { AT_ONSET = FT_LOSS_ONSET, SOON = FT_LOSS_FIRST, DUE = FT_LOSS_OVERDUE };

/* What a packet is taken for. */
enum {
	NEW = FT_STEP_NEW,
	GAP = FT_STEP_NEW | FT_STEP_GAP,
	BEGIN = FT_STEP_NEW | FT_STEP_RESTART,
	AGAIN = FT_STEP_RETRANSMITTED,
	BEHIND = FT_STEP_RETRANSMITTED | FT_STEP_BEHIND,
	LATE = FT_STEP_REORDERED,
	LATE_ACKED = FT_STEP_REORDERED | FT_STEP_BEHIND,
	FABRIC = FT_STEP_FABRIC_LOST,
	OUTSIDE = FT_STEP_OUTSIDE,
	ANSWERS = FT_STEP_ANSWER | FT_STEP_ACK,
	ANSWERS_ANEW = ANSWERS | FT_STEP_ANEW,
	REFUSES = FT_STEP_ANSWER | FT_STEP_NAK,
	NOT_READY = FT_STEP_ANSWER | FT_STEP_RNR,
	RESPONDS = FT_STEP_ANSWER | FT_STEP_NEW,
	UNASKED = FT_STEP_ANSWER | FT_STEP_UNASKED,
	BEGIN_ANSWER = FT_STEP_ANSWER | FT_STEP_NEW | FT_STEP_RESTART,
	RESPONDS_GAP = FT_STEP_ANSWER | FT_STEP_NEW | FT_STEP_GAP,
	RESPONDS_AGAIN = FT_STEP_ANSWER | FT_STEP_RETRANSMITTED,
	RESPONDS_LATE = FT_STEP_ANSWER | FT_STEP_REORDERED,
	RESPONDS_FABRIC = FT_STEP_ANSWER | FT_STEP_FABRIC_LOST,
	ASTRAY = FT_STEP_ANSWER | FT_STEP_ACK | FT_STEP_OUTSIDE | FT_STEP_UNASKED,
};

#define A(op, at, what, ...)                                                                       \
	{                                                                                          \
		.from = 'A', .opcode = op, .psn = at, .wanted = what, __VA_ARGS__                  \
	}
#define B(op, at, what, ...)                                                                       \
	{                                                                                          \
		.from = 'B', .opcode = op, .psn = at, .wanted = what, __VA_ARGS__                  \
	}
#define DAMAGED(who, op, at, ...)                                                                  \
	{                                                                                          \
		.from = who, .opcode = op, .psn = at, .damaged = true, __VA_ARGS__                 \
	}

extern const struct script tracker_scripts[];
extern const size_t tracker_script_count;

/* What came damaged, what may have passed before the capture began, and lives of which the beginning was lost. */
extern const struct script tracker_scripts_doubtful[];
extern const size_t tracker_script_doubtful_count;
