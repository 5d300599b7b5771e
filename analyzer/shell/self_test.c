#include "self_test.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rights.h"

/* To nobody, of a protocol for experiments (IEEE 802). */
static const unsigned char frame[60] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5 };

static bool bring_up_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int asked = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool up = asked >= 0 && ioctl(asked, SIOCSIFFLAGS, &request) == 0;

	if (asked >= 0)
		close(asked);
	return up;
}

/* A socket that could send to the loopback interface; -1: there is none. */
static int open_loopback(void)
{
	struct sockaddr_ll place = { .sll_family = AF_PACKET };
	int bypass = 1, opened = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	place.sll_ifindex = (int)if_nametoindex("lo");
	if (opened >= 0 && place.sll_ifindex != 0 &&
	    bind(opened, (struct sockaddr *)&place, sizeof place) == 0 &&
	    setsockopt(opened, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof bypass) == 0)
		return opened;
	if (opened >= 0)
		close(opened);
	return -1;
}

/* What the kernel counted there; FT_TX_UNREADABLE: not known. */
static uint64_t count_sent(void)
{
	static const struct ft_machine here = { "" };
	struct ft_transmitted sent;

	ft_transmitted_read(&here, "lo", NULL, &sent);
	return sent.counters[0].value;
}

static bool tries(int opened)
{
	struct iovec part = { (void *)(uintptr_t)frame, sizeof frame };
	bool written = write(opened, frame, sizeof frame) == (ssize_t)sizeof frame;
	bool gathered = writev(opened, &part, 1) == (ssize_t)sizeof frame;

	return written || gathered;
}

/* First with rights: what does not send then shows nothing without. */
static enum ft_self_test try_to_send(void)
{
	uint64_t start, control;
	const char *what;
	bool sent;
	int opened;

	if (unshare(CLONE_NEWNET) != 0 || !bring_up_loopback() || (opened = open_loopback()) < 0)
		return FT_SELF_TEST_NOT_TRIED;
	start = count_sent();
	sent = tries(opened);
	control = count_sent();
	if (!sent || start == FT_TX_UNREADABLE || control != start + 2)
		return FT_SELF_TEST_NOT_TRIED;
	if (ft_rights_drop(&what) != 0)
		return FT_SELF_TEST_SENT;
	sent = tries(opened);
	return sent || count_sent() != control ? FT_SELF_TEST_SENT : FT_SELF_TEST_BLOCKED;
}

enum ft_self_test ft_self_test_run(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit((int)try_to_send());
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return FT_SELF_TEST_NOT_TRIED;
	return child > 0 && WIFEXITED(status) ? (enum ft_self_test)WEXITSTATUS(status)
					      : FT_SELF_TEST_NOT_TRIED;
}
