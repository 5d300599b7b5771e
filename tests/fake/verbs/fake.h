#pragma once

#include "fake_verbs.h"
#include "script.h"

#include <infiniband/verbs.h>

#include <stddef.h>
#include <stdio.h>

/* libibverbs has these as functions too, for programs built with older headers. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_get_device_list

enum { PARTS_MAX = 4, DEVICES_MAX = 8, PORTS_MAX = 2 };

/* End the process: the program did what a device must never see. */
_Noreturn void fake_abort(const char *reason);

struct fake_device {
	struct ibv_device device; /* first: the program's pointer is ours */
	unsigned ports;
};

/* The frames of a capture file, in memory. */
struct fake_frames {
	uint8_t *bytes;
	struct {
		size_t at;
		uint32_t size;
	} * frames;
	size_t count;
};

struct fake_context {
	struct script script;
	struct fake_frames frames;
	unsigned pds, mrs, channels, cqs, qps, flows; /* that are alive */
	int events[2];                                /* a pipe of struct fake_event */
	bool removed;
	struct fake_qp *listener; /* has the sniffer flow */
	uint64_t started_ns;
	uint64_t now_ticks;  /* on the device's clock, of what arrives now */
	uint64_t next_frame; /* from 0, over all repetitions */
	uint64_t out_of_buffer, discards;
	uint64_t counted;        /* out_of_buffer as its file says */
	int counters[PORTS_MAX]; /* those files; 0 or -1: none */
	char folder[64];
	FILE *account;              /* NULL: not asked for */
	struct verbs_context verbs; /* last, as the header has it */
};

struct fake_event {
	enum ibv_event_type type;
	int port;
};

struct fake_completion {
	uint64_t wr_id, ticks;
	uint32_t length;
	enum ibv_wc_status status;
};

struct fake_channel {
	struct ibv_comp_channel channel;
	int pipe[2];
};

struct fake_cq {
	struct ibv_cq_ex cq; /* first; shares its beginning with struct ibv_cq */
	struct fake_completion *completions;
	uint64_t in, out; /* counters; completions[counter % room] */
	uint64_t room;
	struct fake_completion current;
	bool armed, polling;
};

struct fake_request {
	uint64_t wr_id;
	struct ibv_sge parts[PARTS_MAX];
	int part_count;
};

struct fake_qp {
	struct ibv_qp qp;
	struct fake_cq *cq;
	struct fake_request *requests;
	uint64_t in, out, room;
	unsigned parts_max;
	bool was_ready;
};

struct fake_flow {
	struct ibv_flow flow;
	struct fake_qp *qp;
};

static inline struct fake_context *fake_context_of(struct ibv_context *context)
{
	return (struct fake_context *)(void *)((char *)context -
					       offsetof(struct fake_context, verbs.context));
}

/* frames.c: what arrives. */
void fake_frames_read(struct fake_frames *frames, const char *path);
void fake_frames_free(struct fake_frames *frames);

/* traffic.c: frames meet buffers. */
void fake_arrive(struct fake_context *context);
bool fake_more_to_come(const struct fake_context *context);
void fake_complete(struct fake_cq *cq, const struct fake_completion *completion);
void fake_flush(struct fake_qp *qp);
uint64_t fake_ticks(const struct script *script, uint64_t wall_ns);
uint64_t fake_wall_ns(void);

/* events.c: what a device tells unasked. */
void fake_tell(struct fake_context *context, enum ibv_event_type type);
void fake_vanish(struct fake_context *context);

/* devices.c, objects.c: what the context's tables point to. */
int fake_query_port(struct fake_context *context, uint8_t port, struct ibv_port_attr *attr,
		    size_t size);
struct ibv_cq_ex *fake_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_flow *fake_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr);
int fake_destroy_flow(struct ibv_flow *flow);

/* poll.c: the calls that go through tables of the context and the completion queue. */
void fake_fill_tables(struct fake_context *context);
void fake_fill_cq(struct fake_cq *cq);

/*
 * sysfs.c: the folder that stands for /sys/class/infiniband, and the interface's statistics. Once a program has
 * opened what it reads the folder can go, as it must while the program may still remove files.
 */
void fake_sysfs_make(struct fake_context *context);
void fake_sysfs_remove(struct fake_context *context);
void fake_sysfs_update(struct fake_context *context);
void fake_sysfs_close(struct fake_context *context);
