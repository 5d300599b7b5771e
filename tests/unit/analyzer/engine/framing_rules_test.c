#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "framing_rules.h"

/* Which rows of `flows --nccl` have a rule of NCCL's: those that the frame was counted in, and no others. */

enum { QP = 17, VLAN = 5 };

static const uint8_t host_a[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
static const uint8_t host_b[16] = { [10] = 0xff, 0xff, 10, 0, 0, 2 };

static struct ft_nccl_found found_on(uint32_t dest_qp)
{
	struct ft_nccl_found found = { .pkey = 0xffff, .vlan = VLAN, .dest_qp = dest_qp };

	memcpy(found.ends.src, host_a, 16);
	memcpy(found.ends.dst, host_b, 16);
	found.ends.vni = FT_FLOW_NO_VNI;
	return found;
}

/* The first record of the half-connection that such a frame is of. */
static struct ft_flow record_of(uint32_t dest_qp)
{
	struct ft_flow flow = {
		.key = { .dest_qp = dest_qp,
			 .vni = FT_FLOW_NO_VNI,
			 .base = FT_FLOW_ANY_BASE,
			 .vlan = FT_FLOW_ANY_VLAN },
		.base = 0x7fff,
		.vlan = VLAN,
	};

	memcpy(flow.key.src, host_a, 16);
	memcpy(flow.key.dst, host_b, 16);
	return flow;
}

static uint8_t rules_of(const struct ft_framing_marks *marks, const struct ft_flow *flow)
{
	return ft_framing_marks_of(marks, flow).rules;
}

static void a_rule_is_told_of_the_record_of_its_frame_alone(void **state)
{
	const uint8_t replay = ft_framing_rule_bit(FT_RULE_NCCL_REPLAY);
	struct ft_framing_marks marks = { 0 };
	const struct ft_nccl_found found = found_on(QP);
	struct ft_flow flow = record_of(QP), other;

	(void)state;
	assert_int_equal(rules_of(&marks, &flow), 0);
	ft_framing_marks_add(&marks, &found, FT_RULE_NCCL_REPLAY, true);
	assert_int_equal(rules_of(&marks, &flow), replay);
	other = record_of(QP + 1);
	assert_int_equal(rules_of(&marks, &other), 0);
	other = flow;
	memcpy(other.key.src, host_b, 16);
	memcpy(other.key.dst, host_a, 16);
	assert_int_equal(rules_of(&marks, &other), 0);
	other = flow;
	memcpy(other.key.dst, host_a, 16);
	assert_int_equal(rules_of(&marks, &other), 0);
	other = flow;
	other.key.vni = 7;
	assert_int_equal(rules_of(&marks, &other), 0);
	other = flow;
	other.base = 1;
	assert_int_equal(rules_of(&marks, &other), 0);
	other = flow;
	other.vlan = VLAN + 1;
	assert_int_equal(rules_of(&marks, &other), 0);
	ft_framing_marks_free(&marks);
}

/* A record of another P_Key or VLAN than the half-connection's first has them in its key. */
static void a_further_record_has_its_own_rules(void **state)
{
	struct ft_framing_marks marks = { 0 };
	struct ft_nccl_found found = found_on(QP);
	struct ft_flow first = record_of(QP), further = first;

	(void)state;
	found.pkey = 0x8001;
	found.vlan = 9;
	ft_framing_marks_add(&marks, &found, FT_RULE_NCCL_REPLAY, true);
	further.key.base = 1;
	further.key.vlan = 9;
	assert_int_equal(rules_of(&marks, &first), 0);
	assert_int_equal(rules_of(&marks, &further), ft_framing_rule_bit(FT_RULE_NCCL_REPLAY));
	ft_framing_marks_free(&marks);
}

static void what_is_sure_is_kept_beside_what_is_told(void **state)
{
	const uint8_t replay = ft_framing_rule_bit(FT_RULE_NCCL_REPLAY);
	const uint8_t outside = ft_framing_rule_bit(FT_RULE_NCCL_WRITE_OUTSIDE);
	struct ft_framing_marks marks = { 0 };
	const struct ft_nccl_found found = found_on(QP);
	const struct ft_flow flow = record_of(QP);
	struct ft_framing_told told;

	(void)state;
	ft_framing_marks_add(&marks, &found, FT_RULE_NCCL_REPLAY, false);
	assert_int_equal(ft_framing_marks_of(&marks, &flow).violated, 0);
	ft_framing_marks_add(&marks, &found, FT_RULE_NCCL_WRITE_OUTSIDE, true);
	ft_framing_marks_add(&marks, &found, FT_RULE_NCCL_WRITE_OUTSIDE, false);
	told = ft_framing_marks_of(&marks, &flow);
	assert_int_equal(told.rules, replay | outside);
	assert_int_equal(told.violated, outside);
	ft_framing_marks_free(&marks);
}

static void many_are_told_apart(void **state)
{
	enum { MANY = 1000 };
	struct ft_framing_marks marks = { .seed = 7 };

	(void)state;
	for (uint32_t qp = 0; qp < MANY; qp++) {
		const struct ft_nccl_found found = found_on(qp);

		ft_framing_marks_add(&marks, &found,
				     qp % 2 == 0 ? FT_RULE_NCCL_REPLAY : FT_RULE_NCCL_CONTRADICTION,
				     true);
	}
	for (uint32_t qp = 0; qp < MANY; qp++) {
		const struct ft_flow flow = record_of(qp);

		assert_int_equal(rules_of(&marks, &flow),
				 ft_framing_rule_bit(qp % 2 == 0 ? FT_RULE_NCCL_REPLAY
								 : FT_RULE_NCCL_CONTRADICTION));
	}
	assert_int_equal(marks.count, MANY);
	ft_framing_marks_free(&marks);
}

/* NCCL's framing writes LIDs as GIDs, the flow table as the machine has them. */
static void a_half_connection_between_lids_is_found(void **state)
{
	struct ft_framing_marks marks = { 0 };
	struct ft_nccl_found found = { .pkey = 0xffff, .dest_qp = QP };
	struct ft_flow flow = {
		.key = { .dest_qp = QP,
			 .vni = FT_FLOW_NO_VNI,
			 .base = FT_FLOW_ANY_BASE,
			 .vlan = FT_FLOW_ANY_VLAN,
			 .by_lid = 1 },
		.base = 0x7fff,
	};

	(void)state;
	found.ends = ft_nccl_ends_by_lid(0x102, 0x304, FT_FLOW_NO_VNI);
	ft_flow_put_lid(flow.key.src, 0x102);
	ft_flow_put_lid(flow.key.dst, 0x304);
	ft_framing_marks_add(&marks, &found, FT_RULE_NCCL_REPLAY, true);
	assert_int_equal(rules_of(&marks, &flow), ft_framing_rule_bit(FT_RULE_NCCL_REPLAY));
	ft_flow_put_lid(flow.key.dst, 0x403);
	assert_int_equal(rules_of(&marks, &flow), 0);
	ft_framing_marks_free(&marks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_is_told_of_the_record_of_its_frame_alone),
		cmocka_unit_test(a_further_record_has_its_own_rules),
		cmocka_unit_test(what_is_sure_is_kept_beside_what_is_told),
		cmocka_unit_test(many_are_told_apart),
		cmocka_unit_test(a_half_connection_between_lids_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
