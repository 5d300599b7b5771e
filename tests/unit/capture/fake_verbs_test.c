/* The stand-in for RDMA devices ends a program that does what a device must never see, or refuses. */

#include "fake_verbs.h"

#include <infiniband/verbs.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A receiver as it should be, up to receiving. */
struct receiver {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_flow *flow;
	char buffer[256];
};

static struct ibv_qp *make_qp(struct receiver *r, uint32_t sends)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = { .max_send_wr = sends, .max_recv_wr = 4, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};

	return ibv_create_qp(r->pd, &attr);
}

static int set_state(struct receiver *r, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1 };

	return ibv_modify_qp(r->qp, &attr,
			     state == IBV_QPS_INIT ? IBV_QP_STATE | IBV_QP_PORT : IBV_QP_STATE);
}

static void post_buffer(struct receiver *r)
{
	struct ibv_sge sge = { .addr = (uintptr_t)r->buffer, .length = sizeof r->buffer };
	struct ibv_recv_wr request = { .sg_list = &sge, .num_sge = 1 }, *bad;

	sge.lkey = r->mr->lkey;
	if (ibv_post_recv(r->qp, &request, &bad) != 0)
		exit(3);
}

static void set_up(struct receiver *r)
{
	struct ibv_flow_attr flow = {
		.type = IBV_FLOW_ATTR_SNIFFER,
		.size = sizeof flow,
		.port = 1,
	};
	struct ibv_device **list;
	int count;

	setenv("FT_FAKE_VERBS", "", 1);
	list = ibv_get_device_list(&count);
	r->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	r->pd = ibv_alloc_pd(r->context);
	r->channel = ibv_create_comp_channel(r->context);
	r->cq = ibv_create_cq(r->context, 16, NULL, r->channel, 0);
	r->qp = make_qp(r, 0);
	r->mr = ibv_reg_mr(r->pd, r->buffer, sizeof r->buffer, IBV_ACCESS_LOCAL_WRITE);
	if (set_state(r, IBV_QPS_INIT) != 0)
		exit(3);
	post_buffer(r);
	if (set_state(r, IBV_QPS_RTR) != 0)
		exit(3);
	r->flow = ibv_create_flow(r->qp, &flow);
}

static void nothing(struct receiver *r)
{
	ibv_destroy_flow(r->flow);
	set_state(r, IBV_QPS_ERR);
	ibv_destroy_qp(r->qp);
	ibv_destroy_cq(r->cq);
	ibv_destroy_comp_channel(r->channel);
	ibv_dereg_mr(r->mr);
	ibv_dealloc_pd(r->pd);
	ibv_close_device(r->context);
}

static void post_a_send(struct receiver *r)
{
	struct ibv_send_wr request = { .opcode = IBV_WR_SEND }, *bad;

	ibv_post_send(r->qp, &request, &bad);
}

static void make_a_queue_pair_that_can_send(struct receiver *r)
{
	make_qp(r, 1);
}

static void get_ready_to_send(struct receiver *r)
{
	set_state(r, IBV_QPS_RTS);
}

static void destroy_a_queue_pair_before_its_flow(struct receiver *r)
{
	set_state(r, IBV_QPS_ERR);
	ibv_destroy_qp(r->qp);
}

static void destroy_a_queue_pair_with_buffers(struct receiver *r)
{
	ibv_destroy_flow(r->flow);
	ibv_destroy_qp(r->qp);
}

static void destroy_a_completion_queue_in_use(struct receiver *r)
{
	ibv_destroy_cq(r->cq);
}

static void destroy_a_channel_in_use(struct receiver *r)
{
	ibv_destroy_comp_channel(r->channel);
}

static void take_memory_away(struct receiver *r)
{
	ibv_dereg_mr(r->mr);
}

static void destroy_a_domain_in_use(struct receiver *r)
{
	ibv_dealloc_pd(r->pd);
}

static void close_a_device_in_use(struct receiver *r)
{
	ibv_close_device(r->context);
}

static const struct {
	void (*sin)(struct receiver *r);
	int signal; /* that ends the program; 0: it may */
} sins[] = {
	{ nothing, 0 },
	{ post_a_send, SIGABRT },
	{ make_a_queue_pair_that_can_send, SIGABRT },
	{ get_ready_to_send, SIGABRT },
	{ destroy_a_queue_pair_before_its_flow, SIGABRT },
	{ destroy_a_queue_pair_with_buffers, SIGABRT },
	{ destroy_a_completion_queue_in_use, SIGABRT },
	{ destroy_a_channel_in_use, SIGABRT },
	{ take_memory_away, SIGABRT },
	{ destroy_a_domain_in_use, SIGABRT },
	{ close_a_device_in_use, SIGABRT },
};

static int commit(void (*sin)(struct receiver *r))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct rlimit none = { 0, 0 };
		static struct receiver receiver;

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		set_up(&receiver);
		sin(&receiver);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void ends_a_program_that_sends_or_upsets_the_device(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof sins / sizeof sins[0]; i++) {
		int ended = commit(sins[i].sin);

		if (ended != sins[i].signal)
			fail_msg("sin %zu ended with %d", i, ended);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_a_program_that_sends_or_upsets_the_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
