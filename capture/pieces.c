#include "pieces.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 4000 }; /* pauses of a processor: less than it takes to read a piece */

static bool allocate(struct ft_piece *piece, size_t room, size_t most)
{
	uint8_t *buffer = malloc(room + most);

	if (buffer == NULL)
		return false;
	piece->buffer = buffer;
	piece->bytes = buffer + room;
	return true;
}

static bool allocate_all(struct ft_pieces *pieces, unsigned count)
{
	pieces->items = calloc(count, sizeof *pieces->items);
	while (pieces->items != NULL && pieces->count < count) {
		if (!allocate(&pieces->items[pieces->count], FT_PIECES_ROOM, pieces->most))
			return false;
		pieces->count++;
	}
	return pieces->items != NULL;
}

int ft_pieces_create(struct ft_pieces **pieces, unsigned calls, size_t most, int fd,
		     ft_pieces_fill *fill, void *context)
{
	struct ft_pieces *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	*made = (struct ft_pieces){
		.most = most,
		.calls = calls,
		.fill = fill,
		.context = context,
		.fd = fd,
		.from = fill == NULL ? lseek(fd, 0, SEEK_CUR) : 0,
	};
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->was_read, NULL);
	if (!allocate_all(made, ft_pieces_count(calls, fill == NULL))) {
		ft_pieces_destroy(made);
		return -ENOMEM;
	}
	*pieces = made;
	return 0;
}

void ft_pieces_destroy(struct ft_pieces *pieces)
{
	if (pieces == NULL)
		return;
	for (unsigned i = 0; i < pieces->count; i++)
		free(pieces->items[i].buffer);
	free(pieces->items);
	pthread_cond_destroy(&pieces->was_read);
	pthread_mutex_destroy(&pieces->lock);
	free(pieces);
}

/* As much as there is, so that a short piece is the last. */
static void read_file(const struct ft_pieces *pieces, struct ft_piece *piece)
{
	off_t from = pieces->from + (off_t)(piece->number * pieces->most);

	while (piece->size < pieces->most && piece->error == 0) {
		ssize_t got = pread(pieces->fd, piece->bytes + piece->size,
				    pieces->most - piece->size, from + (off_t)piece->size);

		if (got == 0)
			break;
		if (got > 0)
			piece->size += (size_t)got;
		else if (errno != EINTR)
			piece->error = errno;
	}
}

/* The lock is held. The first that is free, so that few are in use where few are needed; NULL: none. */
static struct ft_piece *claim(struct ft_pieces *pieces)
{
	for (unsigned i = 0; i < pieces->count; i++) {
		struct ft_piece *piece = &pieces->items[i];

		if (piece->state != FT_PIECE_FREE || piece->free_from > pieces->call)
			continue;
		piece->state = FT_PIECE_BEING_READ;
		piece->number = pieces->claimed++;
		piece->size = 0;
		piece->error = 0;
		return piece;
	}
	return NULL;
}

/* The lock is held, and left meanwhile. */
static void read_claimed(struct ft_pieces *pieces, struct ft_piece *piece)
{
	pthread_mutex_unlock(&pieces->lock);
	if (pieces->fill != NULL)
		pieces->fill(pieces->context, piece, pieces->most);
	else
		read_file(pieces, piece);
	pthread_mutex_lock(&pieces->lock);
	piece->state = FT_PIECE_READ;
	pieces->ended |= pieces->fill == NULL && piece->size < pieces->most;
	pthread_cond_broadcast(&pieces->was_read);
}

static struct ft_piece *find(struct ft_pieces *pieces, uint64_t number)
{
	for (unsigned i = 0; i < pieces->count; i++) {
		struct ft_piece *piece = &pieces->items[i];

		if (piece->number == number &&
		    (piece->state == FT_PIECE_BEING_READ || piece->state == FT_PIECE_READ))
			return piece;
	}
	return NULL;
}

struct ft_piece *ft_pieces_take(struct ft_pieces *pieces, uint64_t call)
{
	struct ft_piece *piece;

	pthread_mutex_lock(&pieces->lock);
	pieces->call = call;
	piece = find(pieces, pieces->taken);
	if (piece == NULL) {
		/* none is ahead then, and at most one for each call is kept */
		piece = claim(pieces);
		assert(piece != NULL);
		read_claimed(pieces, piece);
	}
	while (piece->state == FT_PIECE_BEING_READ)
		pthread_cond_wait(&pieces->was_read, &pieces->lock);
	piece->state = FT_PIECE_TAKEN;
	pieces->taken++;
	pthread_mutex_unlock(&pieces->lock);
	return piece;
}

bool ft_piece_make_room(const struct ft_pieces *pieces, struct ft_piece *piece, size_t size)
{
	struct ft_piece larger;

	if (size <= (size_t)(piece->bytes - piece->buffer))
		return true;
	if (!allocate(&larger, size, pieces->most))
		return false;
	memcpy(larger.bytes, piece->bytes, piece->size);
	free(piece->buffer);
	piece->buffer = larger.buffer;
	piece->bytes = larger.bytes;
	return true;
}

void ft_pieces_leave(struct ft_pieces *pieces, struct ft_piece *piece, bool lent, uint64_t call)
{
	pthread_mutex_lock(&pieces->lock);
	piece->state = FT_PIECE_FREE;
	piece->free_from = lent ? call + pieces->calls : 0;
	pthread_mutex_unlock(&pieces->lock);
}

static bool is_one_ready(const struct ft_pieces *pieces)
{
	for (unsigned i = 0; i < pieces->count; i++) {
		if (pieces->items[i].state == FT_PIECE_READ)
			return true;
	}
	return false;
}

/* False: there was nothing to do. *number: of the piece. */
static bool read_next(struct ft_pieces *pieces, uint64_t *number)
{
	struct ft_piece *piece = NULL;

	pthread_mutex_lock(&pieces->lock);
	if (!pieces->ended && pieces->claimed - pieces->taken < FT_PIECES_AHEAD &&
	    !is_one_ready(pieces))
		piece = claim(pieces);
	if (piece != NULL) {
		*number = piece->number;
		read_claimed(pieces, piece);
	}
	pthread_mutex_unlock(&pieces->lock);
	return piece != NULL;
}

bool ft_pieces_read_ahead(struct ft_pieces *pieces)
{
	uint64_t number;

	if (pieces->fill != NULL || !read_next(pieces, &number))
		return false;
	for (unsigned i = 0; i < PATIENCE; i++) {
		if (atomic_load_explicit(&pieces->taken, memory_order_relaxed) >= number)
			break;
		__builtin_ia32_pause();
	}
	return true;
}
