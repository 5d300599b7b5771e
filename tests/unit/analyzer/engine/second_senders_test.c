#include "bench.h"

#include <string.h>

#include <decode/opcode.h>

#include "second_findings.h"
#include "suspects_parts.h"

/*
 * Who else sends to the queue pair of a connection: docs/findings.md, spoof.second-sender and spoof.cnp-unsolicited. A
 * connection and a stranger are written down as the flow table would have them; each row changes one thing.
 */

enum { RED };
enum {
	OWNER = 1,
	TARGET = 2,
	STRANGER = 3,
	OTHER = 4,
	SPARE = 5
}; /* last byte of an address, and LID */
enum { QP = 34, SEND_ONLY = 0x04, WRITE_ONLY = 0x0a, CNP = 0x81 };
enum { FIRST_PSN = 200000, NEXT_PSN = 201000, MILLIONS = 1 << 21 };

#define MS UINT64_C(1000000)

/* The owner's host has a spare port. */
static const struct ft_declared pod = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 0, 0, 1), ROCE_PORT("r2", 10, 0, 0, 2),
	      ROCE_PORT("r3", 10, 0, 0, 3), ROCE_PORT("r4", 10, 0, 0, 4),
	      ROCE_PORT("r1", 10, 0, 0, 5), IB_PORT("i1", 1), IB_PORT("i2", 2), IB_PORT("i3", 3),
	      IB_PORT("i4", 4), IB_PORT("i1", 5)),
	PARTITIONS({ .base = 0x7fff, .tenant = RED, ALWAYS(EVERYONE(FT_FULL)) }),
};

/* A half-connection as it is when the report is made, and the packet it began with. */
struct half {
	uint8_t from, to;
	uint32_t qp;
	uint16_t vlan;
	uint32_t vni;
	uint8_t service;
	uint64_t packets;
	uint16_t bad_icrc;
	uint32_t next, first_psn, acked, answered, candidate;
	uint8_t flags;
	bool has_peer;
	uint32_t request; /* one of its last, 0: none */
	uint64_t begun_frame, begun_ns, last_ns;
	uint32_t begun_psn;
	uint8_t opcode;
	const struct ft_frame
		*captured; /* the packet it began with; NULL: only its number and time */
};

struct scene {
	bool native;
	struct half owner, stranger;
};

static const struct scene requests = {
	.owner = { .from = OWNER,
		   .to = TARGET,
		   .qp = QP,
		   .vni = FT_FLOW_NO_VNI,
		   .packets = 1000,
		   .next = NEXT_PSN,
		   .first_psn = FIRST_PSN,
		   .acked = NEXT_PSN - 10,
		   .answered = FT_PSN_NONE,
		   .has_peer = true,
		   .request = 0x1234,
		   .begun_frame = 3,
		   .begun_ns = 10 * MS,
		   .last_ns = 90 * MS,
		   .begun_psn = FIRST_PSN,
		   .opcode = SEND_ONLY },
	.stranger = { .from = STRANGER,
		      .to = TARGET,
		      .qp = QP,
		      .vni = FT_FLOW_NO_VNI,
		      .packets = 4,
		      .next = FIRST_PSN + 504,
		      .first_psn = FIRST_PSN + 500,
		      .acked = FT_PSN_NONE,
		      .answered = FT_PSN_NONE,
		      .request = 0x4321,
		      .begun_frame = 204,
		      .begun_ns = 50 * MS,
		      .last_ns = 60 * MS,
		      .begun_psn = FIRST_PSN + 500,
		      .opcode = WRITE_ONLY },
};

static struct scene of_cnps(void)
{
	struct scene scene = requests;

	scene.stranger.service = UINT8_MAX; /* nothing but CNPs */
	scene.stranger.packets = 60;
	scene.stranger.next = scene.stranger.first_psn = FT_PSN_NONE;
	scene.stranger.begun_psn = 0;
	scene.stranger.begun_frame = 101;
	scene.stranger.opcode = CNP;
	scene.stranger.request = 0;
	return scene;
}

/* --- two workers with it --- */

static int set_up(void **state)
{
	static struct bench bench;

	bench = (struct bench){ .config = FT_ENGINE_DEFAULTS };
	bench.config.flows = 64;
	bench_open(&bench, &pod, 2);
	*state = &bench;
	return 0;
}

static void write_address(uint8_t address[16], uint8_t end, bool native)
{
	const uint8_t ip[16] = { [10] = 0xff, 0xff, 10, 0, 0, end };

	if (native)
		ft_flow_put_lid(address, end);
	else
		memcpy(address, ip, sizeof ip);
}

static struct ft_flow *place(struct ft_worker *worker, const struct half *half, bool native)
{
	struct ft_flow_key key = { .dest_qp = half->qp,
				   .vni = half->vni,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN,
				   .by_lid = native };
	struct ft_observed begun = { .frame = half->begun_frame,
				     .ts_ns = half->begun_ns,
				     .psn = half->begun_psn,
				     .opcode = half->opcode,
				     .pkey = 0xffff,
				     .vlan = half->vlan };
	struct ft_frame frame = { .number = half->begun_frame, .ts_ns = half->begun_ns };
	struct ft_flow *flow;

	write_address(key.src, half->from, native);
	write_address(key.dst, half->to, native);
	flow = ft_flow_find_or_create(worker->flows, &key, ft_flow_hash(worker->flows, &key),
				      half->begun_ns);
	flow->packets = half->packets;
	flow->bytes = 100 * half->packets;
	flow->bad_icrc = half->bad_icrc;
	flow->last_ns = half->last_ns;
	flow->vlan = half->vlan;
	flow->peer = half->has_peer ? 60 : 0;
	flow->half.service = half->service;
	flow->half.next_psn = half->next;
	flow->half.first_psn = half->first_psn;
	flow->half.acked = half->acked;
	flow->half.answered = half->answered;
	flow->half.candidate = half->candidate;
	flow->half.flags = half->flags;
	memset(flow->look.smac, native ? 0 : half->from, sizeof flow->look.smac);
	((struct ft_recent *)ft_suspects_recent(worker->suspects, flow))->requests[0] =
		half->request;
	if (half->begun_frame != 0)
		ft_firsts_add(&worker->firsts, ft_flow_number(worker->flows, flow), &begun,
			      half->captured != NULL ? half->captured : &frame);
	return flow;
}

static void stage(struct bench *bench, const struct scene *scene)
{
	place(bench->workers[0], &scene->owner, scene->native);
	place(bench->workers[1], &scene->stranger, scene->native);
}

static size_t look(struct bench *bench, struct ft_second_sender found[FT_SECOND_SENDERS])
{
	return ft_second_senders(bench->workers, 2, found);
}

/* --- who is told of --- */

enum told { NOT, NOTE, YES };

static enum told told_of(const struct scene *scene)
{
	struct ft_second_sender found[FT_SECOND_SENDERS];
	enum told told = NOT;
	void *state;

	set_up(&state);
	stage(state, scene);
	if (look(state, found) != 0) {
		told = found[0].plausible ? YES : NOTE;
		assert_int_equal(found[0].first.frame, scene->stranger.begun_frame);
		assert_int_equal(found[0].flow->packets, scene->stranger.packets);
		assert_int_equal(found[0].owner->packets, scene->owner.packets);
		assert_int_equal(found[0].cnps, scene->stranger.opcode == CNP);
	}
	bench_close(&state);
	return told;
}

/* Says what is wrong with the last one, too. */
static void assert_told(const char *what, const struct scene *scene, enum told expected)
{
	enum told told = told_of(scene);

	if (told != expected)
		print_error("%s\n", what);
	assert_int_equal(told, expected);
}

/* A scene as it begins, then changes to it; what is told of it. */
#define SCENE(begins, what, expected, ...)                                                         \
	do {                                                                                       \
		struct scene scene = begins;                                                       \
		struct half *owner = &scene.owner, *stranger = &scene.stranger;                    \
                                                                                                   \
		(void)owner;                                                                       \
		(void)stranger;                                                                    \
		__VA_ARGS__;                                                                       \
		assert_told(what, &scene, expected);                                               \
	} while (0)
#define CASE(what, expected, ...) SCENE(requests, what, expected, __VA_ARGS__)

static void requests_of_a_second_address_are_told(void **state)
{
	(void)state;
	CASE("from another address, amid the connection", YES, );
	CASE("on native InfiniBand", YES, scene.native = true);
	CASE("all in one VLAN", YES, owner->vlan = stranger->vlan = 7);
	CASE("all in one overlay", YES, owner->vni = stranger->vni = 70);
	CASE("more than one", YES, stranger->packets = 40);
}

static void requests_elsewhere_are_not(void **state)
{
	(void)state;
	CASE("to another queue pair", NOT, stranger->qp = QP + 1);
	CASE("to another address", NOT, stranger->to = OTHER);
	CASE("from the peer's address", NOT, stranger->from = OWNER);
	CASE("in another VLAN", NOT, stranger->vlan = 7);
	CASE("in an overlay", NOT, stranger->vni = 70);
	CASE("in another overlay", NOT, owner->vni = 71; stranger->vni = 70);
}

static void requests_before_or_behind_the_connection_are_not(void **state)
{
	(void)state;
	CASE("in its first frame", NOT, stranger->begun_frame = 3);
	CASE("before its first frame", NOT, stranger->begun_frame = 2);
	CASE("just behind that", YES, stranger->begun_frame = 4);
	CASE("when its last packet passed", NOT, stranger->begun_ns = 90 * MS);
	CASE("just before that", YES, stranger->begun_ns = 90 * MS - 1);
	CASE("when is not known", NOT, stranger->begun_ns = FT_TS_UNKNOWN);
	CASE("when the connection began is not known", NOT, owner->begun_frame = 0);
}

static void whoever_is_answered_or_connected_is_no_second_sender(void **state)
{
	(void)state;
	CASE("it has a peer", NOT, stranger->has_peer = true);
	CASE("it may have one", NOT, stranger->candidate = 5);
	CASE("it was answered", NOT, stranger->acked = FIRST_PSN + 500);
	CASE("it gives answers", NOT, stranger->answered = 17);
	CASE("it had a peer", NOT, stranger->flags = FT_HALF_MET);
	CASE("its set-up was seen", NOT, stranger->flags = FT_HALF_START_SEEN);
	CASE("it began a message", YES, stranger->flags = FT_HALF_IN_MESSAGE);
	CASE("it sent no request", NOT, stranger->next = FT_PSN_NONE);
	CASE("one request is the connection's", NOT, stranger->request = owner->request);
	CASE("neither has one that is kept", YES, stranger->request = owner->request = 0);
}

static void transports_with_several_senders_are_left_alone(void **state)
{
	(void)state;
	for (uint8_t service = FT_UC; service <= FT_MANUFACTURER; service++) {
		CASE("a stranger's", NOT, stranger->service = service);
		CASE("a connection's", NOT, owner->service = service);
	}
}

static void only_a_connection_at_work_has_an_owner(void **state)
{
	(void)state;
	CASE("its peer is not in view", NOT, owner->has_peer = false);
	CASE("nothing of it was answered", NOT, owner->acked = FT_PSN_NONE);
	CASE("it only answers", NOT, owner->acked = FT_PSN_NONE; owner->answered = 7);
	CASE("it has just begun", NOT, owner->packets = 15);
	CASE("it is a little farther", YES, owner->packets = 16);
}

/* What may be left of an earlier connection is a note. */
static void packets_of_an_earlier_connection_are_a_note(void **state)
{
	(void)state;
	CASE("65536 PSNs behind the last", YES, stranger->begun_psn = NEXT_PSN - 1 + 65536);
	CASE("more", NOTE, stranger->begun_psn = NEXT_PSN + 1 + 65536);
	CASE("65536 PSNs before the first", YES, stranger->begun_psn = FIRST_PSN - 65536);
	CASE("more", NOTE, stranger->begun_psn = FIRST_PSN - 65537);
	CASE("far away", NOTE, stranger->begun_psn = 9000000);
	CASE("fewer than half as many", YES, stranger->packets = 499);
	CASE("half as many", NOTE, stranger->packets = 500);
	CASE("another sequence was here before", NOTE, owner->first_psn = FT_PSN_ANEW);
	CASE("its first is not known", NOTE, owner->first_psn = FT_PSN_NONE);
	CASE("it used two millions", YES, owner->first_psn = 1;
	     owner->next = owner->first_psn + MILLIONS; stranger->begun_psn = 1000);
	CASE("it used more", NOTE, owner->first_psn = 1;
	     owner->next = owner->first_psn + MILLIONS + 1; stranger->begun_psn = 1000);
	CASE("over the end of the numbers", YES, owner->first_psn = 0xffff00; owner->next = 0x100;
	     stranger->begun_psn = 0xfffff0);
	CASE("at the other end of them", YES, owner->first_psn = 0x10; owner->next = 0x400;
	     stranger->begun_psn = 0xfffff0);
}

/* Asked to send again, where it began is not kept: it used no more PSNs than packets, if those are few enough. */
static void of_who_is_asked_again_the_packets_count(void **state)
{
	(void)state;
	CASE("at hand", YES, owner->flags = FT_HALF_NAKED; owner->first_psn = 77);
	CASE("as far back as packets are", YES, owner->flags = FT_HALF_NAKED;
	     stranger->begun_psn = NEXT_PSN - 1000 - 65536);
	CASE("farther", NOTE, owner->flags = FT_HALF_NAKED;
	     stranger->begun_psn = NEXT_PSN - 1001 - 65536);
	CASE("too many to tell", NOTE, owner->flags = FT_HALF_NAKED; owner->packets = MILLIONS);
}

#define CNPS(what, expected, ...) SCENE(of_cnps(), what, expected, __VA_ARGS__)

/* Whether they are a note is for the map to say: ft_second_senders() calls none of them plausible. */
static void cnps_of_a_second_address_are_told(void **state)
{
	(void)state;
	CNPS("sixty", NOTE, );
	CNPS("sixteen", NOTE, stranger->packets = 16);
	CNPS("fifteen", NOT, stranger->packets = 15);
	CNPS("sixteen, of which one was damaged", NOT, stranger->packets = 16;
	     stranger->bad_icrc = 1);
	CNPS("seventeen, of which one was damaged", NOTE, stranger->packets = 17;
	     stranger->bad_icrc = 1);
	CNPS("to who answers", NOTE, owner->acked = FT_PSN_NONE; owner->answered = 7);
	CNPS("to who does neither", NOT, owner->acked = FT_PSN_NONE);
	CNPS("and something else", NOT, stranger->service = FT_UD);
	CNPS("of a peer", NOT, stranger->has_peer = true);
	CNPS("from the peer's address", NOT, stranger->from = OWNER);
	CNPS("in another VLAN", NOT, stranger->vlan = 7);
	CNPS("to a queue pair of management", NOT, stranger->qp = owner->qp = 1);
	CNPS("to the first queue pair that is none", NOTE, stranger->qp = owner->qp = 2);
	CNPS("to a connection that may lose", NOT, owner->service = FT_UC);
	CNPS("before it began", NOT, stranger->begun_frame = 2);
}

/* The first frame decides, whichever worker has it. */
static void they_are_told_in_the_order_of_their_first_frames(void **state)
{
	struct ft_second_sender found[FT_SECOND_SENDERS];
	struct scene scene = requests;
	struct bench *bench = *state;

	place(bench->workers[0], &scene.owner, false);
	place(bench->workers[0], &scene.stranger, false);
	scene.stranger.from = OTHER;
	scene.stranger.begun_frame = 150;
	place(bench->workers[1], &scene.stranger, false);
	scene.stranger.from = SPARE;
	scene.stranger.begun_frame = 300;
	place(bench->workers[1], &scene.stranger, false);
	assert_int_equal(look(bench, found), 3);
	assert_int_equal(found[0].first.frame, 150);
	assert_int_equal(found[1].first.frame, 204);
	assert_int_equal(found[2].first.frame, 300);
	assert_null(found[0].frame.bytes); /* it was not kept */
	assert_int_equal(found[0].frame.number, 150);
}

/* Datagrams to the same port, which have no owner, and another connection come first in the table. */
static void the_owner_is_found_among_others(void **state)
{
	struct ft_second_sender found[FT_SECOND_SENDERS];
	struct scene scene = requests;
	struct bench *bench = *state;

	scene.owner.from = OTHER;
	scene.owner.service = FT_UD;
	place(bench->workers[0], &scene.owner, false);
	scene.owner.service = FT_RC;
	scene.owner.qp = QP + 5;
	place(bench->workers[0], &scene.owner, false);
	scene = requests;
	stage(bench, &scene);
	assert_int_equal(look(bench, found), 1);
	assert_int_equal(found[0].owner->key.src[15], OWNER);
}

/* Where evidence is written, with its first frame. */
static void the_first_frame_is_there_if_it_was_kept(void **state)
{
	const uint8_t bytes[] = { 0xca, 0xfe };
	const struct ft_frame frame = {
		.bytes = bytes, .captured = sizeof bytes, .number = 204, .ts_ns = 50 * MS
	};
	struct ft_second_sender found[FT_SECOND_SENDERS];
	struct scene scene = requests;
	struct bench *bench = *state;

	assert_int_equal(ft_firsts_keep_frames(&bench->workers[1]->firsts), 0);
	scene.stranger.captured = &frame;
	stage(bench, &scene);
	assert_int_equal(look(bench, found), 1);
	assert_int_equal(found[0].frame.captured, sizeof bytes);
	assert_memory_equal(found[0].frame.bytes, bytes, sizeof bytes);
}

static void a_record_that_began_twice_is_told_once(void **state)
{
	struct ft_second_sender found[FT_SECOND_SENDERS];
	struct scene scene = requests;
	struct bench *bench = *state;

	stage(bench, &scene);
	scene.stranger.begun_frame = 400;
	place(bench->workers[1], &scene.stranger, false);
	assert_int_equal(look(bench, found), 1);
	assert_int_equal(found[0].first.frame, 400);
}

/* --- findings --- */

static const struct ft_second_evidence nowhere = { NULL, NULL };

static struct ft_second_findings *findings_of(struct bench *bench)
{
	static struct ft_second_findings second;

	assert_int_equal(ft_second_findings_fill(&second, bench->map, bench->workers, 2, &nowhere),
			 0);
	return &second;
}

/* The sentences are those of docs/findings.md. */
static void a_second_sender_is_told_in_a_sentence(void **state)
{
	struct ft_second_findings *second;
	struct scene scene = requests;
	const struct ft_finding *finding;

	scene.stranger.begun_psn = 16777200;
	scene.owner.next = 84;
	scene.owner.first_psn = 80;
	stage(*state, &scene);
	second = findings_of(*state);
	finding = &second->findings.items[0];
	assert_int_equal(second->findings.count, 1);
	assert_string_equal(second->notes[0].text,
			    "frame 204: RC_RDMA_WRITE_ONLY with PSN 16777200 to queue pair 34, "
			    "which is connected with 10.0.0.1 and expects PSN 84 at the end");
	assert_int_equal(finding->rule, FT_RULE_SPOOF_SECOND_SENDER);
	assert_true(second->notes[0].plausible);
	assert_string_equal(finding->subject.src.host, "r3");
	assert_string_equal(finding->subject.dst.host, "r2");
	assert_int_equal(finding->packets, 4);
	assert_int_equal(finding->bytes, 400);
	assert_int_equal(finding->frame_count, 1);
	assert_int_equal(finding->frames[0], 204);
	assert_int_equal(finding->dest_qps[0], QP);
	assert_int_equal(finding->first_ts_ns, 50 * MS);
	assert_int_equal(finding->last_ts_ns, 60 * MS);
	ft_second_findings_free(second);
}

static void cnps_are_told_in_a_sentence(void **state)
{
	struct ft_second_findings *second;
	struct scene scene = of_cnps();

	scene.owner.from = TARGET;
	scene.owner.to = OWNER;
	scene.stranger.to = OWNER;
	scene.owner.qp = scene.stranger.qp = 17;
	stage(*state, &scene);
	second = findings_of(*state);
	assert_int_equal(second->findings.count, 1);
	assert_string_equal(second->notes[0].text,
			    "frame 101: the first of 60 CNPs, and nothing else, to queue pair 17, "
			    "which is connected with 10.0.0.2");
	assert_int_equal(second->findings.items[0].rule, FT_RULE_SPOOF_CNP_UNSOLICITED);
	assert_int_equal(second->findings.items[0].packets, 60);
	assert_true(second->notes[0].plausible);
	ft_second_findings_free(second);
}

static struct ft_flood flood_of_the_manual(void)
{
	struct ft_flood flood = {
		.key = { .dest_qp = 17, .vni = FT_FLOW_NO_VNI },
		.first = { .frame = 360, .ts_ns = 70 * MS, .pkey = 0xffff, .opcode = CNP },
		.cnps = 152,
		.bytes = 152 * 74,
		.last_ns = 73 * MS,
		.within_ns = 3020000,
		.then = 152,
		.packets = 4,
		.usual = { .smac = { 2, 0, 10, 0, 0, 2 } },
		.smac = { 2, 0, 9, 9, 9, 9 },
		.foreign = true,
	};

	write_address(flood.key.src, TARGET, false);
	write_address(flood.key.dst, OWNER, false);
	return flood;
}

static void a_flood_is_told_in_a_sentence(void **state)
{
	struct bench *bench = *state;
	struct ft_second_findings *second;

	for (unsigned foreign = 0; foreign <= 1; foreign++) {
		bench->workers[1]->floods.items[0] = flood_of_the_manual();
		bench->workers[1]->floods.items[0].foreign = foreign;
		bench->workers[1]->floods.count = 1;
		second = findings_of(bench);
		assert_int_equal(second->findings.count, 1);
		assert_string_equal(
			second->notes[0].text,
			foreign ? "frame 360: the last of 152 CNPs in 3.020 ms to queue pair 17, "
				  "which sent 4 packets meanwhile, from MAC 02:00:09:09:09:09 "
				  "instead of 02:00:0a:00:00:02"
				: "frame 360: the last of 152 CNPs in 3.020 ms to queue pair 17, "
				  "which sent 4 packets meanwhile");
		assert_int_equal(second->findings.items[0].packets, 152);
		assert_int_equal(second->findings.items[0].bytes, 152 * 74);
		assert_int_equal(second->findings.items[0].last_ts_ns, 73 * MS);
		assert_int_equal(second->notes[0].plausible, foreign);
		ft_second_findings_free(second);
	}
}

/* Another port of the peer's host: of requests only on InfiniBand, where paths migrate; of CNPs anywhere. */
static void another_port_of_the_peer_is_a_note(void **state)
{
	static const struct {
		const char *what;
		bool native, cnps;
		uint8_t from;
		bool plausible;
	} rows[] = {
		{ "requests over IP from another host", false, false, STRANGER, true },
		{ "requests over IP from the peer's spare port", false, false, SPARE, true },
		{ "native requests from another host", true, false, STRANGER, true },
		{ "native requests from the peer's spare port", true, false, SPARE, false },
		{ "CNPs over IP from another host", false, true, STRANGER, true },
		{ "CNPs over IP from the peer's spare port", false, true, SPARE, false },
		{ "native CNPs from another host", true, true, STRANGER, true },
		{ "native CNPs from the peer's spare port", true, true, SPARE, false },
		{ "CNPs from nobody the map knows", false, true, 99, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct scene scene = rows[i].cnps ? of_cnps() : requests;
		struct ft_second_findings *second;
		void *bench;

		set_up(&bench);
		scene.native = rows[i].native;
		scene.stranger.from = rows[i].from;
		stage(bench, &scene);
		second = findings_of(bench);
		print_message("%s\n", rows[i].what);
		assert_int_equal(second->findings.count, 1);
		assert_int_equal(second->notes[0].plausible, rows[i].plausible);
		assert_int_equal(second->findings.items[0].subject.src.host == NULL,
				 rows[i].from == 99);
		ft_second_findings_free(second);
		bench_close(&bench);
	}
}

/* One subject: counted together, the first one's words, and no note if one of them is none. */
static void one_intruder_at_two_queue_pairs_is_one_finding(void **state)
{
	struct ft_second_findings *second;
	struct scene scene = requests;
	const struct ft_finding *finding;

	scene.stranger.begun_psn = 9000000; /* may be left of an earlier connection */
	stage(*state, &scene);
	scene = requests;
	scene.owner.qp = scene.stranger.qp = QP + 1;
	scene.owner.begun_frame = 5;
	scene.stranger.begun_frame = 220;
	scene.stranger.packets = 6;
	scene.stranger.last_ns = 55 * MS;
	stage(*state, &scene);
	second = findings_of(*state);
	finding = &second->findings.items[0];
	assert_int_equal(second->findings.count, 1);
	assert_int_equal(finding->packets, 4 + 6);
	assert_int_equal(finding->bytes, 400 + 600);
	assert_int_equal(finding->frame_count, 2);
	assert_int_equal(finding->frames[0], 204);
	assert_int_equal(finding->frames[1], 220);
	assert_int_equal(finding->dest_qp_count, 2);
	assert_int_equal(finding->last_ts_ns, 60 * MS);
	assert_true(second->notes[0].plausible);
	assert_ptr_equal(strstr(second->notes[0].text, "frame 204:"), second->notes[0].text);
	ft_second_findings_free(second);
}

/* A report of now tells nothing twice, and nothing that has gone. */
static void each_report_finds_them_anew(void **state)
{
	struct ft_second_findings *second;
	struct bench *bench = *state;

	bench->workers[0]->floods.items[0] = flood_of_the_manual();
	bench->workers[0]->floods.count = 1;
	second = findings_of(bench);
	assert_int_equal(second->findings.count, 1);
	second = findings_of(bench);
	assert_int_equal(second->findings.count, 1);
	assert_int_equal(second->findings.items[0].packets, 152);
	bench->workers[0]->floods.items[0].foreign = false;
	second = findings_of(bench);
	assert_false(second->notes[0].plausible);
	bench->workers[0]->floods.count = 0;
	second = findings_of(bench);
	assert_int_equal(second->findings.count, 0);
	ft_second_findings_free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_of_a_second_address_are_told),
		cmocka_unit_test(requests_elsewhere_are_not),
		cmocka_unit_test(requests_before_or_behind_the_connection_are_not),
		cmocka_unit_test(whoever_is_answered_or_connected_is_no_second_sender),
		cmocka_unit_test(transports_with_several_senders_are_left_alone),
		cmocka_unit_test(only_a_connection_at_work_has_an_owner),
		cmocka_unit_test(packets_of_an_earlier_connection_are_a_note),
		cmocka_unit_test(of_who_is_asked_again_the_packets_count),
		cmocka_unit_test(cnps_of_a_second_address_are_told),
		cmocka_unit_test_setup_teardown(they_are_told_in_the_order_of_their_first_frames,
						set_up, bench_close),
		cmocka_unit_test_setup_teardown(the_owner_is_found_among_others, set_up,
						bench_close),
		cmocka_unit_test_setup_teardown(the_first_frame_is_there_if_it_was_kept, set_up,
						bench_close),
		cmocka_unit_test_setup_teardown(a_record_that_began_twice_is_told_once, set_up,
						bench_close),
		cmocka_unit_test_setup_teardown(a_second_sender_is_told_in_a_sentence, set_up,
						bench_close),
		cmocka_unit_test_setup_teardown(cnps_are_told_in_a_sentence, set_up, bench_close),
		cmocka_unit_test_setup_teardown(a_flood_is_told_in_a_sentence, set_up, bench_close),
		cmocka_unit_test(another_port_of_the_peer_is_a_note),
		cmocka_unit_test_setup_teardown(one_intruder_at_two_queue_pairs_is_one_finding,
						set_up, bench_close),
		cmocka_unit_test_setup_teardown(each_report_finds_them_anew, set_up, bench_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
