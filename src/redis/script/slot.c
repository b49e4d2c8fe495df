#include "slot.h"

#include <stdint.h>
#include <string.h>

/* CRC16 with the polynomial 0x1021, four bits at a time. */
static uint16_t crc_step(uint16_t crc, unsigned char byte)
{
	static const uint16_t of_nibble[16] = {
		0x0000,
		0x1021,
		0x2042,
		0x3063,
		0x4084,
		0x50a5,
		0x60c6,
		0x70e7,
		0x8108,
		0x9129,
		0xa14a,
		0xb16b,
		0xc18c,
		0xd1ad,
		0xe1ce,
		0xf1ef,
	};

	crc = (uint16_t) (crc << 4 ^ of_nibble[crc >> 12 ^ byte >> 4]);
	return (uint16_t) (crc << 4 ^ of_nibble[(crc >> 12 ^ byte) & 15]);
}

/* The part between the first { and the first } after it, unless that part is empty; otherwise the whole key. */
static const char *find_tag(const char *key, size_t *len)
{
	const char *open = memchr(key, '{', *len), *end = key + *len;
	const char *close = open ? memchr(open, '}', (size_t) (end - open)) : NULL;

	if (!close || close == open + 1) {
		return key;
	}
	*len = (size_t) (close - open - 1);
	return open + 1;
}

int dlock_slot_of(const char *key, size_t len)
{
	const char *text = find_tag(key, &len);
	uint16_t crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc = crc_step(crc, (unsigned char) text[i]);
	}
	return crc % DLOCK_SLOTS;
}

void dlock_slot_tag(int slot, char tag[DLOCK_SLOT_TAG_LEN + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	tag[DLOCK_SLOT_TAG_LEN] = '\0';
	for (const char *a = letters; *a; a++) {
		uint16_t one = crc_step(0, (unsigned char) *a);
		for (const char *b = letters; *b; b++) {
			uint16_t two = crc_step(one, (unsigned char) *b);
			for (const char *c = letters; *c; c++) {
				if (crc_step(two, (unsigned char) *c) % DLOCK_SLOTS == slot) {
					tag[0] = *a;
					tag[1] = *b;
					tag[2] = *c;
					return;
				}
			}
		}
	}
	tag[0] = '\0'; /* this is no slot */
}
