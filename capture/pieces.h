#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The pieces of a stream whose frames stay readable for some calls, and those that are read ahead: a few buffers, each of
 * which has one piece at a time. One thread takes pieces in their order; of a plain file others may read the next ones
 * meanwhile, as most of the time of a capture of whole frames goes into copying it out of the page cache.
 */

enum {
	FT_PIECES_AHEAD = 4, /* at most, of a plain file, read before they are taken */
	FT_PIECES_ROOM = 16 << 10,
};

enum ft_piece_state { FT_PIECE_FREE, FT_PIECE_BEING_READ, FT_PIECE_READ, FT_PIECE_TAKEN };

struct ft_piece {
	uint8_t *buffer;
	uint8_t *bytes; /* of the piece; before them is room for what is left of the one before */
	size_t size;    /* how many; after reading */
	int error;      /* errno of reading on behind them; 0: none */

	/* the rest belongs to pieces.c */
	enum ft_piece_state state;
	uint64_t number;
	uint64_t free_from; /* call */
};

/* Fill `piece`, at most `most` bytes from ->bytes on, setting its size (0: the end) and its error. */
typedef void ft_pieces_fill(void *context, struct ft_piece *piece, size_t most);

struct ft_pieces {
	pthread_mutex_t lock;
	pthread_cond_t was_read;
	struct ft_piece *items;
	unsigned count;
	size_t most;    /* bytes of a piece */
	unsigned calls; /* for which a piece that was lent stays */
	uint64_t call;  /* in which one was taken last */
	uint64_t claimed;
	_Atomic uint64_t taken;
	ft_pieces_fill *fill; /* NULL: a plain file */
	void *context;
	int fd;
	off_t from; /* offset of the first piece */
	bool ended; /* a piece was short: nothing is read ahead */
};

/*
 * Buffers for pieces of at most `most` bytes. With `fill`, pieces are filled by it, each when it is taken; without, they
 * are read from the plain file `fd` from its offset on. 0, or -ENOMEM and nothing to free.
 */
int ft_pieces_create(struct ft_pieces **pieces, unsigned calls, size_t most, int fd,
		     ft_pieces_fill *fill, void *context);
void ft_pieces_destroy(struct ft_pieces *pieces);

/* How many buffers that are: one for each call, the one in use, the next, and those ahead. */
static inline unsigned ft_pieces_count(unsigned calls, bool ahead)
{
	return calls + 2 + (ahead ? FT_PIECES_AHEAD : 0);
}

/*
 * The next piece, which stays until it is left. Calls are numbered from 1 in ascending order; in each at most one piece is
 * left that was lent. Waits while another thread reads it. A short piece of a plain file is its last.
 */
struct ft_piece *ft_pieces_take(struct ft_pieces *pieces, uint64_t call);

/* Room for `size` bytes before a piece that was taken; its bytes may move. False: no memory, and as before. */
bool ft_piece_make_room(const struct ft_pieces *pieces, struct ft_piece *piece, size_t size);

/* Done with it; `lent`: but for frames that lie in it and stay for `calls` calls, `call` included. */
void ft_pieces_leave(struct ft_pieces *pieces, struct ft_piece *piece, bool lent, uint64_t call);

/*
 * Read the next piece, if none lies ready and there is room. Several threads may call it beside the one that takes
 * pieces, and each is held back a little while earlier pieces are not taken: who takes the next one then mostly is who
 * read it, and has its bytes in the cache. False: there was nothing to do.
 */
bool ft_pieces_read_ahead(struct ft_pieces *pieces);
