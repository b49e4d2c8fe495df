#ifndef ONE_SERVER_H
#define ONE_SERVER_H

#include "redis_client.h"
#include "tap.h"

/* The server of a program that has one, empty before each test. */
extern test_server server;
extern const tap_setting one_server;

#endif
