#include "order.h"

#include <stdio.h>

static bool is_special(unsigned char byte)
{
	return byte <= ' ' || byte == '/' || byte == '%' || byte == 0x7f;
}

char *dlock_stock_encode(char *out, dlock_arg name)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < name.len; i++) {
		unsigned char byte = (unsigned char) name.text[i];
		if (is_special(byte)) {
			*out++ = '%';
			*out++ = digits[byte >> 4];
			*out++ = digits[byte & 15];
		} else {
			*out++ = (char) byte;
		}
	}
	return out;
}

dlock_order_id dlock_stock_order_id(dlock_arg buyer, dlock_arg order)
{
	dlock_order_id id;
	char *out = dlock_stock_encode(id.text, buyer);

	*out++ = '/';
	out = dlock_stock_encode(out, order);
	*out = '\0';
	return id;
}

static int hex_of(char digit)
{
	return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

size_t dlock_stock_decode(const char *text, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		bool escape = text[i] == '%' && i + 2 < len;
		out[n++] = escape ? (char) (hex_of(text[i + 1]) << 4 | hex_of(text[i + 2])) : text[i];
		i += escape ? 2 : 0;
	}
	return n;
}

/* The hash has 36 bits, which a sorted set stores exactly. */
dlock_products dlock_stock_products(const dlock_order *order)
{
	dlock_products products = { "" };
	uint64_t hash = 0;

	for (int i = 0; i < order->count && order->count > 1; i++) {
		uint64_t one = UINT64_C(14695981039346656037); /* FNV-1a and a finalizer, so that sums do not cancel out */
		for (size_t k = 0; k < order->skus[i].len; k++) {
			one = (one ^ (unsigned char) order->skus[i].text[k]) * UINT64_C(1099511628211);
		}
		one = (one ^ one >> 32) * UINT64_C(0x9e3779b97f4a7c15);
		hash += one ^ one >> 29;
	}
	if (order->count > 1) {
		snprintf(products.text, sizeof products.text, "%llu", (unsigned long long) (hash >> 28 | 1));
	}
	return products;
}
