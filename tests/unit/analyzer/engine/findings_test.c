#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "findings.h"

static struct ft_subject subject_of(const char *host, const char *address)
{
	struct ft_subject subject = {
		.src = { .host = host, .tenant = 0 },
		.dst = { .address = "10.0.0.2", .tenant = FT_NONE },
		.pkey = 0x8001,
	};

	snprintf(subject.src.address, sizeof subject.src.address, "%s", address);
	return subject;
}

static void same_id(const struct ft_subject *a, const struct ft_subject *b, bool same)
{
	char id_a[24], id_b[24];

	ft_finding_id(FT_RULE_PKEY_UNDECLARED, a, id_a);
	ft_finding_id(FT_RULE_PKEY_UNDECLARED, b, id_b);
	assert_int_equal(strcmp(id_a, id_b) == 0, same);
}

static void the_id_is_the_sha256_of_rule_and_subject(void **state)
{
	/* printf 'pkey.undeclared\ngpu01\n10.0.0.2\n0x0001\n0\n' | sha256sum */
	const char expected[] = "fda4fe1acadc0f0c";
	struct ft_subject subject = subject_of("gpu01", "10.0.0.1");
	char id[24];

	(void)state;
	ft_finding_id(FT_RULE_PKEY_UNDECLARED, &subject, id);
	assert_string_equal(id, expected);
}

static void a_host_is_one_subject_whatever_its_address(void **state)
{
	struct ft_subject a = subject_of("gpu01", "10.0.0.1");
	struct ft_subject b = subject_of("gpu01", "10.0.1.1");

	(void)state;
	same_id(&a, &b, true);
}

static void an_undeclared_end_is_known_by_its_address(void **state)
{
	struct ft_subject a = subject_of(NULL, "10.0.0.1");
	struct ft_subject b = subject_of(NULL, "10.0.1.1");

	(void)state;
	same_id(&a, &b, false);
}

static void the_membership_bit_is_not_part_of_the_subject(void **state)
{
	struct ft_subject a = subject_of("gpu01", "lid:1");
	struct ft_subject b = a;

	(void)state;
	b.pkey = 0x0001;
	same_id(&a, &b, true);
	b.pkey = 0x0002;
	same_id(&a, &b, false);
}

static void vlan_and_vni_tell_subjects_apart(void **state)
{
	struct ft_subject a = subject_of("gpu01", "lid:1");
	struct ft_subject vlan = a, vni = a, vni_zero = a;

	(void)state;
	vlan.vlan = 100;
	vni.has_vni = true;
	vni.vni = 100;
	vni_zero.has_vni = true;
	same_id(&a, &vlan, false);
	same_id(&a, &vni, false);
	same_id(&a, &vni_zero, false);
	same_id(&vlan, &vni, false);
}

/* A tapmap's names have up to 255 bytes, those of topology files any number: what comes behind them counts all the same. */
static void long_names_leave_no_part_of_the_subject_out(void **state)
{
	static const size_t lengths[] = { 200, 255, 256, 600 };
	char src[601], dst[601], other[601];

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		struct ft_subject a = subject_of(src, "lid:1"), b;

		memset(src, 's', sizeof src);
		memset(dst, 'd', sizeof dst);
		src[lengths[i]] = dst[lengths[i]] = '\0';
		memcpy(other, dst, sizeof other);
		other[lengths[i] - 1] = 'e';
		a.dst.host = dst;
		b = a;
		same_id(&a, &b, true);
		b.dst.host = other;
		same_id(&a, &b, false);
		b = a;
		b.src.host = other;
		same_id(&a, &b, false);
		b = a;
		b.pkey = 0x8002;
		same_id(&a, &b, false);
		b = a;
		b.vlan = 7;
		same_id(&a, &b, false);
		b = a;
		b.has_vni = true;
		same_id(&a, &b, false);
	}
}

static void frames_are_counted_and_the_first_ones_kept(void **state)
{
	struct ft_findings findings;
	struct ft_subject subject = subject_of("gpu01", "lid:1");
	struct ft_finding *finding;
	uint32_t index;

	(void)state;
	assert_int_equal(ft_findings_init(&findings, 10), 0);
	index = ft_findings_of(&findings, FT_RULE_PKEY_UNDECLARED, &subject);
	assert_int_equal(index, 0);
	for (uint64_t number = 1; number <= 40; number++) {
		struct ft_frame frame = { .wire = 100, .ts_ns = 1000 - number, .number = number };

		index = ft_findings_of(&findings, FT_RULE_PKEY_UNDECLARED, &subject);
		finding = &findings.items[index];
		assert_int_equal(ft_finding_add(finding, &frame, (uint32_t)(number % 20)),
				 number <= FT_FINDING_FRAMES);
	}
	finding = &findings.items[0];
	assert_int_equal(findings.count, 1);
	assert_int_equal(finding->packets, 40);
	assert_int_equal(finding->bytes, 4000);
	assert_int_equal(finding->first_ts_ns, 960);
	assert_int_equal(finding->last_ts_ns, 999);
	assert_int_equal(finding->frame_count, FT_FINDING_FRAMES);
	assert_int_equal(finding->frames[31], 32);
	assert_int_equal(finding->dest_qp_count, FT_FINDING_QPS);
	ft_findings_free(&findings);
}

static void times_are_the_first_and_the_last_and_each_queue_pair_is_named_once(void **state)
{
	static const struct {
		uint64_t ts_ns;
		uint32_t dest_qp;
	} rows[] = { { 200, 7 },       { 300, 9 }, { FT_TS_UNKNOWN, 7 },
		     { 250, FT_NONE }, { 100, 9 }, { 150, 7 } };
	struct ft_finding finding = { .first_ts_ns = FT_TS_UNKNOWN, .last_ts_ns = FT_TS_UNKNOWN };

	(void)state;
	for (uint64_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_frame frame = { .ts_ns = rows[i].ts_ns, .number = i + 1 };

		assert_true(ft_finding_add(&finding, &frame, rows[i].dest_qp));
	}
	assert_int_equal(finding.first_ts_ns, 100);
	assert_int_equal(finding.last_ts_ns, 300);
	assert_int_equal(finding.dest_qp_count, 2);
	assert_int_equal(finding.dest_qps[0], 7);
	assert_int_equal(finding.dest_qps[1], 9);
}

static void beyond_the_limit_no_finding_is_made(void **state)
{
	struct ft_findings findings;
	char address[16];

	(void)state;
	assert_int_equal(ft_findings_init(&findings, 100), 0);
	for (uint32_t i = 0; i < 200; i++) {
		struct ft_subject subject;

		snprintf(address, sizeof address, "lid:%u", i);
		subject = subject_of(NULL, address);
		assert_int_equal(ft_findings_of(&findings, FT_RULE_PKEY_INVALID, &subject),
				 i < 100 ? i : FT_NONE);
	}
	assert_int_equal(findings.count, 100);
	ft_findings_free(&findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_id_is_the_sha256_of_rule_and_subject),
		cmocka_unit_test(a_host_is_one_subject_whatever_its_address),
		cmocka_unit_test(an_undeclared_end_is_known_by_its_address),
		cmocka_unit_test(the_membership_bit_is_not_part_of_the_subject),
		cmocka_unit_test(vlan_and_vni_tell_subjects_apart),
		cmocka_unit_test(long_names_leave_no_part_of_the_subject_out),
		cmocka_unit_test(frames_are_counted_and_the_first_ones_kept),
		cmocka_unit_test(
			times_are_the_first_and_the_last_and_each_queue_pair_is_named_once),
		cmocka_unit_test(beyond_the_limit_no_finding_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
