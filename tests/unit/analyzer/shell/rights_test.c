#include "cmocka_headers.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rights.h"

/*
 * Whether a process that holds a packet socket can still send through it once it gave up its rights: each way is
 * tried without that first, which shows that it is one, and then with it, on a pair of interfaces in a network
 * namespace of the test's own. What counts is what arrives at the far end.
 */

enum { LENGTH = 64, RING_HEADER = 32, RING_FRAME = 2048, RING_SIZE = 4096 };

static bool have_interfaces;

static const uint8_t frame[LENGTH] = { 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7, 0x89, 0x15 };

/* What a process has at hand when it gives up its rights. */
struct hands {
	int socket;    /* bound to the near end */
	int pipes[2];  /* a frame is in it */
	int file;      /* that holds a frame */
	uint8_t *ring; /* frames to send, if the socket has such a ring */
	pthread_t thread;
	sem_t go;
	long written;
};

static struct sockaddr_ll near_end(void)
{
	return (struct sockaddr_ll){
		.sll_family = AF_PACKET,
		.sll_ifindex = (int)if_nametoindex("fabtap_tap"),
		.sll_halen = ETH_ALEN,
	};
}

static struct iovec piece(void)
{
	return (struct iovec){ (void *)(uintptr_t)frame, sizeof frame };
}

/* --- ways --- */

static long by_send(struct hands *hands)
{
	return send(hands->socket, frame, sizeof frame, 0);
}

static long by_sendto(struct hands *hands)
{
	struct sockaddr_ll to = near_end();

	return sendto(hands->socket, frame, sizeof frame, 0, (struct sockaddr *)&to, sizeof to);
}

static long by_sendmsg(struct hands *hands)
{
	struct iovec part = piece();
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	return sendmsg(hands->socket, &message, 0);
}

static long by_sendmmsg(struct hands *hands)
{
	struct iovec part = piece();
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };

	return sendmmsg(hands->socket, &message, 1, 0);
}

static long by_write(struct hands *hands)
{
	return write(hands->socket, frame, sizeof frame);
}

static long by_writev(struct hands *hands)
{
	struct iovec part = piece();

	return writev(hands->socket, &part, 1);
}

/* The kernel looks at the lower half of the register alone. */
static long by_write_to_a_wide_number(struct hands *hands)
{
	return syscall(SYS_write, 0x100000000L | hands->socket, frame, sizeof frame);
}

static long by_writev_to_a_wide_number(struct hands *hands)
{
	struct iovec part = piece();

	return syscall(SYS_writev, -4294967296L | hands->socket, &part, 1);
}

static long by_pwritev2(struct hands *hands)
{
	struct iovec part = piece();

	return pwritev2(hands->socket, &part, 1, -1, 0);
}

static long by_splice(struct hands *hands)
{
	return splice(hands->pipes[0], NULL, hands->socket, NULL, sizeof frame, 0);
}

static long by_sendfile(struct hands *hands)
{
	off_t start = 0;

	return sendfile(hands->socket, hands->file, &start, sizeof frame);
}

static long by_dup(struct hands *hands)
{
	return write(dup(hands->socket), frame, sizeof frame);
}

static long by_dup3(struct hands *hands)
{
	return write(dup3(hands->socket, 900, 0), frame, sizeof frame);
}

static long by_fcntl(struct hands *hands)
{
	return write(fcntl(hands->socket, F_DUPFD, 500), frame, sizeof frame);
}

static long by_a_wide_fcntl(struct hands *hands)
{
	return write((int)syscall(SYS_fcntl, (long)hands->socket, 0x100000000L | F_DUPFD, 500L),
		     frame, sizeof frame);
}

static long by_pidfd(struct hands *hands)
{
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);

	return write((int)syscall(SYS_pidfd_getfd, self, hands->socket, 0), frame, sizeof frame);
}

static long by_new_socket(struct hands *hands)
{
	struct sockaddr_ll to = near_end();
	int made = socket(AF_PACKET, SOCK_RAW, 0);

	(void)hands;
	return sendto(made, frame, sizeof frame, 0, (struct sockaddr *)&to, sizeof to);
}

static long by_child(struct hands *hands)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	int status = -1;

	if (child == 0)
		_exit(write(hands->socket, frame, sizeof frame) > 0 ? 0 : 1);
	waitpid(child, &status, 0);
	return status == 0 ? 1 : -1;
}

static long by_program(struct hands *hands)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	int status = -1;

	if (child == 0) {
		char command[64];

		snprintf(command, sizeof command, "printf %%064d 0 >&%d", hands->socket);
		execl("/bin/bash", "bash", "-c", command, (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	return status == 0 ? 1 : -1;
}

/* A thread that was there before. */
static void *write_when_told(void *arguments)
{
	struct hands *hands = arguments;

	while (sem_wait(&hands->go) != 0)
		;
	hands->written = write(hands->socket, frame, sizeof frame);
	return NULL;
}

static long by_thread(struct hands *hands)
{
	sem_post(&hands->go);
	pthread_join(hands->thread, NULL);
	return hands->written;
}

/* A ring of frames to send that was made before. */
static long by_ring(struct hands *hands)
{
	struct tpacket_hdr *header = (struct tpacket_hdr *)(void *)hands->ring;

	header->tp_len = sizeof frame;
	memcpy(hands->ring + RING_HEADER, frame, sizeof frame);
	header->tp_status = TP_STATUS_SEND_REQUEST;
	return send(hands->socket, NULL, 0, 0);
}

static_assert(RING_HEADER >= sizeof(struct tpacket_hdr), "a frame to send follows its header");

static int make_ring(int packets)
{
	struct tpacket_req request = { RING_SIZE, 1, RING_FRAME, RING_SIZE / RING_FRAME };

	return setsockopt(packets, SOL_PACKET, PACKET_TX_RING, &request, sizeof request);
}

static long by_new_ring(struct hands *hands)
{
	if (make_ring(hands->socket) != 0)
		return -1;
	hands->ring = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, hands->socket, 0);
	return hands->ring == MAP_FAILED ? -1 : by_ring(hands);
}

static const struct way {
	const char *name;
	long (*send)(struct hands *hands);
	bool has_ring;
} ways[] = {
	{ "send", by_send, false },
	{ "sendto", by_sendto, false },
	{ "sendmsg", by_sendmsg, false },
	{ "sendmmsg", by_sendmmsg, false },
	{ "write", by_write, false },
	{ "writev", by_writev, false },
	{ "write to a number wider than an int", by_write_to_a_wide_number, false },
	{ "writev to a number wider than an int", by_writev_to_a_wide_number, false },
	{ "pwritev2", by_pwritev2, false },
	{ "splice", by_splice, false },
	{ "sendfile", by_sendfile, false },
	{ "a copy by dup", by_dup, false },
	{ "a copy by dup3", by_dup3, false },
	{ "a copy by fcntl", by_fcntl, false },
	{ "a copy by a command wider than an int", by_a_wide_fcntl, false },
	{ "a copy by a process descriptor", by_pidfd, false },
	{ "a new socket", by_new_socket, false },
	{ "a child", by_child, false },
	{ "another program", by_program, false },
	{ "a thread that was there before", by_thread, false },
	{ "a ring that was there before", by_ring, true },
	{ "a new ring", by_new_ring, false },
};

/* --- trying --- */

static bool prepare(struct hands *hands, bool ring)
{
	struct sockaddr_ll to = near_end();
	int on = 1;

	*hands = (struct hands){ .socket = socket(AF_PACKET, SOCK_RAW, 0),
				 .file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) };
	if (hands->socket < 0 || hands->file < 0 || pipe2(hands->pipes, O_CLOEXEC) != 0 ||
	    bind(hands->socket, (struct sockaddr *)&to, sizeof to) != 0 ||
	    setsockopt(hands->socket, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on) != 0 ||
	    write(hands->pipes[1], frame, sizeof frame) != LENGTH ||
	    write(hands->file, frame, sizeof frame) != LENGTH || sem_init(&hands->go, 0, 0) != 0 ||
	    pthread_create(&hands->thread, NULL, write_when_told, hands) != 0)
		return false;
	if (!ring)
		return true;
	if (make_ring(hands->socket) != 0)
		return false;
	hands->ring = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, hands->socket, 0);
	return hands->ring != MAP_FAILED;
}

enum outcome { SENT, REFUSED, NOT_PREPARED, NOT_DROPPED };

static enum outcome try_in_child(const struct way *way, bool with_rights)
{
	pid_t child = fork();
	const char *what;
	struct hands hands;
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		if (!prepare(&hands, way->has_ring))
			_exit(NOT_PREPARED);
		if (!with_rights && ft_rights_drop(&what) != 0)
			_exit(NOT_DROPPED);
		_exit(way->send(&hands) >= 0 ? SENT : REFUSED);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return (enum outcome)WEXITSTATUS(status);
}

/* Frames that arrived at the far end so far. */
static unsigned long long arrived(void)
{
	unsigned long long bytes, count = 0;
	char line[512];
	FILE *file = fopen("/proc/net/dev", "re");

	assert_non_null(file);
	while (fgets(line, sizeof line, file) != NULL) {
		const char *at = strstr(line, "fabtap_far:");

		if (at != NULL)
			assert_int_equal(sscanf(at, "fabtap_far: %llu %llu", &bytes, &count), 2);
	}
	fclose(file);
	return count;
}

static void no_way_to_send_is_left(void **state)
{
	(void)state;
	if (!have_interfaces) {
		print_message("SKIP: no network namespace of our own (needs root and ip)\n");
		skip();
	}
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		unsigned long long before = arrived(), with_rights;
		enum outcome outcome = try_in_child(&ways[i], true);

		with_rights = arrived() - before;
		if (outcome != SENT || with_rights == 0)
			print_message("%s: is no way to send here (outcome %d)\n", ways[i].name,
				      outcome);
		assert_true(outcome == SENT && with_rights > 0);
		before = arrived();
		outcome = try_in_child(&ways[i], false);
		if (outcome != REFUSED || arrived() != before)
			print_message("%s: outcome %d, %llu frames left\n", ways[i].name, outcome,
				      arrived() - before);
		assert_int_equal(outcome, REFUSED);
		assert_int_equal(arrived() - before, 0);
	}
}

/* --- what stays, and what else goes --- */

static bool is_refused(long result)
{
	return result == -1 && errno == EPERM;
}

static int run_without_rights(int (*ask)(void))
{
	pid_t child = fork();
	const char *what;
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(ft_rights_drop(&what) == 0 ? ask() : 99);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int refuses_the_rest(void)
{
	struct {
		uint32_t words[40];
	} ring = { 0 };

	if (!is_refused(syscall(SYS_io_uring_setup, 4, &ring)))
		return 1;
	if (!is_refused(socket(AF_INET, SOCK_DGRAM, 0)) ||
	    !is_refused(socket(AF_UNIX, SOCK_STREAM, 0)) ||
	    !is_refused(syscall(SYS_socket, 44 /* AF_XDP */, SOCK_RAW, 0)))
		return 2;
	if (!is_refused(syscall(SYS_bpf, 0, NULL, 0)))
		return 3;
	if (!is_refused(syscall(SYS_ptrace, 0, 0, 0, 0)))
		return 4;
	if (!is_refused(syscall(SYS_setns, -1, 0)) || !is_refused(syscall(SYS_unshare, 0)))
		return 5;
	if (!is_refused(syscall(SYS_vmsplice, 1, NULL, 0, 0)) ||
	    !is_refused(syscall(SYS_tee, 0, 1, 0, 0)) ||
	    !is_refused(syscall(SYS_copy_file_range, 0, NULL, 1, NULL, 0, 0)))
		return 6;
	return 0;
}

static int keeps_files(void)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char bytes[4];

	if (file < 0 || write(file, "kept", 4) != 4 || pread(file, bytes, 4, 0) != 4 ||
	    memcmp(bytes, "kept", 4) != 0 || fdatasync(file) != 0)
		return 1;
	return close(file) == 0 ? 0 : 2;
}

static void other_doors_are_closed(void **state)
{
	(void)state;
	assert_int_equal(run_without_rights(refuses_the_rest), 0);
}

static void files_can_still_be_written(void **state)
{
	(void)state;
	assert_int_equal(run_without_rights(keeps_files), 0);
}

static bool run(const char *command)
{
	return system(command) == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_way_to_send_is_left),
		cmocka_unit_test(other_doors_are_closed),
		cmocka_unit_test(files_can_still_be_written),
	};

	have_interfaces = unshare(CLONE_NEWNET) == 0 &&
			  run("{ echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; "
			      "ip link add fabtap_far type veth peer name fabtap_tap && "
			      "ip link set fabtap_far arp off multicast off up && "
			      "ip link set fabtap_tap arp off multicast off up; } 2>/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
