/* The part of Swoole's C API that tells of coroutines (include/swoole_coroutine_api.h), of which fibers take the place:
 * Stub\run() in tests/inc/coroutines.inc sets the number of the one that runs. A module of PHP. */

#include <php.h>

static zend_long current;

uint8_t swoole_coroutine_is_in(void)
{
	return current > 0;
}

long swoole_coroutine_get_id(void)
{
	return current;
}

static PHP_FUNCTION(coroutine_switch)
{
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_LONG(current)
	ZEND_PARSE_PARAMETERS_END();
}

ZEND_BEGIN_ARG_INFO_EX(switch_info, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_LONG, 0)
ZEND_END_ARG_INFO()

static const zend_function_entry functions[] = { PHP_FE(coroutine_switch, switch_info) PHP_FE_END };

static zend_module_entry coroutines_module_entry = {
	STANDARD_MODULE_HEADER, "coroutines", functions, NULL, NULL, NULL, NULL, NULL, "1", STANDARD_MODULE_PROPERTIES
};

ZEND_GET_MODULE(coroutines)
