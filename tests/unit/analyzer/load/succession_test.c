#include <partition/succession.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <partition/check.h>
#include <partition/load.h>
#include <partition/map.h>

/* A fabric of two racks; `tenants`, `partitions` and `exceptions` are what the maps differ in. */
#define MAP(serial, tenants, partitions, exceptions)                                               \
	"{\"schema\":\"tapmap/1\",\"map_id\":\"m\",\"serial\":" serial                             \
	",\"issued_at\":\"2026-11-01T00:00:00Z\",\"issuer\":\"i\","                                \
	"\"fabric\":{\"kind\":\"infiniband\"},\"tenants\":[" tenants "],"                          \
	"\"nodes\":[" NODE("r1", "1") "," NODE("b1", "2") "," NODE(                                \
		"s1", "3") "],"                                                                    \
			   "\"partitions\":[" partitions "],\"exceptions\":[" exceptions "]}"
#define NODE(name, lid)     "{\"host\":\"" name "\",\"ports\":[{\"lid\":" lid "}]}"
#define TENANT(name, class) "{\"name\":\"" name "\",\"class\":\"" class "\"}"
#define PARTITION(pkey, tenant, host)                                                              \
	"{\"pkey\":\"" pkey "\",\"tenant\":\"" tenant                                              \
	"\",\"intervals\":[{\"from\":\"1970-01-01T00:00:00Z\",\"to\":null,\"members\":"            \
	"[{\"host\":\"" host "\",\"membership\":\"full\"}]}]}"
#define TO_STORE(id, tenant)                                                                       \
	"{\"id\":\"" id "\",\"kind\":\"shared-service\",\"from_tenants\":[\"" tenant               \
	"\"],\"to_tenant\":"                                                                       \
	"\"store\"}"

static const char before_text[] =
	MAP("1", TENANT("red", "customer") "," TENANT("store", "shared"),
	    PARTITION("0x0001", "red", "r1") "," PARTITION("0x0003", "store", "s1"),
	    TO_STORE("red-to-store", "red"));
static const char next_text[] = MAP(
	"2",
	TENANT("blue", "customer") "," TENANT("store", "shared") "," TENANT("green", "customer"),
	PARTITION("0x0002", "blue", "b1") "," PARTITION("0x0003", "store", "s1"),
	TO_STORE("blue-to-store", "blue"));
static const char last_text[] =
	MAP("3", TENANT("store", "shared") "," TENANT("red", "customer"),
	    PARTITION("0x0001", "red", "r1") "," PARTITION("0x0003", "store", "s1"),
	    TO_STORE("red-to-store", "red"));

static struct ft_declared *load(const char *text)
{
	struct ft_map_complaint complaint = { "" };
	struct ft_declared *declared = NULL;

	if (ft_map_load_memory(&declared, "map.json", "tapmap", (const uint8_t *)text, strlen(text),
			       &complaint) != 0)
		fail_msg("%s", complaint.text);
	return declared;
}

static void assert_tenant(const struct ft_declared *map, size_t index, const char *name,
			  bool retired)
{
	assert_true(index < map->tenant_count);
	assert_string_equal(map->tenants[index].name, name);
	assert_int_equal(map->tenants[index].retired, retired);
}

static void tenants_keep_their_indices(void **state)
{
	struct ft_declared *before = load(before_text), *next = load(next_text),
			   *last = load(last_text);
	struct ft_succession succession;

	(void)state;
	assert_int_equal(ft_declared_succeed(next, before, &succession), 0);
	ft_declared_destroy(before);
	assert_int_equal(next->tenant_count, 4);
	assert_int_equal(next->retired_count, 1);
	assert_tenant(next, 0, "red", true);
	assert_tenant(next, 1, "store", false);
	assert_tenant(next, 2, "blue", false);
	assert_tenant(next, 3, "green", false);
	assert_int_equal(ft_declared_succeed(last, next, &succession), 0);
	ft_declared_destroy(next);
	assert_int_equal(last->tenant_count, 4);
	assert_int_equal(last->retired_count, 2);
	assert_tenant(last, 0, "red", false);
	assert_tenant(last, 1, "store", false);
	assert_tenant(last, 2, "blue", true);
	assert_tenant(last, 3, "green", true);
	ft_declared_destroy(last);
}

static void what_names_a_tenant_names_the_same_one(void **state)
{
	struct ft_declared *before = load(before_text), *next = load(next_text);
	struct ft_succession succession;

	(void)state;
	assert_int_equal(ft_declared_succeed(next, before, &succession), 0);
	assert_int_equal(next->partitions[0].tenant, 2);
	assert_int_equal(next->partitions[1].tenant, 1);
	assert_int_equal(next->exceptions[0].from_tenants[0], 2);
	assert_int_equal(next->exceptions[0].to_tenant, 1);
	ft_declared_destroy(before);
	ft_declared_destroy(next);
}

static void exceptions_of_before_can_still_be_named(void **state)
{
	struct ft_declared *before = load(before_text), *next = load(next_text),
			   *last = load(last_text);
	struct ft_succession first, second;

	(void)state;
	assert_int_equal(ft_declared_succeed(next, before, &first), 0);
	assert_int_equal(first.exception_count, 1);
	assert_int_equal(first.exceptions[0], 1);
	assert_int_equal(next->exception_count, 1);
	assert_string_equal(next->exceptions[0].id, "blue-to-store");
	assert_string_equal(next->exceptions[1].id, "red-to-store");
	assert_int_equal(ft_declared_succeed(last, next, &second), 0);
	assert_int_equal(second.exception_count, 2);
	assert_string_equal(last->exceptions[second.exceptions[0]].id, "blue-to-store");
	assert_string_equal(last->exceptions[second.exceptions[1]].id, "red-to-store");
	assert_int_equal(second.exceptions[1], 0);
	assert_int_equal(last->retired_exceptions, 1);
	ft_declared_destroy(before);
	ft_declared_destroy(next);
	ft_declared_destroy(last);
}

/* The compiled map judges as if nothing had been before it, but for the numbers of the tenants. */
static void the_new_map_alone_judges(void **state)
{
	struct ft_declared *before = load(before_text), *next = load(next_text);
	struct ft_succession succession;
	struct ft_map *map;
	uint32_t owners[4];

	(void)state;
	assert_int_equal(ft_declared_succeed(next, before, &succession), 0);
	ft_declared_destroy(before);
	assert_int_equal(ft_map_compile(&map, next), 0);
	assert_int_equal(ft_map_owners(map, ft_map_find_lid(map, 1), 0, owners, 4), 0);
	assert_int_equal(ft_map_owners(map, ft_map_find_lid(map, 2), 0, owners, 4), 1);
	assert_int_equal(owners[0], 2);
	ft_map_destroy(map);
	ft_declared_destroy(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tenants_keep_their_indices),
		cmocka_unit_test(what_names_a_tenant_names_the_same_one),
		cmocka_unit_test(exceptions_of_before_can_still_be_named),
		cmocka_unit_test(the_new_map_alone_judges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
