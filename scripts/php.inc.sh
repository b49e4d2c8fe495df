# shellcheck shell=bash
# To be sourced by scripts that run PHP with "-n", so that no php.ini of the machine changes what they test or measure.

# module_options NAME …: options with which $php loads these of PHP's own modules, as far as it has them as shared ones.
module_options() {
	local name title option builtin dir
	builtin=$("$php" -n -m)
	dir=$("${PHP_CONFIG:-php-config}" --extension-dir)
	for name; do
		title=$name option=extension
		[ "$name" != opcache ] || { title='zend opcache'; option=zend_extension; }
		grep -qix "$title" <<< "$builtin" || [ ! -e "$dir/$name.so" ] || echo "-d $option=$name"
	done
}
