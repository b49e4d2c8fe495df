PHP_ARG_ENABLE([dlock],
  [whether to enable dlock],
  [AS_HELP_STRING([--enable-dlock], [Enable distributed locks])])

PHP_ARG_WITH([zookeeper],
  [for the ZooKeeper C client],
  [AS_HELP_STRING([--with-zookeeper[=DIR]],
    [dlock: build ZkLock; on by default where the client library is found])],
  [auto], [no])

PHP_ARG_WITH([pgsql-lock],
  [for locks in PostgreSQL],
  [AS_HELP_STRING([--with-pgsql-lock],
    [dlock: locks in PostgreSQL; on by default where libpq is found])],
  [auto], [no])

PHP_ARG_WITH([mysql-lock],
  [for locks in MySQL and MariaDB],
  [AS_HELP_STRING([--with-mysql-lock],
    [dlock: locks in MySQL and MariaDB; on by default where libmariadb is found])],
  [auto], [no])

PHP_ARG_ENABLE([dlock-tls],
  [whether dlock is to have TLS],
  [AS_HELP_STRING([--enable-dlock-tls],
    [dlock: TLS to Redis; on by default where OpenSSL is found])],
  [auto], [no])

if test "$PHP_DLOCK" != "no"; then
  dnl The condition of Zend/zend_long.h, which cannot be included before PHP itself is configured.
  AC_CACHE_CHECK([whether PHP has 64-bit integers], [dlock_cv_long64], [
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#if !defined(__x86_64__) && !defined(__LP64__) && !defined(_LP64) && !defined(_WIN64)
#error 32 bits
#endif
    ]], [])], [dlock_cv_long64=yes], [dlock_cv_long64=no])
  ])
  if test "$dlock_cv_long64" = "no"; then
    AC_MSG_ERROR([dlock needs a PHP with 64-bit integers: fencing tokens do not fit into 32 bits])
  fi

  AC_PATH_PROG([PKG_CONFIG], [pkg-config], [no])
  if test "$PKG_CONFIG" = "no"; then
    AC_MSG_ERROR([pkg-config was not found; install it (Debian: pkg-config)])
  fi

  dnl The layers below PHP do not include PHP's config.h, so the compiler's command line tells them what was found.
  DLOCK_DEFINES="-DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -D_GNU_SOURCE"

  dnl ---- hiredis ----
  AC_MSG_CHECKING([for hiredis 0.14 or later])
  if $PKG_CONFIG --atleast-version=0.14 hiredis; then
    AC_MSG_RESULT([$($PKG_CONFIG --modversion hiredis)])
  else
    AC_MSG_RESULT([no])
    AC_MSG_ERROR([hiredis was not found; install its development package (Debian: libhiredis-dev)])
  fi
  PHP_EVAL_INCLINE([$($PKG_CONFIG --cflags-only-I hiredis)])
  PHP_EVAL_LIBLINE([$($PKG_CONFIG --libs hiredis)], [DLOCK_SHARED_LIBADD])

  dnl ---- TLS ----
  if test "$PHP_DLOCK_TLS" != "no"; then
    AC_MSG_CHECKING([for OpenSSL 1.1.1 or later])
    if $PKG_CONFIG --atleast-version=1.1.1 openssl; then
      AC_MSG_RESULT([$($PKG_CONFIG --modversion openssl)])
      PHP_EVAL_INCLINE([$($PKG_CONFIG --cflags-only-I openssl)])
      PHP_EVAL_LIBLINE([$($PKG_CONFIG --libs openssl)], [DLOCK_SHARED_LIBADD])
      DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_TLS=1"
    else
      AC_MSG_RESULT([no, building without TLS to Redis])
      if test "$PHP_DLOCK_TLS" = "yes"; then
        AC_MSG_ERROR([--enable-dlock-tls was given, but OpenSSL was not found; install its development package (Debian: libssl-dev)])
      fi
    fi
  fi

  dnl ---- probes ----
  dnl Probes need a header only: no library is linked, or needed at run time.
  AC_CHECK_HEADER([sys/sdt.h], [DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_USDT=1"])

  dnl ---- PostgreSQL ----
  dlock_pgsql=no
  if test "$PHP_PGSQL_LOCK" != "no"; then
    AC_MSG_CHECKING([for libpq 14 or later])
    if $PKG_CONFIG --atleast-version=14 libpq; then
      AC_MSG_RESULT([$($PKG_CONFIG --modversion libpq)])
      PHP_EVAL_INCLINE([$($PKG_CONFIG --cflags-only-I libpq)])
      PHP_EVAL_LIBLINE([$($PKG_CONFIG --libs libpq)], [DLOCK_SHARED_LIBADD])
      DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_PGSQL=1"
      dlock_pgsql=yes
    else
      AC_MSG_RESULT([no, building without locks in PostgreSQL])
      if test "$PHP_PGSQL_LOCK" = "yes"; then
        AC_MSG_ERROR([--with-pgsql-lock was given, but libpq 14 or later was not found; install its development package (Debian: libpq-dev)])
      fi
    fi
  fi

  dnl ---- MySQL, MariaDB ----
  dlock_mysql=no
  if test "$PHP_MYSQL_LOCK" != "no"; then
    AC_MSG_CHECKING([for libmariadb 3.1 or later])
    if $PKG_CONFIG --atleast-version=3.1 libmariadb; then
      AC_MSG_RESULT([$($PKG_CONFIG --modversion libmariadb)])
      PHP_EVAL_INCLINE([$($PKG_CONFIG --cflags-only-I libmariadb)])
      PHP_EVAL_LIBLINE([$($PKG_CONFIG --libs libmariadb)], [DLOCK_SHARED_LIBADD])
      DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_MYSQL=1"
      dlock_mysql=yes
    else
      AC_MSG_RESULT([no, building without locks in MySQL and MariaDB])
      if test "$PHP_MYSQL_LOCK" = "yes"; then
        AC_MSG_ERROR([--with-mysql-lock was given, but libmariadb 3.1 or later was not found; install its development package (Debian: libmariadb-dev)])
      fi
    fi
  fi

  dnl ---- ZooKeeper: its client comes without a pkg-config file ----
  dlock_zookeeper=no
  if test "$PHP_ZOOKEEPER" != "no"; then
    case "$PHP_ZOOKEEPER" in
      yes|auto) dlock_zookeeper_dirs="/usr /usr/local /opt/homebrew" ;;
      *) dlock_zookeeper_dirs="$PHP_ZOOKEEPER" ;;
    esac
    AC_MSG_CHECKING([for the header of the ZooKeeper C client])
    dlock_zookeeper_dir=""
    for dir in $dlock_zookeeper_dirs; do
      if test -z "$dlock_zookeeper_dir" && test -f "$dir/include/zookeeper/zookeeper.h"; then
        dlock_zookeeper_dir="$dir"
      fi
    done
    if test -n "$dlock_zookeeper_dir"; then
      AC_MSG_RESULT([$dlock_zookeeper_dir/include/zookeeper/zookeeper.h])
      dlock_saved_LIBS="$LIBS"
      dlock_saved_CPPFLAGS="$CPPFLAGS"
      if test "$dlock_zookeeper_dir" != "/usr"; then
        CPPFLAGS="$CPPFLAGS -I$dlock_zookeeper_dir/include"
        LIBS="-L$dlock_zookeeper_dir/$PHP_LIBDIR $LIBS"
      fi
      AC_CHECK_LIB([zookeeper_mt], [zoo_acreate2], [dlock_zookeeper=yes], [dlock_zookeeper=no])
      LIBS="$dlock_saved_LIBS"
      CPPFLAGS="$dlock_saved_CPPFLAGS"
    else
      AC_MSG_RESULT([no])
    fi
    if test "$dlock_zookeeper" = "yes"; then
      if test "$dlock_zookeeper_dir" != "/usr"; then
        PHP_ADD_INCLUDE([$dlock_zookeeper_dir/include])
      fi
      PHP_ADD_LIBRARY_WITH_PATH([zookeeper_mt], [$dlock_zookeeper_dir/$PHP_LIBDIR], [DLOCK_SHARED_LIBADD])
      DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_ZOOKEEPER=1 -DTHREADED"
    elif test "$PHP_ZOOKEEPER" = "auto"; then
      AC_MSG_NOTICE([building without ZkLock: the multi-threaded ZooKeeper C client 3.5 or later was not found (Debian: libzookeeper-mt-dev); give its place by --with-zookeeper=DIR])
    else
      AC_MSG_ERROR([the multi-threaded ZooKeeper C client 3.5 or later was not found (Debian: libzookeeper-mt-dev); give its place by --with-zookeeper=DIR, or build without ZkLock by --without-zookeeper])
    fi
  fi

  dnl Back ends without their library are left out.
  dlock_left_out='^$'
  test "$dlock_pgsql" = "yes" || dlock_left_out="$dlock_left_out|^src/database/postgresql\.c$"
  test "$dlock_mysql" = "yes" || dlock_left_out="$dlock_left_out|^src/database/mysql\.c$"
  test "$dlock_zookeeper" = "yes" || dlock_left_out="$dlock_left_out|^src/zookeeper/|^src/php/class/zk_lock\.c$"

  dnl If a ZooKeeper session's thread hangs in the resolver, it outlives the module's end. Its code must stay loaded.
  AC_MSG_CHECKING([whether the linker knows -z nodelete])
  dlock_saved_LDFLAGS="$LDFLAGS"
  LDFLAGS="$LDFLAGS -Wl,-z,nodelete"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [
    AC_MSG_RESULT([yes])
    DLOCK_SHARED_LIBADD="$DLOCK_SHARED_LIBADD -Wl,-z,nodelete"
  ], [AC_MSG_RESULT([no])])
  LDFLAGS="$dlock_saved_LDFLAGS"

  PHP_SUBST([DLOCK_SHARED_LIBADD])
  dnl All files of src/, so that a new file needs no line here.
  dlock_srcdir="$abs_srcdir"
  test -f "$dlock_srcdir/php_dlock.h" || dlock_srcdir="$abs_srcdir/ext/dlock" # in PHP's own tree
  dlock_sources=$(cd "$dlock_srcdir" && find src -name '*.c' | LC_ALL=C sort | $EGREP -v "$dlock_left_out")
  PHP_NEW_EXTENSION([dlock], [dlock.c $dlock_sources], [$ext_shared],, [$DLOCK_DEFINES])
  for dlock_dir in $(cd "$dlock_srcdir" && find src -type d); do
    PHP_ADD_BUILD_DIR([$ext_builddir/$dlock_dir], [1])
  done
fi
