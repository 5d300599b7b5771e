#include "mirror_sequence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	SLOTS = 4 * FT_MIRROR_SESSIONS,
	PROBES = 16,
	WORD_BITS = 64,
	WINDOW_WORDS = FT_MIRROR_WINDOW / WORD_BITS,
	STRAYS = 2, /* numbers out of place, one after the other, before a third is believed */
	STRAY_STEP = FT_MIRROR_WINDOW / 4, /* between them; so all are in its window */
};

static const uint64_t SILENCE_NS = 300000000000u; /* then it is a new session */

struct session {
	uint32_t mirror; /* ft_observed.mirror */
	uint32_t top;    /* newest number that came */
	/* by number modulo the window: came, or was before the first */
	uint64_t seen[WINDOW_WORDS];
	uint64_t last_ns; /* of the newest frame in place */
	uint32_t strays[STRAYS];
	uint32_t stray_count;
	uint32_t input; /* of the last frame */
};

/* A frame, as its session sees it. */
struct step {
	uint64_t ts_ns;
	struct ft_mirror_number number;
};

struct ft_mirror_sequence {
	size_t inputs;
	uint32_t sessions, latest; /* that many; which the last frame was of */
	uint64_t unfollowed;
	uint16_t slots[SLOTS]; /* number of a session, from 1 */
	struct session session[FT_MIRROR_SESSIONS];
	uint64_t lost[]; /* by input: numbers that left a window without having come */
};

int ft_mirror_sequence_create(struct ft_mirror_sequence **sequence, size_t inputs)
{
	struct ft_mirror_sequence *made;

	if (inputs == 0 || inputs > UINT32_MAX)
		return -EINVAL;
	made = calloc(1, sizeof *made + inputs * sizeof *made->lost);
	if (made == NULL)
		return -ENOMEM;
	made->inputs = inputs;
	*sequence = made;
	return 0;
}

void ft_mirror_sequence_destroy(struct ft_mirror_sequence *sequence)
{
	free(sequence);
}

/* --- one session --- */

static uint64_t *word_of(struct session *session, uint32_t number)
{
	return &session->seen[number / WORD_BITS % WINDOW_WORDS];
}

static uint64_t bit_of(uint32_t number)
{
	return UINT64_C(1) << number % WORD_BITS;
}

static uint64_t missing(const struct session *session)
{
	uint64_t count = 0;

	for (int i = 0; i < WINDOW_WORDS; i++)
		count += (uint64_t)__builtin_popcountll(~session->seen[i]);
	return count;
}

static void start(struct session *session, const struct step *step)
{
	session->mirror = step->number.mirror;
	session->top = step->number.sequence;
	memset(session->seen, 0xff, sizeof session->seen);
	session->stray_count = 0;
	session->last_ns = step->ts_ns;
}

/* Numbers up to the one before `number`, `steps` on, did not come yet. Returns those that leave the window without having come. */
static uint64_t skip(struct session *session, uint32_t number, uint32_t steps)
{
	uint64_t lost = 0;

	if (steps > FT_MIRROR_WINDOW) {
		lost = missing(session) + steps - FT_MIRROR_WINDOW;
		memset(session->seen, 0, sizeof session->seen);
		*word_of(session, number) |= bit_of(number); /* what was in its place is counted */
		return lost;
	}
	for (uint32_t i = 1; i < steps; i++) {
		uint64_t *word = word_of(session, session->top + i);
		uint64_t bit = bit_of(session->top + i);

		lost += (*word & bit) == 0;
		*word &= ~bit;
	}
	return lost;
}

/* Move the window up to `number`, `steps` on. Returns the same, of all that leave it. */
static inline uint64_t advance(struct session *session, uint32_t number, uint32_t steps)
{
	uint64_t lost = steps > 1 ? skip(session, number, steps) : 0;
	uint64_t *word = word_of(session, number), bit = bit_of(number);

	lost += (*word & bit) == 0;
	*word |= bit;
	session->top = number;
	return lost;
}

/* How far `number` is from `from`, where numbers wrap after `bits`. */
static int32_t distance(uint32_t number, uint32_t from, unsigned bits)
{
	unsigned unused = 32 - bits;

	return (int32_t)((number - from) << unused) >> unused;
}

/* It follows the strays before it: a burst was lost, or the mirror counts anew. */
static bool is_believed(struct session *session, const struct step *step)
{
	uint32_t number = step->number.sequence;
	int32_t ahead = session->stray_count == 0
				? 0
				: distance(number, session->strays[session->stray_count - 1],
					   step->number.bits);

	if (ahead <= 0 || ahead > STRAY_STEP)
		session->stray_count = 0;
	if (session->stray_count == STRAYS)
		return true;
	session->strays[session->stray_count++] = number;
	return false;
}

/* More than a frame per nanosecond since the last one: no mirror is as fast. */
static bool is_possible_loss(const struct session *session, const struct step *step, int32_t ahead)
{
	return ahead > 0 && step->ts_ns != UINT64_MAX && session->last_ns != UINT64_MAX &&
	       step->ts_ns > session->last_ns && (uint64_t)ahead <= step->ts_ns - session->last_ns;
}

static uint64_t see_stray(struct session *session, const struct step *step, int32_t ahead)
{
	uint64_t lost;

	if (!is_believed(session, step))
		return 0;
	if (!is_possible_loss(session, step, ahead)) {
		lost = missing(session);
		start(session, step);
		return lost;
	}
	lost = advance(session, step->number.sequence, (uint32_t)ahead);
	for (uint32_t i = 0; i < session->stray_count; i++)
		*word_of(session, session->strays[i]) |= bit_of(session->strays[i]);
	session->stray_count = 0;
	session->last_ns = step->ts_ns;
	return lost;
}

static bool is_silent(const struct session *session, uint64_t ts_ns)
{
	return ts_ns != UINT64_MAX && session->last_ns != UINT64_MAX && ts_ns > session->last_ns &&
	       ts_ns - session->last_ns > SILENCE_NS;
}

/* Returns the numbers that are given up for lost. */
static uint64_t see(struct session *session, const struct step *step)
{
	uint32_t number = step->number.sequence;
	int32_t ahead = distance(number, session->top, step->number.bits);
	uint64_t lost = 0;

	if (is_silent(session, step->ts_ns)) {
		lost = missing(session);
		start(session, step);
		return lost;
	}
	if (ahead > FT_MIRROR_WINDOW || ahead <= -FT_MIRROR_WINDOW)
		return see_stray(session, step, ahead);
	if (ahead > 0)
		lost = advance(session, number, (uint32_t)ahead);
	else
		*word_of(session, number) |= bit_of(number);
	session->stray_count = 0;
	session->last_ns = step->ts_ns;
	return lost;
}

/* --- all sessions --- */

/* NULL: there are too many. */
static struct session *find(struct ft_mirror_sequence *sequence, const struct step *step)
{
	struct session *latest = &sequence->session[sequence->latest];
	uint32_t home = step->number.mirror % SLOTS;

	if (latest->mirror == step->number.mirror && sequence->sessions != 0)
		return latest;
	for (uint32_t i = 0; i < PROBES; i++) {
		uint16_t *slot = &sequence->slots[(home + i) % SLOTS];
		struct session *session = &sequence->session[*slot == 0 ? 0 : *slot - 1];

		if (*slot != 0 && session->mirror == step->number.mirror)
			return session;
		if (*slot != 0)
			continue;
		if (sequence->sessions == FT_MIRROR_SESSIONS)
			return NULL;
		*slot = (uint16_t)++sequence->sessions;
		session = &sequence->session[*slot - 1];
		start(session, step);
		return session;
	}
	return NULL;
}

void ft_mirror_sequence_count(struct ft_mirror_sequence *sequence, uint32_t input, uint64_t ts_ns,
			      const struct ft_mirror_number *number)
{
	const struct step step = { ts_ns, *number };
	struct session *session;

	if (input >= sequence->inputs)
		return;
	session = find(sequence, &step);
	if (session == NULL) {
		sequence->unfollowed++;
		return;
	}
	sequence->latest = (uint32_t)(session - sequence->session);
	sequence->lost[input] += see(session, &step);
	session->input = input;
}

void ft_mirror_sequence_see(struct ft_mirror_sequence *sequence, uint32_t input,
			    const struct ft_observed *observed)
{
	const struct ft_mirror_number number = { observed->mirror, observed->mirror_sequence,
						 observed->mirror_sequence_bits };

	if ((observed->has & FT_OBSERVED_MIRROR) != 0)
		ft_mirror_sequence_count(sequence, input, observed->ts_ns, &number);
}

uint64_t ft_mirror_sequence_lost(const struct ft_mirror_sequence *sequence, uint32_t input)
{
	uint64_t lost = input < sequence->inputs ? sequence->lost[input] : 0;

	for (uint32_t i = 0; i < sequence->sessions; i++)
		if (sequence->session[i].input == input)
			lost += missing(&sequence->session[i]);
	return lost;
}

uint64_t ft_mirror_sequence_unfollowed(const struct ft_mirror_sequence *sequence)
{
	return sequence->unfollowed;
}
