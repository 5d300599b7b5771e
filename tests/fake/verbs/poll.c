#include "fake.h"

#include <errno.h>
#include <string.h>

enum { SPOILED = 0xdb };

static bool next(struct fake_cq *cq, struct fake_completion *completion)
{
	if (cq->out == cq->in)
		return false;
	*completion = cq->completions[cq->out++ % cq->room];
	return true;
}

static int poll_cq(struct ibv_cq *polled, int room, struct ibv_wc *completions)
{
	struct fake_cq *cq = (struct fake_cq *)(void *)polled;
	int count = 0;

	fake_arrive(fake_context_of(polled->context));
	for (struct fake_completion c; count < room && next(cq, &c); count++) {
		completions[count] = (struct ibv_wc){
			.wr_id = c.wr_id,
			.status = c.status,
			.opcode = IBV_WC_RECV,
			/* of an error, only wr_id and status mean something */
			.byte_len = c.status == IBV_WC_SUCCESS ? c.length : 0xdbdbdbdb,
		};
	}
	return count;
}

static int next_poll(struct ibv_cq_ex *polled)
{
	struct fake_cq *cq = (struct fake_cq *)polled;

	if (!cq->polling)
		fake_abort("next_poll without start_poll");
	if (!next(cq, &cq->current))
		return ENOENT;
	polled->wr_id = cq->current.wr_id;
	polled->status = cq->current.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *polled, struct ibv_poll_cq_attr *attr)
{
	struct fake_cq *cq = (struct fake_cq *)polled;
	int error;

	if (attr->comp_mask != 0 || cq->polling)
		fake_abort("start_poll twice, or with what it does not know");
	fake_arrive(fake_context_of(polled->context));
	cq->polling = true;
	error = next_poll(polled);
	if (error != 0)
		cq->polling = false;
	return error;
}

static void end_poll(struct ibv_cq_ex *polled)
{
	struct fake_cq *cq = (struct fake_cq *)polled;

	if (!cq->polling)
		fake_abort("end_poll without start_poll");
	cq->polling = false;
}

static const struct fake_completion *current(struct ibv_cq_ex *polled)
{
	const struct fake_cq *cq = (const struct fake_cq *)polled;

	if (!cq->polling || cq->current.status != IBV_WC_SUCCESS)
		fake_abort("of a completion with an error, only wr_id and status mean something");
	return &cq->current;
}

static uint32_t read_byte_len(struct ibv_cq_ex *polled)
{
	return current(polled)->length;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *polled)
{
	return current(polled)->ticks;
}

void fake_fill_cq(struct fake_cq *cq)
{
	cq->cq.start_poll = start_poll;
	cq->cq.next_poll = next_poll;
	cq->cq.end_poll = end_poll;
	cq->cq.read_byte_len = read_byte_len;
	cq->cq.read_completion_ts = read_completion_ts;
}

/* As the specification has it: an event for the next completion, none for those that are there. */
static int req_notify_cq(struct ibv_cq *notified, int solicited_only)
{
	struct fake_cq *cq = (struct fake_cq *)(void *)notified;

	(void)solicited_only;
	cq->armed = true;
	return 0;
}

static int check_request(const struct fake_qp *qp, const struct ibv_recv_wr *request)
{
	if (qp->qp.state == IBV_QPS_RESET || request->num_sge < 1 ||
	    (unsigned)request->num_sge > qp->parts_max)
		return EINVAL;
	return qp->in - qp->out == qp->room ? ENOMEM : 0;
}

static void take_request(struct fake_qp *qp, const struct ibv_recv_wr *request, bool poison)
{
	struct fake_request *taken = &qp->requests[qp->in++ % qp->room];

	taken->wr_id = request->wr_id;
	taken->part_count = request->num_sge;
	for (int i = 0; i < request->num_sge; i++) {
		taken->parts[i] = request->sg_list[i];
		if (poison && i == 0)
			memset((void *)(uintptr_t)taken->parts[i].addr, SPOILED,
			       taken->parts[i].length);
	}
	fake_verbs_account.posted++;
}

static int post_recv(struct ibv_qp *posted, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)(void *)posted;
	const struct script *script = &fake_context_of(posted->context)->script;

	fake_verbs_account.posts++;
	for (; request != NULL; request = request->next) {
		int error = check_request(qp, request);

		if (error != 0) {
			*bad = request;
			return error;
		}
		take_request(qp, request, script->poison);
	}
	if (posted->state == IBV_QPS_ERR)
		fake_flush(qp);
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
	(void)qp;
	(void)request;
	(void)bad;
	fake_abort("a send was posted");
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	const struct script *script = &fake_context_of(context)->script;

	if (!script->stamps)
		return EOPNOTSUPP;
	values->raw_clock = (struct timespec){
		.tv_nsec = (long)fake_ticks(script, fake_wall_ns()),
	};
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		      size_t size)
{
	return fake_query_port(fake_context_of(context), port, attr, size);
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	const struct script *script = &fake_context_of(context)->script;

	(void)input;
	memset(attr, 0, size);
	if (script->stamps) {
		attr->completion_timestamp_mask = (UINT64_C(1) << 48) - 1;
		attr->hca_core_clock = script->clock_khz;
	}
	return ibv_query_device(context, &attr->orig_attr);
}

void fake_fill_tables(struct fake_context *context)
{
	struct verbs_context *verbs = &context->verbs;

	verbs->sz = sizeof *verbs;
	verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs->context.ops.poll_cq = poll_cq;
	verbs->context.ops.req_notify_cq = req_notify_cq;
	verbs->context.ops.post_recv = post_recv;
	verbs->context.ops.post_send = post_send;
	verbs->query_rt_values = query_rt_values;
	verbs->query_port = query_port;
	verbs->query_device_ex = query_device_ex;
	verbs->create_cq_ex = fake_create_cq_ex;
	verbs->ibv_create_flow = fake_create_flow;
	verbs->ibv_destroy_flow = fake_destroy_flow;
}
