/* A server named "frankenphp" as far as the module sees it: one PHP request whose script asks for the end of each HTTP
 * request by frankenphp_handle(), after which sapi_deactivate() is called, as FrankenPHP's worker mode does; and once
 * after the boot, for the request that it pretends there to be.
 *
 *   worker FILE */

#include <sapi/embed/php_embed.h>

static PHP_FUNCTION(frankenphp_handle)
{
	zend_fcall_info info;
	zend_fcall_info_cache cache;
	zval result;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_FUNC(info, cache)
	ZEND_PARSE_PARAMETERS_END();
	static bool has_begun;
	if (!has_begun) {
		has_begun = true;
		sapi_deactivate();
	}
	sapi_activate();
	static char path[] = "/0"; /* /1, /2 and so on */
	path[1]++;
	SG(request_info).request_method = "GET";
	SG(request_info).request_uri = path;
	info.retval = &result;
	if (zend_call_function(&info, &cache) == SUCCESS) {
		zval_ptr_dtor(&result);
	}
	sapi_deactivate();
}

ZEND_BEGIN_ARG_INFO_EX(handle_info, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

static const zend_function_entry functions[] = { PHP_FE(frankenphp_handle, handle_info) PHP_FE_END };

int main(int argc, char **argv)
{
	zend_file_handle file;

	if (argc < 2) {
		return 2;
	}
	php_embed_module.name = "frankenphp";
	if (php_embed_init(1, argv) == FAILURE
		|| zend_register_functions(NULL, functions, NULL, MODULE_PERSISTENT) == FAILURE) {
		return 2;
	}
	zend_first_try {
		zend_stream_init_filename(&file, argv[1]);
		php_execute_script(&file);
		zend_destroy_file_handle(&file);
	} zend_end_try();
	php_embed_shutdown();
	return 0;
}
