#pragma once

#include <capture/recorder.h>

#include "pcapng_blocks.h"
#include "pcapng_numbers.h"
#include "recorder_disk.h"

/* The recorder on its caller's side: recorder.c takes frames, recorder_turn.c puts them into one file after another. */
enum {
	FT_STATISTICS_ROOM = 128,     /* of an interface, at the end of a file */
	FT_RECORDER_INTERFACES = 256, /* of one file: inputs times link types */
};

/* An interface of the files: its block, as every file begins with it. */
struct ft_described {
	uint32_t input;
	size_t size;
	uint8_t *block;
};

/* What an input's source counted, and how many of its frames were left out; since the beginning. */
struct ft_counted {
	uint64_t received, dropped, left_out;
	uint64_t put;   /* frames handed over, kept or not: received may not be told of them yet */
	bool uncounted; /* it cannot tell what it dropped */
};

struct ft_recorder {
	struct ft_recorder_config config;
	struct ft_disk *disk;
	struct ft_pcapng_numbers *numbers;
	struct ft_described interfaces[FT_RECORDER_INTERFACES];
	uint32_t interface_count;
	struct ft_counted *counted; /* by input; behind them, as it was when the file began */
	struct ft_chunk *chunk;     /* being filled; NULL: none */
	uint64_t waits_since_ns;    /* its oldest frame */
	uint64_t now_ns;
	struct {
		uint64_t number, bytes, frames, since_ns;
	} file; /* the one being filled */
	uint8_t section[FT_PCAPNG_BLOCK_ROOM];
	size_t section_size;
	struct ft_recorder_account account;
};

/* Whether there is more than one file, with names of their own. */
bool ft_recorder_rotates(const struct ft_recorder_config *config);

/* What files say of an input that does not count; NULL: nothing. */
const char *ft_recorder_remark(const struct ft_counted *counted);

/* There is no chunk at hand: a file begins with the next one. 0 or -ENOMEM. */
int ft_recorder_begin_file(struct ft_recorder *recorder);

/* Statistics, and whatever waits, go to the disk. False: it is so far behind that not even that can be said yet. */
bool ft_recorder_end_file(struct ft_recorder *recorder);

/* The next file takes over. False: not yet. */
bool ft_recorder_turn(struct ft_recorder *recorder);

/* Room for a block of this size in the right file. False: there is none now, or there can be none. */
bool ft_recorder_find_room(struct ft_recorder *recorder, size_t size);

/* Add bytes to the chunk at hand, which has room for them. */
void ft_recorder_append(struct ft_recorder *recorder, const uint8_t *bytes, size_t size);

/* The chunk at hand goes to the disk, if there is one. */
void ft_recorder_hand_over(struct ft_recorder *recorder);
