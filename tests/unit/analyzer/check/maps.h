#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <partition/check.h>

/*
 * Words for declared maps and frames written out by hand, so that a test's map can be read in one
 * piece. Every list macro gives the array and its count, which follow each other in the structs.
 */
#define LIST(type, ...)                                                                            \
	(const type[]){ __VA_ARGS__ }, sizeof((const type[]){ __VA_ARGS__ }) / sizeof(type)
#define TENANTS(...)    .tenants = LIST(struct ft_tenant, __VA_ARGS__)
#define PORTS(...)      .ports = LIST(struct ft_port, __VA_ARGS__)
#define PARTITIONS(...) .partitions = LIST(struct ft_partition, __VA_ARGS__)
#define SEGMENTS(...)   .segments = LIST(struct ft_segment, __VA_ARGS__)
#define EXCEPTIONS(...) .exceptions = LIST(struct ft_exception, __VA_ARGS__)
#define INTERVALS(...)  .intervals = LIST(struct ft_interval, __VA_ARGS__)
#define MEMBERS(...)    .members = LIST(struct ft_member, __VA_ARGS__)
#define OF(...)         .from_tenants = LIST(uint32_t, __VA_ARGS__)
#define APART(...)      .apart = LIST(uint32_t, __VA_ARGS__)

#define ALWAYS(...)                                                                                \
	INTERVALS({ .from_ns = FT_TIME_MIN, .to_ns = FT_TIME_MAX, MEMBERS(__VA_ARGS__) })
#define DURING(from, to, ...)                                                                      \
	{                                                                                          \
		.from_ns = SECONDS(from), .to_ns = SECONDS(to), MEMBERS(__VA_ARGS__)               \
	}
#define UNTIL(to, ...)                                                                             \
	{                                                                                          \
		.from_ns = FT_TIME_MIN, .to_ns = SECONDS(to), MEMBERS(__VA_ARGS__)                 \
	}
#define SECONDS(s) ((int64_t)(s)*1000000000)

#define AT_LINE(n) .origin = { .line = (n) }
#define FULL(name)                                                                                 \
	{                                                                                          \
		.kind = FT_MEMBER_HOST, .host = name, .membership = FT_FULL                        \
	}
#define LIMITED(name)                                                                              \
	{                                                                                          \
		.kind = FT_MEMBER_HOST, .host = name, .membership = FT_LIMITED                     \
	}
#define LIMITED_AT(name, n)                                                                        \
	{                                                                                          \
		.kind = FT_MEMBER_HOST, .host = name, .membership = FT_LIMITED, AT_LINE(n)         \
	}
#define HOST(name) FULL(name)
#define EVERYONE(how)                                                                              \
	{                                                                                          \
		.kind = FT_MEMBER_ALL, .membership = how                                           \
	}
#define VLAN(n)                                                                                    \
	{                                                                                          \
		.kind = FT_MEMBER_VLAN, .number = n                                                \
	}
#define VNI(n)                                                                                     \
	{                                                                                          \
		.kind = FT_MEMBER_VNI, .number = n                                                 \
	}
#define IPV4(a, b, c, d)                                                                           \
	{                                                                                          \
		[10] = 0xff, 0xff, a, b, c, d                                                      \
	}
#define NET(a, b, c, d, length)                                                                    \
	{                                                                                          \
		.kind = FT_MEMBER_PREFIX, .membership = FT_FULL, .prefix = {                       \
			IPV4(a, b, c, d),                                                          \
			96 + (length)                                                              \
		}                                                                                  \
	}

/* A native port with LID and GUID; the GUID's low half in a local GID is 0x0200 << 48 | lid. */
#define GUID(lid) (UINT64_C(0x0200000000000000) | (lid))
#define LOCAL_GID(lid)                                                                             \
	{                                                                                          \
		0xfe, 0x80, [8] = 0x02, [15] = lid                                                 \
	}
#define IB_PORT(name, number)                                                                      \
	{                                                                                          \
		.host = name, .has_guid = true, .guid = GUID(number), .has_lid = true,             \
		.lid = number                                                                      \
	}
#define ROCE_PORT(name, a, b, c, d)                                                                \
	{                                                                                          \
		.host = name, .has_ip = true, .ip = { IPV4(a, b, c, d), 128 }, .has_mac = true,    \
		.mac = { 2,                                                                        \
			 0,                                                                        \
			 a,                                                                        \
			 b,                                                                        \
			 c,                                                                        \
			 d }                                                                       \
	}

#define ALL_KNOWN 0x3f
#define IB(from, to, key)                                                                          \
	.native = 1, .slid = from, .dlid = to, .pkey = key, .qp_kind = 2, .known = ALL_KNOWN
#define ROCE(from, to)                                                                             \
	.has_gids = 1, .src = from, .dst = to, .pkey = 0xffff, .qp_kind = 2, .known = ALL_KNOWN

/* A compiled map; asserts on failure. */
struct ft_map *compiled(const struct ft_declared *declared);

/* The names of an endpoint's owners, a space between them, in the order of ft_map_owners(). */
void assert_owners(const struct ft_map *map, uint32_t endpoint, int64_t ts_ns,
		   const char *expected);

#define R(rule) (1u << FT_RULE_##rule)

/* What a verdict on one frame must be. Tenants: index + 1, 0 for `unknown`; exception likewise, 0 for none. */
struct verdict_case {
	const char *says;
	struct ft_check_key key;
	int64_t ts_ns;
	uint32_t rules; /* as ft_verdict_rules() gives them */
	bool undecided;
	uint32_t from, to, exception;
	bool critical; /* crossing between customers */
	uint32_t line; /* of the deciding map line; 0: not looked at */
};
void assert_verdicts(const struct ft_declared *declared, const struct verdict_case *cases,
		     size_t count);
#define ASSERT_VERDICTS(declared, cases)                                                           \
	assert_verdicts(declared, cases, sizeof(cases) / sizeof *(cases))
