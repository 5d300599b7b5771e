#pragma once

#include <drivers.h>
#include <live_parts.h>

/*
 * A device that does what its address says, one word for each call of receive():
 *
 *   12     a frame stamped 12 ms; 12,14,15 three of them; ? instead of a number: without a time
 *   200x5  200 frames stamped 5 ms, 6 ms, ...
 *   .      nothing at hand
 *   @7     nothing at hand before 7 ms have passed since the start
 *   *      one frame stamped now, again and again
 *   #      `room` frames, 1 ms apart, 1000 times in a row
 *   $      there will be no more
 *   !      the device has vanished
 *
 * After the last word nothing comes any more. Options stand before the words: "lost=3 errors=2", "unknown",
 * "refuse", "poll". A frame's bytes are its number on the device; they are freed when the driver may do so.
 */
extern const struct ft_driver fake_driver;

extern int fakes_open; /* devices that were opened and not closed */
extern int fakes_naps; /* times that one was asked to wait longer than no time */

uint32_t fake_number(const struct ft_frame *frame);
