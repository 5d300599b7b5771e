#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <live_pcap.h>

#include <cmocka.h>

/* /proc/net/dev as Linux prints it. */
static const char table[] =
	"Inter-|   Receive                                                |  Transmit\n"
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
	"drop "
	"fifo colls carrier compressed\n"
	"    lo:   12     3    0    0    0     0          0         0       12       3    0    0   "
	" 0 "
	"    0       0          0\n"
	"  tap0: 9300   213    4    5    6     7          8         9       10      11   12   13   "
	"14 "
	"   15      16         17\n"
	"tap0.100:    1    2   31   32   33     0          0         0        0       0    0    0  "
	"  0 "
	"    0       0          0\n"
	"ptap0:18446744073709551615     1 18446744073709551614    41    42     0          0        "
	" 0 "
	"       0       0    0    0    0     0       0          0\n";

static const struct {
	const char *sentence, *interface;
	bool found;
	struct ft_interface_counts counts; /* dropped, overrun, errors */
} cases[] = {
	{ "the columns after bytes and packets", "tap0", true, { 5, 6, 4 } },
	{ "a name that begins like another", "tap0.100", true, { 32, 33, 31 } },
	{ "one that ends like another, and no blank after it",
	  "ptap0",
	  true,
	  { 41, 42, UINT64_MAX - 1 } },
	{ "none by that name", "tap", false, { 1, 2, 3 } },
	{ "nor by a word of the heading", "face", false, { 1, 2, 3 } },
	{ "nor by no name", "", false, { 1, 2, 3 } },
};

static void counts_are_read_by_interface(void **state)
{
	char path[] = "/tmp/fabtap-counts-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, table, strlen(table)), strlen(table));
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_interface_counts counts = { 1, 2, 3 };

		print_message("%s\n", cases[i].sentence);
		assert_int_equal(ft_interface_counts_read(fd, cases[i].interface, &counts),
				 cases[i].found);
		assert_int_equal(counts.dropped, cases[i].counts.dropped);
		assert_int_equal(counts.overrun, cases[i].counts.overrun);
		assert_int_equal(counts.errors, cases[i].counts.errors);
	}
	close(fd);
}

static void the_system_s_own_table_has_the_loopback(void **state)
{
	struct ft_interface_counts counts;
	int fd = ft_interface_counts_open();

	(void)state;
	if (fd < 0) {
		print_message("SKIP: there is no /proc/net/dev here\n");
		skip();
	}
	assert_true(ft_interface_counts_read(fd, "lo", &counts));
	assert_true(ft_interface_counts_read(fd, "lo", &counts));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_read_by_interface),
		cmocka_unit_test(the_system_s_own_table_has_the_loopback),
	};

	return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
