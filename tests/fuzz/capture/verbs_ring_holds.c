/*
 * Whatever a device completes, in whichever order, and however it refuses buffers: it never has one whose frame
 * is still to be readable, no frame is handed out twice or made up, and no buffer gets lost.
 */
#undef NDEBUG

#include "../holds.h"
#include "../../../capture/verbs_ring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { BUFFERS_MAX = 128, LONGEST = 256, ROOM = 64 };

struct buffer {
	enum { HERE, WITH_DEVICE, FILLED, RETURNED } state;
	uint32_t length;
	uint64_t readable; /* calls of receive() that must have begun before it may go back */
};

static struct {
	struct buffer buffers[BUFFERS_MAX];
	unsigned with_device,
		patience; /* buffers that it takes until it refuses one; 0: takes all */
	uint64_t calls;
} device;

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **refused)
{
	(void)qp;
	for (; request != NULL; request = request->next) {
		struct buffer *buffer = &device.buffers[request->wr_id];

		if (device.patience != 0 && --device.patience == 0) {
			*refused = request;
			return ENOMEM;
		}
		assert(buffer->state != WITH_DEVICE && buffer->state != FILLED);
		assert(buffer->state == RETURNED || device.calls >= buffer->readable);
		buffer->state = WITH_DEVICE;
		device.with_device++;
	}
	return 0;
}

static void complete(struct ft_verbs_ring *ring, uint8_t which, uint8_t what)
{
	struct buffer *buffer = &device.buffers[which % BUFFERS_MAX];
	uint32_t length = what == 0xff ? FT_VERBS_NO_FRAME : what * 4u;
	bool ours = which < ring->buffers && buffer->state == WITH_DEVICE;

	assert(ft_verbs_ring_take(ring, which, length, which) == ours);
	if (!ours)
		return;
	buffer->state = length == FT_VERBS_NO_FRAME ? RETURNED : FILLED;
	buffer->length = length;
	device.with_device--;
}

static void check(const struct ft_verbs_ring *ring, const struct ft_frame *frame)
{
	size_t index = (size_t)(frame->bytes - ring->memory) / ring->buffer_bytes;
	struct buffer *buffer = &device.buffers[index];

	assert(index < ring->buffers && buffer->state == FILLED);
	assert(frame->bytes == ring->memory + index * ring->buffer_bytes);
	assert(frame->ts_ns == index);
	assert(frame->original == buffer->length && frame->wire == buffer->length);
	assert(frame->captured <= ring->kept && frame->captured <= frame->original);
	assert(frame->captured == ring->kept || frame->captured == frame->original);
	buffer->state = HERE;
	buffer->readable = device.calls + ring->keep;
}

static void call(struct ft_verbs_ring *ring, struct ibv_qp *qp, uint8_t room, uint8_t patience)
{
	struct ft_frame frames[ROOM];
	int count, asked = 1 + room % ROOM;

	device.calls++;
	device.patience = patience;
	ft_verbs_ring_begin_call(ring, qp);
	count = ft_verbs_ring_lend(ring, frames, asked, 1);
	assert(count >= 0 && count <= asked);
	for (int i = 0; i < count; i++)
		check(ring, &frames[i]);
	ft_verbs_ring_end_call(ring);
	assert(ft_verbs_ring_with_device(ring) == device.with_device);
}

/* With nothing more coming, all that waits is handed out, and all buffers but a batch go back. */
static void run_dry(struct ft_verbs_ring *ring, struct ibv_qp *qp)
{
	for (unsigned i = 0; i < 4 * BUFFERS_MAX; i++)
		call(ring, qp, ROOM - 1, 0);
	for (uint32_t i = 0; i < ring->buffers; i++)
		assert(device.buffers[i].state != FILLED);
	assert(device.with_device + ring->batch > ring->buffers);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ibv_context context = { .ops.post_recv = post_recv };
	struct ibv_qp qp = { .context = &context };
	struct ft_verbs_ring ring;
	struct ft_verbs_ring_config config = {
		.longest = LONGEST,
		.buffers_max = BUFFERS_MAX,
	};

	if (size < 3)
		return;
	memset(&device, 0, sizeof device);
	config.snap = bytes[0];
	config.keep = 1 + bytes[1] % 32;
	config.parts_max = 1 + bytes[2] % 2;
	config.bytes = bytes[2] & 0x80 ? 64 * LONGEST : 0;
	assert(ft_verbs_ring_create(&ring, &config) == 0);
	ft_verbs_ring_register(&ring, 1);
	assert(ft_verbs_ring_post_all(&ring, &qp) == 0 && device.with_device == ring.buffers);
	for (size_t at = 3; at + 2 < size; at += 3) {
		if (bytes[at] < 0x40)
			call(&ring, &qp, bytes[at + 1],
			     bytes[at + 2] & 0x80 ? bytes[at + 2] & 0x7f : 0);
		else
			complete(&ring, bytes[at + 1], bytes[at + 2]);
	}
	run_dry(&ring, &qp);
	ft_verbs_ring_destroy(&ring);
}
