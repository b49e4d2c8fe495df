#include "one_server.h"

test_server server;

static void begin(void)
{
	server_start(&server, NULL);
}

static void reset(void)
{
	server_reset(&server);
}

const tap_setting one_server = { begin, reset };
