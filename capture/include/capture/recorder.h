#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <capture/frame.h>

/*
 * Frames to pcapng files, for as long as they come. Whoever hands frames over never waits for the disk: blocks are
 * made in memory, and a thread of the recorder's own writes them. Where the disk is too slow for
 * them, frames are left out and counted. Unlike the files of pcapng_writer.h these grow under their own
 * names: whatever ends the program, each is readable to its last whole block. (Until its first blocks are written
 * a file is called `x.pcapng.part`.) A file of that name is replaced; where the name is a link, what it leads to.
 *
 * With rotation or a disk limit `x.pcapng` becomes `x_00001_20261121T120000.pcapng`, ..., numbered from 1
 * with the time (UTC) at which the file was begun. No file that is there is touched then: of two that would have the
 * same name the later one becomes `x_00001_20261121T120000_2.pcapng`. Each file holds every interface met so far, and
 * ends with their statistics.
 */
struct ft_recorder;

/* An input of the frames, as every file describes it; texts are borrowed until the recorder is closed. */
struct ft_recorder_input {
	const char *name, *description, *filter; /* NULL: nothing to say */
	uint32_t snap;                           /* 0: whole frames */
};

struct ft_recorder_config {
	const char *path; /* no folder; "-": standard output, without rotation and limit */
	const char *application, *system, *comment; /* of every file's section; NULL: nothing */
	const struct ft_recorder_input *inputs;     /* by ft_frame.input; borrowed */
	uint32_t input_count;
	/* a file never exceeds it; >= FT_RECORDER_FILE_MIN; 0: no bound but a tenth of disk_limit */
	uint64_t rotate_bytes;
	uint64_t rotate_ns;     /* a file with frames ends after so long; 0: never */
	uint64_t rotate_frames; /* 0: no bound */
	/* all files of this recorder together never exceed it: the oldest go; 0: no bound */
	uint64_t disk_limit;
	uint64_t memory; /* for frames that wait for the disk; at least 8 MiB are taken */
	bool patient;    /* the frames can wait: nothing is left out for a slow disk */
};

enum { FT_RECORDER_FILE_MIN = 16 << 10 };

struct ft_recorder_complaint {
	char text[512];
};

/*
 * Create the first file. `now_ns`: wall time. 0; -EINVAL: bounds that cannot be kept, or a folder; -ENOMEM, or -errno
 * of the file; always with *complaint. `config` is copied, but its path and inputs are borrowed until the recorder is
 * closed. The thread is started when there is first something for it: if that fails, the account's error says so.
 */
int ft_recorder_open(struct ft_recorder **recorder, const struct ft_recorder_config *config,
		     uint64_t now_ns, struct ft_recorder_complaint *complaint);

/*
 * What the input's source counted so far, for the statistics; FT_PCAPNG_NOT_COUNTED (UINT64_MAX): not known. Where
 * that is so for `dropped`, files say it, and who reads them knows (ft_source_input.losses_unknown). `received` may come later
 * than the frames do.
 */
void ft_recorder_count(struct ft_recorder *recorder, uint32_t input, uint64_t received,
		       uint64_t dropped);

/*
 * Keep a frame; `comment` may be NULL. Its bytes are copied. False: left out and counted, because the disk is behind,
 * has failed, the frame alone exceeds rotate_bytes, or its interface is one more than the 256 that a file can have.
 */
bool ft_recorder_put(struct ft_recorder *recorder, const struct ft_frame *frame,
		     const char *comment);

/*
 * Tell it the wall time, at least ten times a second while frames come or not: what waits for half a second is
 * written, and files end by time.
 */
void ft_recorder_tick(struct ft_recorder *recorder, uint64_t now_ns);

/* Write out what there is, now; does not wait for it. */
void ft_recorder_flush(struct ft_recorder *recorder);

struct ft_recorder_account {
	uint64_t frames;         /* kept: handed over and not left out */
	uint64_t left_out;       /* frames */
	uint64_t files, removed; /* begun, and of those removed for the disk limit */
	int error;               /* -errno of the disk; 0: none so far */
};

/* As of now. Frames that the disk then refused count as left out. To be called by the thread that hands frames over. */
void ft_recorder_account(struct ft_recorder *recorder, struct ft_recorder_account *account);

/* A file that is still there. */
struct ft_recorder_file {
	const char *path;
	uint64_t bytes, frames;     /* written so far */
	uint64_t first_ns, last_ns; /* of its frames, in order of arrival; FT_TS_UNKNOWN */
};

/* Each file that something was written to, the oldest first; valid in the call, which must not call the recorder. */
void ft_recorder_each_file(struct ft_recorder *recorder,
			   void (*visit)(void *context, const struct ft_recorder_file *file),
			   void *context);

/*
 * Write the rest and the statistics and end the file; blocks until the disk has taken them. 0, or -errno of the
 * first failure with *complaint; the account and the files stay to be asked for.
 */
int ft_recorder_finish(struct ft_recorder *recorder, struct ft_recorder_complaint *complaint);

/* Frees; what was not finished stays as it is. NULL is fine. */
void ft_recorder_close(struct ft_recorder *recorder);
