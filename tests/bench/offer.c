#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/*
 * Sends the frames of a pcap file, again and again and evenly spread, through an interface: what capture programs
 * listen to at its other end. Says how many it sent, and in how many seconds.
 */

enum { FILE_HEADER = 24, RECORD_HEADER = 16, BURST = 32, FRAMES_MAX = 1 << 16, PAUSE_US = 20 };

struct file {
	struct iovec frames[FRAMES_MAX];
	unsigned count;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* At most FRAMES_MAX frames, in memory until the end. */
static bool read_file(struct file *file, const char *path)
{
	uint8_t header[FILE_HEADER];
	FILE *from = fopen(path, "rb");
	bool whole = from != NULL && fread(header, 1, sizeof header, from) == sizeof header;

	while (whole && file->count < FRAMES_MAX &&
	       fread(header, 1, RECORD_HEADER, from) == RECORD_HEADER) {
		struct iovec *frame = &file->frames[file->count++];
		uint32_t captured;

		memcpy(&captured, header + 8, sizeof captured);
		frame->iov_len = captured;
		frame->iov_base = malloc(captured);
		whole = frame->iov_base != NULL &&
			fread(frame->iov_base, 1, captured, from) == captured;
	}
	if (from != NULL)
		fclose(from);
	return whole && file->count != 0;
}

/* Past the queueing discipline, or -1. */
static int open_interface(const char *name)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_ifindex = (int)if_nametoindex(name) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd >= 0 && address.sll_ifindex != 0 &&
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &(int){ 1 }, sizeof(int)) == 0 &&
	    bind(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* How many of the next frames went out; a full queue takes none. */
static int send_burst(int fd, const struct file *file, uint64_t from, unsigned count)
{
	struct mmsghdr messages[BURST] = { 0 };
	int sent;

	for (unsigned i = 0; i < count; i++) {
		messages[i].msg_hdr.msg_iov =
			(struct iovec *)(uintptr_t)&file->frames[(from + i) % file->count];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	sent = sendmmsg(fd, messages, count, 0);
	return sent < 0 && (errno == ENOBUFS || errno == EAGAIN) ? 0 : sent;
}

static bool offer(int fd, const struct file *file, uint64_t frames, uint64_t per_second)
{
	uint64_t start_ns = now_ns(), sent = 0;

	while (sent < frames) {
		uint64_t passed_ns = now_ns() - start_ns;
		uint64_t due = per_second == 0 ? frames : passed_ns * per_second / 1000000000 + 1;
		uint64_t count = due > frames ? frames - sent : due > sent ? due - sent : 0;
		int burst = send_burst(fd, file, sent, count > BURST ? BURST : (unsigned)count);

		if (burst < 0)
			return false;
		sent += (uint64_t)burst;
	}
	printf("%llu %.6f\n", (unsigned long long)sent, (double)(now_ns() - start_ns) / 1e9);
	return true;
}

int main(int argc, char **argv)
{
	static struct file file;
	int fd;

	if (argc != 5) {
		fputs("usage: bench_offer INTERFACE CAPTURE FRAMES PER_SECOND (0: as fast as "
		      "possible)\n",
		      stderr);
		return 2;
	}
	fd = open_interface(argv[1]);
	if (fd < 0) {
		perror(argv[1]);
		return 2;
	}
	if (!read_file(&file, argv[2])) {
		fprintf(stderr, "%s: not a capture that can be read\n", argv[2]);
		return 2;
	}
	if (offer(fd, &file, strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10)))
		return 0;
	perror(argv[1]);
	return 2;
}
