#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fault {
	FAULT_NONE,
	FAULT_PROT,
	FAULT_GENERAL,
	FAULT_SHORT,
	FAULT_EMPTY,
	FAULT_FATAL,
	FAULT_VANISH,
	FAULT_PORT_DOWN,
	FAULT_PORT_UP,
	FAULT_QP_FATAL,
	FAULT_CQ_OVERRUN,
	FAULT_GID_CHANGE,
};

enum counters { COUNTERS_ALL, COUNTERS_NO_DISCARDS, COUNTERS_NONE, COUNTERS_STUCK };

enum { FAULTS_MAX = 8 };

/* How the fake devices behave; see fake_verbs.h. */
struct script {
	char devices[256], frames[512], interface[16], account[512];
	uint64_t repeat, burst, rate, late, discard, clock_khz, max_sge, max_wr, max_cqe;
	int64_t ppm;
	bool drop, infiniband, down, stamps, clock_jump, strict, poison;
	int list_error, open_error, qp_error, flow_error, register_error;
	enum counters counters;
	struct {
		uint64_t frame;
		enum fault fault;
	} faults[FAULTS_MAX];
	unsigned fault_count;
};

/* Of FT_FAKE_VERBS as it is now; a word that means nothing ends the process. */
void script_read(struct script *script);

/* What is to happen at this frame. */
enum fault script_fault_at(const struct script *script, uint64_t frame);
