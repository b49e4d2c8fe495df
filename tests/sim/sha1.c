/* SHA-1 (RFC 3174), for redis.sha1hex. */
#include "store.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t rotated(uint32_t word, int bits)
{
	return word << bits | word >> (32 - bits);
}

static void add_block(uint32_t h[5], const unsigned char *block)
{
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	for (int i = 0; i < 80; i++) {
		w[i] = i < 16 ? (uint32_t) block[4 * i] << 24 | (uint32_t) block[4 * i + 1] << 16
				| (uint32_t) block[4 * i + 2] << 8 | block[4 * i + 3]
					  : rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	}
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20 ? (b & c) | (~b & d) : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
		uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
		uint32_t next = rotated(a, 5) + f + e + k + w[i];
		e = d, d = c, c = rotated(b, 30), b = a, a = next;
	}
	h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

void sha1_hex(const char *text, size_t len, char hex[41])
{
	uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	size_t padded = (len + 8) / 64 * 64 + 64;
	unsigned char *bytes = calloc(padded, 1);

	memcpy(bytes, text, len);
	bytes[len] = 0x80;
	for (int i = 0; i < 8; i++) {
		bytes[padded - 1 - i] = (unsigned char) ((uint64_t) len * 8 >> 8 * i);
	}
	for (size_t at = 0; at < padded; at += 64) {
		add_block(h, bytes + at);
	}
	free(bytes);
	for (int i = 0; i < 5; i++) {
		snprintf(hex + 8 * i, 9, "%08x", (unsigned) h[i]);
	}
}
