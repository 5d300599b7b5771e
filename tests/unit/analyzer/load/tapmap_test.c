#include "samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <partition/moment.h>
#include <partition/notation.h>

#define TAPMAP SAMPLES "tapmap/"

static void every_bad_sample_is_refused_where_it_is_wrong(void **state)
{
	static const struct {
		const char *name, *place;
	} bad[] = { { "x01_overlapping_intervals.json",
		      "x01_overlapping_intervals.json:198: /partitions/1/intervals/1: "
		      "interval-overlap: " },
		    { "x02_unknown_host.json",
		      "x02_unknown_host.json:227: /partitions/2/intervals/0/members/2: "
		      "unknown-host: " },
		    { "x03_newer_schema.json",
		      "x03_newer_schema.json:2: /schema: schema-not-supported: " },
		    { "x04_pkey_with_membership_bit.json",
		      "x04_pkey_with_membership_bit.json:212: /partitions/2/pkey: "
		      "pkey-out-of-range: " } };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char path[300];
		struct ft_map_files files = { .map = path };
		struct ft_map_complaint complaint;
		struct ft_declared *declared = NULL, *rejected = NULL;
		json_t *have, *want;

		snprintf(path, sizeof path, "%s%s", TAPMAP, bad[i].name);
		assert_int_equal(ft_map_load(&declared, &files, &rejected, &complaint), -EINVAL);
		assert_null(declared);
		assert_non_null(strstr(complaint.text, bad[i].place));
		have = shown(rejected);
		want = expected_of(path);
		assert_string_equal(json_string_value(json_object_get(have, "verdict")), "reject");
		assert_same_diagnostics(json_object_get(have, "diagnostics"),
					json_object_get(want, "diagnostics"), "where");
		json_decref(have);
		json_decref(want);
		ft_declared_destroy(rejected);
	}
}

static int load_signed(const char *map, const char *key, struct ft_declared **declared,
		       char complaint_text[512])
{
	struct ft_map_files files = { .map = map, .key = key };
	struct ft_map_complaint complaint;
	int failed = ft_map_load(declared, &files, NULL, &complaint);

	memcpy(complaint_text, complaint.text, 512);
	return failed;
}

static void a_signed_map_names_its_signer(void **state)
{
	struct ft_declared *declared = NULL;
	char text[512];

	(void)state;
	assert_int_equal(load_signed(TAPMAP "v01_three_tenants.json", TAPMAP "signer.pub.pem",
				     &declared, text),
			 0);
	assert_non_null(strstr(declared->signed_by, "signer.pub.pem (sha256 "));
	ft_declared_destroy(declared);
	assert_int_equal(load_signed(TAPMAP "v01_three_tenants.json", NULL, &declared, text), 0);
	assert_string_equal(declared->signed_by, "");
	ft_declared_destroy(declared);
}

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	int byte;

	assert_non_null(in);
	assert_non_null(out);
	while ((byte = fgetc(in)) != EOF)
		fputc(byte, out);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

static void a_map_that_its_key_did_not_sign_is_refused(void **state)
{
	char folder[] = "/tmp/ft-map-XXXXXX", map[64], signature[64], text[512];
	struct ft_declared *declared = NULL;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(map, sizeof map, "%s/map.json", folder);
	snprintf(signature, sizeof signature, "%s/map.sig", folder);
	copy_file(TAPMAP "x05_tampered.json", map);
	assert_int_equal(load_signed(map, TAPMAP "signer.pub.pem", &declared, text), -EINVAL);
	assert_non_null(strstr(text, "map.sig: signature-missing: cannot be read"));
	copy_file(TAPMAP "v01_three_tenants.sig", signature);
	assert_int_equal(load_signed(map, TAPMAP "signer.pub.pem", &declared, text), -EINVAL);
	assert_non_null(strstr(text, "map.sig: signature-mismatch: does not sign"));
	copy_file(TAPMAP "v01_three_tenants.json", map);
	assert_int_equal(load_signed(map, TAPMAP "signer.pub.pem", &declared, text), 0);
	ft_declared_destroy(declared);
	declared = NULL;
	file = fopen(signature, "w");
	fputs("bm90IGEgc2lnbmF0dXJl\n", file);
	fclose(file);
	assert_int_equal(load_signed(map, TAPMAP "signer.pub.pem", &declared, text), -EINVAL);
	assert_non_null(strstr(text, "map.sig: signature-malformed: holds no signature"));
	assert_int_equal(load_signed(map, TAPMAP "v01_three_tenants.json", &declared, text),
			 -EINVAL);
	assert_non_null(strstr(text, "no Ed25519 public key"));
	assert_int_equal(load_signed(map, "/nonexistent.pem", &declared, text), -ENOENT);
	unlink(map);
	unlink(signature);
	rmdir(folder);
}

/* A whole map with one part changed: %s is replaced. Line 4 is the one that is replaced. */
struct refusal {
	const char *sentence, *part, *text, *code, *where;
	unsigned line;
};

#define NODES "\"nodes\":[{\"host\":\"h\",\"ports\":[{\"guid\":\"0x1\"}]}]"
#define TENANTS                                                                                    \
	"\"tenants\":[{\"name\":\"t\",\"class\":\"customer\"},{\"name\":\"s\",\"class\":"          \
	"\"shared\"}]"
#define MEMBERS "{\"host\":\"h\",\"membership\":\"full\"}"
#define INTERVALS(members)                                                                         \
	"\"intervals\":[{\"from\":\"2026-01-01T00:00:00Z\",\"to\":null,\"members\":[" members "]}" \
	"]"
#define PARTITION(rest) "\"partitions\":[{\"pkey\":\"0x1\",\"tenant\":\"t\"," rest "}]"
#define PARTITIONS      PARTITION(INTERVALS(MEMBERS))
#define SEGMENT(member) "\"segments\":[{\"name\":\"x\",\"tenant\":\"t\"," INTERVALS(member) "}]"
#define EXCEPTION(rest) "\"exceptions\":[{\"id\":\"e\"," rest "}]"
#define PORT(keys)      "\"nodes\":[{\"host\":\"h\",\"ports\":[{" keys "}]}]"
#define PORTS(a, b)                                                                                \
	"\"nodes\":[{\"host\":\"h\",\"ports\":[{" a "}]},{\"host\":\"i\",\"ports\":[{" b "}]}]"
#define MEMBER "/partitions/0/intervals/0/members/0"

static const struct refusal refusals[] = {
	{ "an unknown key", "extra", "\"colour\":1", "unknown-key", "/colour", 4 },
	{ "an unknown key deep inside", "nodes", PORT("\"guid\":\"0x1\",\"lidd\":1"), "unknown-key",
	  "/nodes/0/ports/0/lidd", 2 },
	{ "a key with a slash is escaped in the path", "extra", "\"a/b~c\":1", "unknown-key",
	  "/a~1b~0c", 4 },
	{ "no tenants", "tenants", "\"map_id\":\"m\"", "missing-key", "", 1 },
	{ "a tenant without a class", "tenants", "\"tenants\":[{\"name\":\"t\"}]", "missing-key",
	  "/tenants/0", 3 },
	{ "a tenant without a name", "tenants", "\"tenants\":[{\"class\":\"customer\"}]",
	  "missing-key", "/tenants/0", 3 },
	{ "a tenant twice", "tenants",
	  "\"tenants\":[{\"name\":\"t\",\"class\":\"customer\"},{\"name\":\"t\",\"class\":"
	  "\"shared\"}]",
	  "duplicate-tenant", "/tenants/1", 3 },
	{ "a tenant named as nobody is", "tenants",
	  "\"tenants\":[{\"name\":\"unknown\",\"class\":\"customer\"}]", "reserved-name",
	  "/tenants/0", 3 },
	{ "a name with an escape character", "tenants",
	  "\"tenants\":[{\"name\":\"t\\u001b[2J\",\"class\":\"customer\"}]", "bad-name",
	  "/tenants/0/name", 3 },
	{ "an empty name", "tenants", "\"tenants\":[{\"name\":\"\",\"class\":\"customer\"}]",
	  "bad-name", "/tenants/0/name", 3 },
	{ "a name that is none", "tenants", "\"tenants\":[{\"class\":\"customer\",\n\"name\":7}]",
	  "wrong-type", "/tenants/0/name", 4 },
	{ "a class that is none", "tenants",
	  "\"tenants\":[{\"name\":\"t\",\"class\":\"Customer\"}]", "unknown-word",
	  "/tenants/0/class", 3 },
	{ "an unknown tenant to keep apart from", "tenants",
	  "\"tenants\":[{\"name\":\"t\",\"class\":\"customer\",\"options\":{\"no_leaf_sharing_"
	  "with\":[\"x\"]}}]",
	  "unknown-tenant", "/tenants/0/options/no_leaf_sharing_with/0", 3 },
	{ "a tenant apart from itself", "tenants",
	  "\"tenants\":[{\"name\":\"t\",\"class\":\"customer\",\"options\":{\"no_leaf_sharing_"
	  "with\":[\"t\"]}}]",
	  "apart-from-itself", "/tenants/0/options/no_leaf_sharing_with", 3 },
	{ "a negative quota", "tenants",
	  "\"tenants\":[{\"name\":\"t\",\"class\":\"customer\",\"options\":{\"quota_gbps\":-1}}]",
	  "out-of-range", "/tenants/0/options/quota_gbps", 3 },
	{ "tenants that are no array", "tenants", "\"tenants\":{}", "wrong-type", "/tenants", 3 },
	{ "a node that is no object", "nodes", "\"nodes\":[7]", "wrong-type", "/nodes/0", 2 },
	{ "a node without ports", "nodes", "\"nodes\":[{\"host\":\"h\",\"ports\":[]}]",
	  "empty-node", "/nodes/0/ports", 2 },
	{ "a port without an address", "nodes", PORT("\"leaf\":\"l\""), "missing-key",
	  "/nodes/0/ports/0", 2 },
	{ "an LMC without a LID", "nodes", PORT("\"guid\":\"0x1\",\"lmc\":1"), "missing-key",
	  "/nodes/0/ports/0", 2 },
	{ "LIDs beyond the unicast ones", "nodes", PORT("\"lid\":49151,\"lmc\":1"), "out-of-range",
	  "/nodes/0/ports/0", 2 },
	{ "LID 0", "nodes", PORT("\"lid\":0"), "out-of-range", "/nodes/0/ports/0/lid", 2 },
	{ "a LID as text", "nodes", PORT("\"lid\":\"5\""), "wrong-type", "/nodes/0/ports/0/lid",
	  2 },
	{ "a LID with a fraction", "nodes", PORT("\"lid\":5.0"), "wrong-type",
	  "/nodes/0/ports/0/lid", 2 },
	{ "GUID 0", "nodes", PORT("\"guid\":\"0x0\""), "out-of-range", "/nodes/0/ports/0/guid", 2 },
	{ "a GUID without 0x", "nodes", PORT("\"guid\":\"b8cef60300100021\""), "bad-number",
	  "/nodes/0/ports/0/guid", 2 },
	{ "a GUID of 17 digits", "nodes", PORT("\"guid\":\"0xb8cef603001000211\""), "bad-number",
	  "/nodes/0/ports/0/guid", 2 },
	{ "a host twice", "nodes",
	  "\"nodes\":[{\"host\":\"h\",\"ports\":[{\"guid\":\"0x1\"}]},{\"host\":\"h\",\"ports\":[{"
	  "\"guid\":\"0x2\"}]}]",
	  "duplicate-host", "/nodes/1/host", 2 },
	{ "a GUID twice", "nodes", PORTS("\"guid\":\"0x1\"", "\"guid\":\"0x1\""), "duplicate-guid",
	  "/nodes/1/ports/0", 2 },
	{ "a LID twice, by a range", "nodes", PORTS("\"lid\":4,\"lmc\":2", "\"lid\":7"),
	  "duplicate-lid", "/nodes/1/ports/0", 2 },
	{ "a GID twice", "nodes", PORTS("\"gid\":\"fe80::1\"", "\"gid\":\"fe80:0::1\""),
	  "duplicate-gid", "/nodes/1/ports/0", 2 },
	{ "a MAC twice", "nodes",
	  PORTS("\"mac\":\"02:00:00:00:00:0a\"", "\"mac\":\"02:00:00:00:00:0A\""), "duplicate-mac",
	  "/nodes/1/ports/0", 2 },
	{ "an IP with host bits", "nodes", PORT("\"ip\":\"10.0.0.1/24\""), "bad-address",
	  "/nodes/0/ports/0/ip", 2 },
	{ "a prefix of 33 bits", "nodes", PORT("\"ip\":\"10.0.0.0/33\""), "bad-address",
	  "/nodes/0/ports/0/ip", 2 },
	{ "a MAC with dashes", "nodes", PORT("\"mac\":\"02-00-00-00-00-0a\""), "bad-address",
	  "/nodes/0/ports/0/mac", 2 },
	{ "an unknown tenant", "partitions",
	  "\"partitions\":[{\"pkey\":\"0x1\",\"tenant\":\"x\"," INTERVALS("") "}]",
	  "unknown-tenant", "/partitions/0/tenant", 4 },
	{ "P_Key 0", "partitions",
	  "\"partitions\":[{\"pkey\":\"0x0\",\"tenant\":\"t\"," INTERVALS("") "}]",
	  "pkey-out-of-range", "/partitions/0/pkey", 4 },
	{ "a P_Key as a number", "partitions",
	  "\"partitions\":[{\"pkey\":1,\"tenant\":\"t\"," INTERVALS("") "}]", "wrong-type",
	  "/partitions/0/pkey", 4 },
	{ "an odd MTU", "partitions", PARTITION("\"mtu\":1500," INTERVALS("")), "out-of-range",
	  "/partitions/0/mtu", 4 },
	{ "an SL of 16", "partitions", PARTITION("\"sl\":16," INTERVALS("")), "out-of-range",
	  "/partitions/0/sl", 4 },
	{ "a flag that is no boolean", "partitions", PARTITION("\"ipoib\":1," INTERVALS("")),
	  "wrong-type", "/partitions/0/ipoib", 4 },
	{ "no intervals", "partitions", "\"partitions\":[{\"pkey\":\"0x1\",\"tenant\":\"t\"}]",
	  "missing-key", "/partitions/0", 4 },
	{ "a time without Z", "partitions",
	  PARTITION("\"intervals\":[{\"from\":\"2026-01-01T00:00:00+00:00\",\"to\":null,"
		    "\"members\":[]}]"),
	  "bad-time", "/partitions/0/intervals/0/from", 4 },
	{ "a day that does not exist", "partitions",
	  PARTITION(
		  "\"intervals\":[{\"from\":\"2026-02-29T00:00:00Z\",\"to\":null,\"members\":[]}]"),
	  "bad-time", "/partitions/0/intervals/0/from", 4 },
	{ "an interval without an end", "partitions",
	  PARTITION("\"intervals\":[{\"from\":\"2026-01-01T00:00:00Z\",\"members\":[]}]"),
	  "missing-key", "/partitions/0/intervals/0", 4 },
	{ "an interval that ends where it begins", "partitions",
	  PARTITION("\"intervals\":[{\"from\":\"2026-01-01T00:00:00Z\",\"to\":\"2026-01-01T00:00:"
		    "00Z\",\"members\":[]}]"),
	  "interval-empty", "/partitions/0/intervals/0", 4 },
	{ "intervals out of order that overlap", "partitions",
	  PARTITION("\"intervals\":[{\"from\":\"2026-01-03T00:00:00Z\",\"to\":null,\"members\":[]},"
		    "{\"from\":\"2026-01-01T00:00:00Z\",\"to\":\"2026-01-03T00:00:00.000000001Z\","
		    "\"members\":[]}]"),
	  "interval-overlap", "/partitions/0/intervals/0", 4 },
	{ "an unknown host", "partitions",
	  PARTITION(INTERVALS("{\"host\":\"x\",\"membership\":\"full\"}")), "unknown-host", MEMBER,
	  4 },
	{ "a member by two keys", "partitions",
	  PARTITION(INTERVALS("{\"host\":\"h\",\"guid\":\"0x1\",\"membership\":\"full\"}")),
	  "bad-member", MEMBER, 4 },
	{ "a member by no key", "partitions", PARTITION(INTERVALS("{\"membership\":\"full\"}")),
	  "bad-member", MEMBER, 4 },
	{ "a member without membership", "partitions", PARTITION(INTERVALS("{\"host\":\"h\"}")),
	  "missing-key", MEMBER, 4 },
	{ "a membership that is none", "partitions",
	  PARTITION(INTERVALS("{\"host\":\"h\",\"membership\":\"FULL\"}")), "unknown-word",
	  MEMBER "/membership", 4 },
	{ "all that is not all", "partitions",
	  PARTITION(INTERVALS("{\"all\":false,\"membership\":\"full\"}")), "bad-member",
	  MEMBER "/all", 4 },
	{ "a VLAN in a partition", "partitions",
	  PARTITION(INTERVALS("{\"vlan\":5,\"membership\":\"full\"}")), "unknown-key",
	  MEMBER "/vlan", 4 },
	{ "a membership in a segment", "partitions",
	  SEGMENT("{\"vlan\":5,\"membership\":\"full\"}"), "unknown-key",
	  "/segments/0/intervals/0/members/0/membership", 4 },
	{ "VLAN 4095", "partitions", SEGMENT("{\"vlan\":4095}"), "out-of-range",
	  "/segments/0/intervals/0/members/0/vlan", 4 },
	{ "a VNI of 25 bits", "partitions", SEGMENT("{\"vni\":16777216}"), "out-of-range",
	  "/segments/0/intervals/0/members/0/vni", 4 },
	{ "an ip that is a subnet", "partitions", SEGMENT("{\"ip\":\"10.0.0.0/8\"}"), "bad-address",
	  "/segments/0/intervals/0/members/0/ip", 4 },
	{ "neither partitions nor segments", "partitions", "\"partitions\":[]", "declares-nothing",
	  NULL, 1 },
	{ "an exception id twice", "extra",
	  "\"exceptions\":[{\"id\":\"e\",\"kind\":\"management\"},{\"id\":\"e\",\"kind\":"
	  "\"management\"}]",
	  "duplicate-id", "/exceptions/1/id", 4 },
	{ "a shared service without its tenant", "extra", EXCEPTION("\"kind\":\"shared-service\""),
	  "missing-key", "/exceptions/0", 4 },
	{ "a multicast exception with a P_Key", "extra",
	  EXCEPTION("\"kind\":\"multicast\",\"mgid\":\"ff12::1\",\"tenants\":[\"t\"],\"pkey\":"
		    "\"0x1\""),
	  "key-not-allowed", "/exceptions/0", 4 },
	{ "an MGID that is no group", "extra",
	  EXCEPTION("\"kind\":\"multicast\",\"mgid\":\"fe80::1\",\"tenants\":[\"t\"]"),
	  "mgid-not-multicast", "/exceptions/0/mgid", 4 },
	{ "a class that is none", "extra",
	  EXCEPTION("\"kind\":\"management\",\"classes\":[\"xx\"]"), "unknown-word",
	  "/exceptions/0/classes/0", 4 },
	{ "a direction towards nobody", "extra",
	  EXCEPTION("\"kind\":\"management\",\"direction\":\"to\""), "missing-key", "/exceptions/0",
	  4 },
	{ "a grace of more than a day", "extra", "\"grace_ms\":86400001", "out-of-range",
	  "/grace_ms", 4 },
	{ "a negative serial", "extra", "\"serial\":-1", "out-of-range", "/serial", 4 },
	{ "a map that supersedes a later one", "extra", "\"serial\":4,\"supersedes\":4",
	  "serial-not-growing", "/supersedes", 4 },
	{ "a key twice", "extra", "\"grace_ms\":1,\"grace_ms\":1", "bad-json", NULL, 4 },
	{ "a long array twice", "extra", "\"nodes\":[]", "bad-json", NULL, 4 },
	{ "a key twice in an element", "nodes", PORT("\"guid\":\"0x1\",\"guid\":\"0x1\""),
	  "bad-json", NULL, 2 },
	{ "a key written with escapes", "extra", "\"segm\\u0065nts\":[{}]", "escaped-key",
	  "/segments", 4 },
	{ "elements without a comma", "nodes", "\"nodes\":[{} {}]", "missing-key", "/nodes/0", 2 },
	{ "a comma too many", "nodes",
	  "\"nodes\":["
	  "{\"host\":\"h\",\"ports\":[{\"guid\":\"0x1\"}]},]",
	  "bad-json", NULL, 2 },
	{ "two commas", "nodes",
	  "\"nodes\":["
	  "{\"host\":\"h\",\"ports\":[{\"guid\":\"0x1\"}]},,]",
	  "bad-json", NULL, 2 },
	{ "brackets that do not match", "nodes", "\"nodes\":[{\"host\":\"h\"]", "bad-json", NULL,
	  2 },
	{ "text behind the document", "extra", "\"grace_ms\":1} {", "bad-json", NULL, 4 },
	{ "a supported kind in capitals", "extra", "\"fabric\":{\"kind\":\"RoCE\"}", "unknown-word",
	  "/fabric/kind", 4 },
};

static void write_map(char *text, size_t room, const struct refusal *refusal)
{
	const char *parts[] = { "nodes",      NODES,      "tenants", TENANTS,
				"partitions", PARTITIONS, "extra",   "\"grace_ms\":0" };

	for (size_t i = 0; i < 8 && refusal != NULL; i += 2)
		if (strcmp(parts[i], refusal->part) == 0)
			parts[i + 1] = refusal->text;
	snprintf(text, room, "{\"schema\":\"tapmap/1\",\n%s,\n%s,\n%s,%s}\n", parts[1], parts[3],
		 parts[5], parts[7]);
}

static void every_reason_to_refuse_has_a_code_and_a_place(void **state)
{
	char text[2000], place[300];
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	(void)state;
	write_map(text, sizeof text, NULL);
	assert_int_equal(
		ft_map_load_memory(&declared, "m", NULL, (uint8_t *)text, strlen(text), &complaint),
		0);
	ft_declared_destroy(declared);
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		const struct refusal *refusal = &refusals[i];

		write_map(text, sizeof text, refusal);
		declared = NULL;
		if (ft_map_load_memory(&declared, "m", NULL, (uint8_t *)text, strlen(text),
				       &complaint) != -EINVAL)
			fail_msg("%s: not refused", refusal->sentence);
		assert_null(declared);
		snprintf(place, sizeof place, "m:%u: %s%s%s: ", refusal->line,
			 refusal->where != NULL ? refusal->where : "",
			 refusal->where != NULL && refusal->where[0] != '\0' ? ": " : "",
			 refusal->code);
		if (strncmp(complaint.text, place, strlen(place)) != 0)
			fail_msg("%s: \"%s\" is not \"%s\"", refusal->sentence, complaint.text,
				 place);
	}
}

static void parts_may_come_in_any_order(void **state)
{
	static const char text[] = "{ " EXCEPTION(
		"\"kind\":\"shared-service\",\"to_tenant\":\"s\"") ",\n" PARTITIONS ",\n" TENANTS
								   ",\n" NODES
								   ",\n\"schema\" : \"tapmap/1\" }";
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	(void)state;
	assert_int_equal(ft_map_load_memory(&declared, "m", NULL, (const uint8_t *)text,
					    strlen(text), &complaint),
			 0);
	assert_int_equal(declared->partitions[0].origin.line, 2);
	assert_string_equal(declared->partitions[0].origin.path, "/partitions/0");
	assert_int_equal(declared->partitions[0].intervals[0].members[0].origin.line, 2);
	assert_string_equal(declared->partitions[0].intervals[0].members[0].origin.path, MEMBER);
	assert_int_equal(declared->tenants[1].origin.line, 3);
	assert_int_equal(declared->ports[0].origin.line, 4);
	assert_int_equal(declared->exceptions[0].origin.line, 1);
	assert_true(declared->exceptions[0].any_from);
	ft_declared_destroy(declared);
}

static void both_directions_need_no_tenant_to_be_seen_from(void **state)
{
	static const char text[] =
		"{\"schema\":\"tapmap/1\"," NODES "," TENANTS "," PARTITIONS
		"," EXCEPTION("\"kind\":\"management\",\"direction\":\"both\"") "}";
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	(void)state;
	assert_int_equal(ft_map_load_memory(&declared, "m", NULL, (const uint8_t *)text,
					    strlen(text), &complaint),
			 0);
	assert_int_equal(declared->exceptions[0].direction, FT_DIR_BOTH);
	assert_int_equal(declared->exceptions[0].to_tenant, FT_NONE);
	ft_declared_destroy(declared);
}

static void intervals_come_out_by_time(void **state)
{
	static const char text[] = "{\"schema\":\"tapmap/1\"," TENANTS "," PARTITION(
		"\"intervals\":["
		"{\"from\":\"2026-01-03T00:00:00.5Z\",\"to\":null,\"members\":[]},"
		"{\"from\":\"2026-01-01T00:00:00Z\",\"to\":\"2026-01-02T00:00:00Z\",\"members\":[]}"
		"]") "}";
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	(void)state;
	assert_int_equal(ft_map_load_memory(&declared, "m", NULL, (const uint8_t *)text,
					    strlen(text), &complaint),
			 0);
	assert_true(declared->partitions[0].intervals[0].from_ns == INT64_C(1767225600000000000));
	assert_true(declared->partitions[0].intervals[0].to_ns == INT64_C(1767312000000000000));
	assert_true(declared->partitions[0].intervals[1].from_ns == INT64_C(1767398400500000000));
	assert_true(declared->partitions[0].intervals[1].to_ns == FT_TIME_MAX);
	ft_declared_destroy(declared);
}

static void moments_are_utc_with_z_and_nothing_else(void **state)
{
	static const struct {
		const char *text;
		bool good;
		int64_t ns;
		const char *back;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", true, 0, "1970-01-01T00:00:00Z" },
		{ "2026-11-20T10:00:00Z", true, INT64_C(1795168800000000000),
		  "2026-11-20T10:00:00Z" },
		{ "2024-02-29T23:59:59.000000001Z", true, INT64_C(1709251199000000001),
		  "2024-02-29T23:59:59.000000001Z" },
		{ "2026-11-20T10:00:00.25Z", true, INT64_C(1795168800250000000),
		  "2026-11-20T10:00:00.250000000Z" },
		{ "2100-02-29T00:00:00Z", false, 0, NULL },
		{ "2026-11-20T10:00:00z", false, 0, NULL },
		{ "2026-11-20t10:00:00Z", false, 0, NULL },
		{ "2026-11-20 10:00:00Z", false, 0, NULL },
		{ "2026-11-20T10:00:00", false, 0, NULL },
		{ "2026-11-20T10:00:00+01:00", false, 0, NULL },
		{ "2026-11-20T10:00:00.Z", false, 0, NULL },
		{ "2026-11-20T10:00:00.0000000001Z", false, 0, NULL },
		{ "2026-11-20T24:00:00Z", false, 0, NULL },
		{ "2026-11-20T10:60:00Z", false, 0, NULL },
		{ "2026-11-20T10:00:60Z", false, 0, NULL },
		{ "2026-13-20T10:00:00Z", false, 0, NULL },
		{ "2026-00-20T10:00:00Z", false, 0, NULL },
		{ "1969-12-31T23:59:59Z", false, 0, NULL },
		{ "2262-01-01T00:00:00Z", false, 0, NULL },
		{ "2026-11-20T10:00:00Z ", false, 0, NULL },
		{ "", false, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[FT_MOMENT_ROOM];
		int64_t ns = -7;

		assert_int_equal(ft_moment_read(rows[i].text, &ns), rows[i].good);
		assert_true(ns == (rows[i].good ? rows[i].ns : -7));
		if (rows[i].good)
			assert_string_equal(ft_moment_write(text, ns), rows[i].back);
	}
}

static void what_is_no_map_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *reason;
	} rows[] = { { "{", 1, "bad-json" },
		     { "[]", 2, "wrong-type" },
		     { "{}", 2, "missing-key" },
		     { "\x7f"
		       "ELF\0\0",
		       6, "NUL bytes" } };
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(ft_map_load_memory(&declared, "m", NULL,
						    (const uint8_t *)rows[i].bytes, rows[i].size,
						    &complaint),
				 -EINVAL);
		assert_non_null(strstr(complaint.text, rows[i].reason));
	}
	assert_int_equal(
		ft_map_load_memory(&declared, "m", "yaml", (const uint8_t *)"{}", 2, &complaint),
		-EINVAL);
	assert_non_null(strstr(complaint.text, "no such map format"));
	assert_int_equal(ft_map_load(&declared, &(struct ft_map_files){ .map = "/nonexistent" },
				     NULL, &complaint),
			 -ENOENT);
	assert_string_equal(complaint.text, "/nonexistent: No such file or directory");
	assert_int_equal(
		ft_map_load(&declared, &(struct ft_map_files){ .map = "/" }, NULL, &complaint),
		-EISDIR);
}

static void files_are_known_by_their_sha256(void **state)
{
	const char *topology = FABRIC;
	struct ft_declared *declared = load_sample(TAPMAP "v01_three_tenants.json", topology);

	(void)state;
	assert_int_equal(declared->file_count, 2);
	assert_int_equal(strlen(declared->files[0].sha256), 64);
	assert_string_equal(declared->files[1].path, FABRIC);
	/* nine declared, three switches from the topology */
	assert_int_equal(declared->port_count, 12);
	assert_int_equal(declared->verdict, FT_MAP_OK);
	ft_declared_destroy(declared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bad_sample_is_refused_where_it_is_wrong),
		cmocka_unit_test(a_signed_map_names_its_signer),
		cmocka_unit_test(a_map_that_its_key_did_not_sign_is_refused),
		cmocka_unit_test(every_reason_to_refuse_has_a_code_and_a_place),
		cmocka_unit_test(parts_may_come_in_any_order),
		cmocka_unit_test(both_directions_need_no_tenant_to_be_seen_from),
		cmocka_unit_test(intervals_come_out_by_time),
		cmocka_unit_test(moments_are_utc_with_z_and_nothing_else),
		cmocka_unit_test(what_is_no_map_is_refused),
		cmocka_unit_test(files_are_known_by_their_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
