/* SHA-1 (FIPS 180-4), for redis.sha1hex(). */
#include "sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t rotate(uint32_t word, int bits)
{
	return word << bits | word >> (32 - bits);
}

static void add_block(uint32_t hash[5], const unsigned char *block)
{
	uint32_t w[80], a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4];

	for (int i = 0; i < 80; i++) {
		w[i] = i < 16 ? (uint32_t) block[4 * i] << 24 | (uint32_t) block[4 * i + 1] << 16 | (uint32_t) block[4 * i + 2] << 8 | block[4 * i + 3]
			: rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	}
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
		uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
		uint32_t next = rotate(a, 5) + f + e + k + w[i];
		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	hash[0] += a;
	hash[1] += b;
	hash[2] += c;
	hash[3] += d;
	hash[4] += e;
}

void sha1_hex(const char *text, size_t len, char hex[41])
{
	uint32_t hash[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	unsigned char last[128] = { 0 };
	size_t whole = len / 64 * 64, rest = len - whole, end = rest < 56 ? 64 : 128;

	for (size_t at = 0; at < whole; at += 64) {
		add_block(hash, (const unsigned char *) text + at);
	}
	memcpy(last, text + whole, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++) {
		last[end - 1 - (size_t) i] = (unsigned char) ((uint64_t) len * 8 >> 8 * i);
	}
	for (size_t at = 0; at < end; at += 64) {
		add_block(hash, last + at);
	}
	for (int i = 0; i < 5; i++) {
		snprintf(hex + 8 * i, 9, "%08x", (unsigned) hash[i]);
	}
}
