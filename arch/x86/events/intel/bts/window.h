/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: records in an AUX area
 *
 * The hardware writes records of 24 bytes to a range of linear addresses. The area
 * is mapped as one such range, whatever pages it has. Records lie at multiples of 24
 * bytes from its beginning. The last 16 or 8 bytes of the area hold no record, so that
 * no record goes on at the beginning of the area::
 *
 *	 0                                                        records end   size
 *	+---------+------------------------------------+---------+-----------+----+
 *	|   ...   |####################################|=========|###########| 00 |
 *	+---------+------------------------------------+---------+-----------+----+
 *	          tail                                 start     |   end
 *	                                                         threshold
 *
 *	###  not read yet    ===  window    00  no record fits
 *
 * In full-trace mode, the hardware gets a window of the free part: from the head,
 * which is its start, to its end, where it stops. The end is not after the tail and
 * not after the end of the records. The hardware interrupts where the window's
 * threshold is: where the reader wants to be woken, but so long before the end that
 * the branches until the interrupt have room, and so long after the start that the
 * interrupt before is over.
 *
 * If little room is left before the end of the records, and more behind it at the
 * beginning of the area, the rest is skipped. What is skipped is zero, as no record
 * is.
 *
 * A position is the number of bytes written or skipped before it since the buffer
 * exists. Modulo the size of the area, a power of two, it is an offset in the area.
 */

/* This file calls no kernel function, so that user-space tests can compile it. */
#ifndef _INTEL_BTS_WINDOW_H
#define _INTEL_BTS_WINDOW_H

#include <linux/minmax.h>
#include <linux/types.h>

/* From, to, and flags of a branch (Intel SDM, "64-bit Branch Trace Record Format"). */
#define BTS_RECORD_SIZE		24UL

/* Room for the branches between the threshold and the interrupt's handler. */
#define BTS_MARGIN		(170 * BTS_RECORD_SIZE)

/*
 * Room for the branches of the handler from when it switches the hardware on until it
 * lets the local APIC take the next interrupt. One that comes before is lost.
 */
#define BTS_HANDLER		(32 * BTS_RECORD_SIZE)

/* As much before the threshold as behind it. */
#define BTS_WINDOW_MIN		(2 * BTS_HANDLER)

/**
 * struct bts_window - what the hardware may write, as offsets in the area
 * @start: of the first record
 * @threshold: the hardware interrupts when it has written up to this
 * @end: it stops when it has written up to this
 */
struct bts_window {
	unsigned long	start;
	unsigned long	threshold;
	unsigned long	end;
};

static inline unsigned long bts_round_down(unsigned long bytes)
{
	return bytes - bytes % BTS_RECORD_SIZE;
}

/* Offset of the end of the last record that has room in an area. */
static inline unsigned long bts_records_end(unsigned long size)
{
	return bts_round_down(size);
}

static inline unsigned long bts_offset(unsigned long size, unsigned long position)
{
	return position & (size - 1);
}

/* Bytes of whole records from an offset on, if @room bytes are free there. */
static inline unsigned long bts_space(unsigned long size, unsigned long start,
				      unsigned long room)
{
	return min(bts_records_end(size) - start, bts_round_down(room));
}

/**
 * bts_gap - decide whether to skip something before the first record
 * @size: of the area
 * @head: position at which the hardware would begin
 * @room: number of bytes that are free from there on
 *
 * The buffer may have had an area of another size before, so that @head is in the
 * middle of a record: then that is skipped, or the rest of the area.
 *
 * Return: number of bytes to skip, after which to ask again; 0 if the hardware is to
 * begin at @head
 */
static inline unsigned long bts_gap(unsigned long size, unsigned long head,
				    unsigned long room)
{
	unsigned long start = bts_offset(size, head), gap = size - start, space;
	bool better;

	if (start >= bts_records_end(size))
		return gap;
	if (start % BTS_RECORD_SIZE)
		return BTS_RECORD_SIZE - start % BTS_RECORD_SIZE;
	space = bts_space(size, start, room);
	better = space <= BTS_MARGIN && room > gap &&
		 bts_space(size, 0, room - gap) > space;
	return better ? gap : 0;
}

/**
 * bts_place_window - decide what the hardware may write
 * @size: of the area
 * @head: position at which it begins
 * @room: number of bytes that are free from there on
 * @wakeup: position at which to wake the reader
 * @window: result
 *
 * Return: false if there is too little room
 */
static inline bool bts_place_window(unsigned long size, unsigned long head,
				    unsigned long room, unsigned long wakeup,
				    struct bts_window *window)
{
	unsigned long start = bts_offset(size, head), space, latest, wanted;
	/* Positions may wrap around on 32 bits. */
	long ahead = wakeup - head;

	if (start % BTS_RECORD_SIZE || start >= bts_records_end(size))
		return false;
	space = bts_space(size, start, room);
	if (space < BTS_WINDOW_MIN)
		return false;

	/* In a small window, half of it is for the branches until the handler. */
	latest = space > 2 * BTS_MARGIN ? space - BTS_MARGIN :
					  bts_round_down(space / 2);
	wanted = ahead > 0 ? bts_round_down(ahead + BTS_RECORD_SIZE - 1) : 0;
	window->start = start;
	window->threshold = start + min(max(wanted, BTS_HANDLER), latest);
	window->end = start + space;
	return true;
}

#endif /* _INTEL_BTS_WINDOW_H */
