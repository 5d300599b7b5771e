#pragma once

#include "operation_tracks.h"

/* What was asked for without a pause. */
struct ft_nccl_beat {
	uint64_t from, to; /* frames */
	size_t messages;
	uint64_t offered; /* by the first clear-to-send; 0: not known */
	bool cut;         /* the capture begins in it, perhaps */
	bool open;        /* more was asked for when the capture ended */
	bool mixed; /* not all were offered as much, so that several operations are in it, perhaps */
	bool known; /* all of its messages came whole, so many bytes: */
	uint64_t bytes;
	uint64_t longest; /* of its messages, bytes; 0: not known */
};

/*
 * When a connection was busy with operations, as far as pauses show where one ends. All of a ring have the same number of
 * messages of each operation, at about the same time; so have all of a tree. Beats are of
 * all messages of a track, one after the other.
 */
struct ft_nccl_rhythm {
	const struct ft_nccl_beat *beats;
	size_t count;
};

/* One for each track. */
struct ft_nccl_rhythms {
	struct ft_nccl_rhythm *at;
	struct ft_nccl_beat *memory;
};

/* 0 or -ENOMEM; free in any case. */
int ft_nccl_rhythms_find(struct ft_nccl_rhythms *rhythms, const struct ft_nccl_track *tracks,
			 size_t count);
void ft_nccl_rhythms_free(struct ft_nccl_rhythms *rhythms);

/* Most operations of the one that had fewer were of both. */
bool ft_nccl_rhythms_agree(const struct ft_nccl_rhythm *a, const struct ft_nccl_rhythm *b);

/*
 * Most operations of the one that had fewer, and some at least, were while the other did nothing; or all of both were, and each had
 * one that the other did not have just before or behind. These are not two channels of one communicator, whose operations use the
 * first ones of them.
 */
bool ft_nccl_rhythms_take_turns(const struct ft_nccl_rhythm *a, const struct ft_nccl_rhythm *b);

/*
 * What two connections did at the same time: operations of both, and others, of another protocol or volume. An operation has about
 * as much on each channel that it uses.
 */
struct ft_nccl_clash {
	size_t same, apart;
};
void ft_nccl_rhythms_weigh(struct ft_nccl_clash *clash, const struct ft_nccl_rhythm *a,
			   const struct ft_nccl_rhythm *b); /* adds to it */
bool ft_nccl_clash_tells_apart(const struct ft_nccl_clash *clash);

/*
 * Two long operations at least were while the other one did nothing, and it did the same at no time: holes alone do not look
 * like that.
 */
bool ft_nccl_rhythm_is_other(const struct ft_nccl_rhythm *rhythm,
			     const struct ft_nccl_rhythm *than);
