#include "fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct fake_verbs_account fake_verbs_account;

void fake_verbs_forget(void)
{
	fake_verbs_account = (struct fake_verbs_account){ 0 };
}

void fake_abort(const char *reason)
{
	fprintf(stderr, "fake verbs: %s\n", reason);
	abort();
}

/* A new object, counted as alive. */
static void *make(size_t size, unsigned *alive)
{
	void *object = calloc(1, size);

	if (object == NULL)
		fake_abort("no memory");
	++*alive;
	fake_verbs_account.alive++;
	return object;
}

static void unmake(void *object, unsigned *alive)
{
	--*alive;
	fake_verbs_account.alive--;
	free(object);
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = make(sizeof *pd, &fake_context_of(context)->pds);

	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct fake_context *context = fake_context_of(pd->context);

	if (context->mrs != 0 || context->qps != 0)
		fake_abort("protection domain destroyed before what is in it");
	unmake(pd, &context->pds);
	return 0;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *address, size_t length)
{
	struct fake_context *context = fake_context_of(pd->context);
	struct ibv_mr *mr;

	if (context->script.register_error != 0) {
		errno = context->script.register_error;
		return NULL;
	}
	mr = make(sizeof *mr, &context->mrs);
	*mr = (struct ibv_mr){
		.context = pd->context, .pd = pd, .addr = address, .length = length
	};
	mr->lkey = 0x1234;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	(void)access;
	return reg_mr(pd, address, length);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)iova;
	(void)access;
	return reg_mr(pd, address, length);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct fake_context *context = fake_context_of(mr->context);

	if (context->qps != 0)
		fake_abort("memory taken away from a queue pair");
	unmake(mr, &context->mrs);
	return 0;
}

static struct fake_cq *create_cq(struct ibv_context *context, uint64_t entries,
				 struct ibv_comp_channel *channel)
{
	struct fake_cq *cq;

	if (entries == 0 || entries > fake_context_of(context)->script.max_cqe) {
		errno = EINVAL;
		return NULL;
	}
	cq = make(sizeof *cq, &fake_context_of(context)->cqs);
	cq->room = entries;
	cq->completions = calloc(entries, sizeof *cq->completions);
	if (cq->completions == NULL)
		fake_abort("no memory");
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cqe = (int)entries;
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	(void)cq_context;
	(void)vector;
	return (struct ibv_cq *)create_cq(context, entries > 0 ? (uint64_t)entries : 0, channel);
}

/* Knows no completion queues without locks, as older providers. */
struct ibv_cq_ex *fake_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	uint64_t known = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	struct fake_cq *cq;

	if (attr->comp_mask != 0 || (attr->wc_flags & ~known) != 0 ||
	    !fake_context_of(context)->script.stamps) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = create_cq(context, attr->cqe, attr->channel);
	if (cq == NULL)
		return NULL;
	fake_fill_cq(cq);
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *destroyed)
{
	struct fake_cq *cq = (struct fake_cq *)(void *)destroyed;
	struct fake_context *context = fake_context_of(destroyed->context);

	if (context->qps != 0)
		fake_abort("completion queue destroyed before its queue pair");
	if (destroyed->comp_events_completed != 0)
		fake_abort("completion events not acknowledged: a device waits for that for ever");
	free(cq->completions);
	unmake(cq, &context->cqs);
	return 0;
}

static int check_qp(const struct script *script, const struct ibv_qp_init_attr *attr)
{
	if (script->qp_error != 0)
		return script->qp_error;
	if (attr->qp_type != IBV_QPT_RAW_PACKET || attr->cap.max_recv_wr == 0 ||
	    attr->cap.max_recv_wr > script->max_wr || attr->cap.max_recv_sge > script->max_sge ||
	    attr->cap.max_recv_sge > PARTS_MAX)
		return EINVAL;
	if (attr->cap.max_send_wr != 0)
		fake_abort("a queue pair that can send");
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_context *context = fake_context_of(pd->context);
	struct fake_qp *qp;

	errno = check_qp(&context->script, attr);
	if (errno != 0)
		return NULL;
	qp = make(sizeof *qp, &context->qps);
	qp->room = attr->cap.max_recv_wr;
	qp->parts_max = attr->cap.max_recv_sge;
	qp->requests = calloc(qp->room, sizeof *qp->requests);
	if (qp->requests == NULL)
		fake_abort("no memory");
	qp->cq = (struct fake_cq *)(void *)attr->recv_cq;
	qp->qp = (struct ibv_qp){
		.context = pd->context,
		.pd = pd,
		.recv_cq = attr->recv_cq,
		.qp_type = attr->qp_type,
		.state = IBV_QPS_RESET,
	};
	return &qp->qp;
}

/* IBTA's state diagram as far as a receiver goes. */
static int check_state(const struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	enum ibv_qp_state from = qp->qp.state, to = attr->qp_state;

	if (to == IBV_QPS_RTS || to == IBV_QPS_SQD || to == IBV_QPS_SQE)
		fake_abort("a queue pair was taken to a state that sends");
	if (to == IBV_QPS_INIT)
		return from == IBV_QPS_RESET && mask == (IBV_QP_STATE | IBV_QP_PORT) &&
				       attr->port_num >= 1
			       ? 0
			       : EINVAL;
	if (to == IBV_QPS_RTR)
		return from == IBV_QPS_INIT && mask == IBV_QP_STATE ? 0 : EINVAL;
	return mask == IBV_QP_STATE ? 0 : EINVAL;
}

int ibv_modify_qp(struct ibv_qp *modified, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = (struct fake_qp *)(void *)modified;
	int error = check_state(qp, attr, mask);

	if (error != 0)
		return error;
	if (attr->qp_state == IBV_QPS_ERR)
		fake_flush(qp);
	if (attr->qp_state == IBV_QPS_RESET) {
		qp->in = qp->out = 0;
		qp->cq->out = qp->cq->in; /* its completions are gone, too */
		fake_verbs_account.resets++;
	}
	modified->state = attr->qp_state;
	return fake_context_of(modified->context)->removed ? EIO : 0;
}

int ibv_destroy_qp(struct ibv_qp *destroyed)
{
	struct fake_qp *qp = (struct fake_qp *)(void *)destroyed;
	struct fake_context *context = fake_context_of(destroyed->context);

	if (context->flows != 0)
		fake_abort("queue pair destroyed before its flow");
	if (qp->in != qp->out)
		fake_abort("queue pair destroyed with buffers in it");
	free(qp->requests);
	unmake(qp, &context->qps);
	return 0;
}

struct ibv_flow *fake_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct fake_context *context = fake_context_of(qp->context);
	struct fake_flow *flow;

	errno = context->script.flow_error;
	if (attr->type != IBV_FLOW_ATTR_SNIFFER || attr->size != sizeof *attr ||
	    attr->num_of_specs != 0 || attr->port == 0)
		errno = EINVAL;
	if (errno != 0)
		return NULL;
	flow = make(sizeof *flow, &context->flows);
	flow->flow.context = qp->context;
	flow->qp = (struct fake_qp *)(void *)qp;
	context->listener = flow->qp;
	context->started_ns = fake_wall_ns();
	fake_sysfs_remove(context);
	return &flow->flow;
}

int fake_destroy_flow(struct ibv_flow *flow)
{
	struct fake_context *context = fake_context_of(flow->context);

	context->listener = NULL;
	unmake((struct fake_flow *)(void *)flow, &context->flows);
	return 0;
}
