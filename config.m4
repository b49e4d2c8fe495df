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
  dnl As Zend/zend_long.h has it, which cannot be asked before PHP itself is configured.
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

  dnl The layers below PHP do not read PHP's config.h, so what was found is told on the command line.
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
  dnl A header alone: nothing is linked, and nothing is needed to run.
  AC_CHECK_HEADER([sys/sdt.h], [DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_USDT=1"])

  dnl ---- PostgreSQL ----
  DLOCK_DATABASE_SOURCES=""
  if test "$PHP_PGSQL_LOCK" != "no"; then
    AC_MSG_CHECKING([for libpq 14 or later])
    if $PKG_CONFIG --atleast-version=14 libpq; then
      AC_MSG_RESULT([$($PKG_CONFIG --modversion libpq)])
      PHP_EVAL_INCLINE([$($PKG_CONFIG --cflags-only-I libpq)])
      PHP_EVAL_LIBLINE([$($PKG_CONFIG --libs libpq)], [DLOCK_SHARED_LIBADD])
      DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_PGSQL=1"
      DLOCK_DATABASE_SOURCES="$DLOCK_DATABASE_SOURCES src/database/postgresql.c"
    else
      AC_MSG_RESULT([no, building without locks in PostgreSQL])
      if test "$PHP_PGSQL_LOCK" = "yes"; then
        AC_MSG_ERROR([--with-pgsql-lock was given, but libpq 14 or later was not found; install its development package (Debian: libpq-dev)])
      fi
    fi
  fi

  dnl ---- MySQL, MariaDB ----
  if test "$PHP_MYSQL_LOCK" != "no"; then
    AC_MSG_CHECKING([for libmariadb 3.1 or later])
    if $PKG_CONFIG --atleast-version=3.1 libmariadb; then
      AC_MSG_RESULT([$($PKG_CONFIG --modversion libmariadb)])
      PHP_EVAL_INCLINE([$($PKG_CONFIG --cflags-only-I libmariadb)])
      PHP_EVAL_LIBLINE([$($PKG_CONFIG --libs libmariadb)], [DLOCK_SHARED_LIBADD])
      DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_MYSQL=1"
      DLOCK_DATABASE_SOURCES="$DLOCK_DATABASE_SOURCES src/database/mysql.c"
    else
      AC_MSG_RESULT([no, building without locks in MySQL and MariaDB])
      if test "$PHP_MYSQL_LOCK" = "yes"; then
        AC_MSG_ERROR([--with-mysql-lock was given, but libmariadb 3.1 or later was not found; install its development package (Debian: libmariadb-dev)])
      fi
    fi
  fi

  dnl ---- ZooKeeper: its client comes without a pkg-config file ----
  DLOCK_ZOOKEEPER_SOURCES=""
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
      dlock_zookeeper=no
    fi
    if test "$dlock_zookeeper" = "yes"; then
      if test "$dlock_zookeeper_dir" != "/usr"; then
        PHP_ADD_INCLUDE([$dlock_zookeeper_dir/include])
      fi
      PHP_ADD_LIBRARY_WITH_PATH([zookeeper_mt], [$dlock_zookeeper_dir/$PHP_LIBDIR], [DLOCK_SHARED_LIBADD])
      DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_ZOOKEEPER=1 -DTHREADED"
      DLOCK_ZOOKEEPER_SOURCES="src/php/class/zk_lock.c src/zookeeper/lock/backend.c src/zookeeper/lock/claim.c src/zookeeper/lock/inspect.c src/zookeeper/lock/parents.c src/zookeeper/lock/queue.c src/zookeeper/lock/rank.c src/zookeeper/session/diagnosis.c src/zookeeper/session/hosts.c src/zookeeper/session/node.c src/zookeeper/session/op.c src/zookeeper/session/options.c src/zookeeper/session/path.c src/zookeeper/session/pool.c src/zookeeper/session/response.c src/zookeeper/session/session.c src/zookeeper/session/session_thread.c src/zookeeper/session/watches.c"
    elif test "$PHP_ZOOKEEPER" = "auto"; then
      AC_MSG_NOTICE([building without ZkLock: the multi-threaded ZooKeeper C client 3.5 or later was not found (Debian: libzookeeper-mt-dev); give its place by --with-zookeeper=DIR])
    else
      AC_MSG_ERROR([the multi-threaded ZooKeeper C client 3.5 or later was not found (Debian: libzookeeper-mt-dev); give its place by --with-zookeeper=DIR, or build without ZkLock by --without-zookeeper])
    fi
  fi

  dnl A session's thread that hangs in the resolver is left behind when the process ends; its code must still be there.
  AC_MSG_CHECKING([whether the linker knows -z nodelete])
  dlock_saved_LDFLAGS="$LDFLAGS"
  LDFLAGS="$LDFLAGS -Wl,-z,nodelete"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [
    AC_MSG_RESULT([yes])
    DLOCK_SHARED_LIBADD="$DLOCK_SHARED_LIBADD -Wl,-z,nodelete"
  ], [AC_MSG_RESULT([no])])
  LDFLAGS="$dlock_saved_LDFLAGS"

  PHP_SUBST([DLOCK_SHARED_LIBADD])
  PHP_NEW_EXTENSION([dlock], m4_normalize([
      dlock.c
      src/base/clock.c
      src/base/error.c
      src/base/process.c
      src/base/thread.c
      src/base/token.c
      src/base/wait.c
      src/base/wakeup.c
      src/base/watch.c
      src/net/channel.c
      src/net/dial.c
      src/net/dsn.c
      src/net/loop.c
      src/net/options.c
      src/net/pool.c
      src/net/resolve.c
      src/net/endpoint.c
      src/net/endpoint_parse.c
      src/net/sleepers.c
      src/net/tls.c
      src/lock/backend.c
      src/lock/claim.c
      src/lock/description.c
      src/lock/inspection.c
      src/lock/operations.c
      src/lock/pool_renewer.c
      src/lock/registry.c
      src/lock/renewal.c
      src/lock/renewal_list.c
      src/lock/renewal_thread.c
      src/database/acquire.c
      src/database/backend.c
      src/database/background.c
      src/database/call.c
      src/database/inspect.c
      src/database/question.c
      src/database/renewal.c
      src/database/session.c
      src/database/sql_text.c
      src/memcached/backend.c
      src/memcached/conn.c
      src/memcached/discard.c
      src/memcached/item.c
      src/memcached/renewal.c
      src/memcached/request.c
      src/memcached/server_clock.c
      src/memory/backend.c
      src/memory/map.c
      src/memory/room.c
      src/memory/stock.c
      src/memory/stock_table.c
      src/memory/table.c
      src/redis/lock/acquire.c
      src/redis/lock/epoch.c
      src/redis/lock/inspect.c
      src/redis/lock/keep.c
      src/redis/lock/kinds.c
      src/redis/lock/late_release.c
      src/redis/lock/renewer.c
      src/redis/lock/service.c
      src/redis/lock/wait.c
      src/redis/redlock/ballot.c
      src/redis/redlock/quorum.c
      src/redis/redlock/quorum_acquire.c
      src/redis/redlock/quorum_attach.c
      src/redis/redlock/quorum_inspect.c
      src/redis/redlock/quorum_renewal.c
      src/redis/redlock/quorum_votes.c
      src/redis/redlock/uptime_rule.c
      src/redis/request/inspect_requests.c
      src/redis/request/keys.c
      src/redis/request/permits_requests.c
      src/redis/request/replicated_requests.c
      src/redis/request/requests.c
      src/redis/route/cluster.c
      src/redis/route/route.c
      src/redis/route/sentinel.c
      src/redis/route/slot_map.c
      src/redis/route/surveying.c
      src/redis/route/topology.c
      src/redis/script/scripts.c
      src/redis/script/slot.c
      src/redis/request/stock_requests.c
      src/redis/stock/question.c
      src/redis/stock/stocks.c
      src/redis/stock/stocks_reserve.c
      src/redis/wire/call.c
      src/redis/wire/call_queue.c
      src/redis/wire/conn.c
      src/redis/wire/handshake.c
      src/redis/wire/inbox.c
      src/redis/wire/info.c
      src/redis/wire/pool.c
      src/redis/wire/reply.c
      src/redis/wire/resp.c
      src/redis/wire/survey.c
      src/redis/wire/uptime.c
      src/stock/order.c
      src/php/backends.c
      src/php/class/arguments.c
      src/php/class/describe.c
      src/php/class/inspection.c
      src/php/class/distributed_lock.c
      src/php/class/lease.c
      src/php/class/lock_manager.c
      src/php/class/manager.c
      src/php/class/permits/permits_options.c
      src/php/class/permits/read_write_lock.c
      src/php/class/red_lock.c
      src/php/class/stock/reservation.c
      src/php/class/resources.c
      src/php/class/permits/semaphore.c
      src/php/class/servers.c
      src/php/class/stock/stock.c
      src/php/class/stock/stock_order.c
      src/php/class/testing.c
      src/php/classes.c
      src/php/coroutine.c
      src/php/description.c
      src/php/request/ending.c
      src/php/request/errors.c
      src/php/request/handle.c
      src/php/request/hold.c
      src/php/info.c
      src/php/interrupts.c
      src/php/request/holder_watch.c
      src/php/request/loss_signal.c
      src/php/metrics.c
      src/php/metrics_text.c
      src/php/request/request.c
      src/php/settings.c
      src/php/stats.c
      src/php/strand.c
      src/php/request/turns.c
      src/php/request/unkept.c
      src/php/request/worker.c
    ]) $DLOCK_ZOOKEEPER_SOURCES $DLOCK_DATABASE_SOURCES,
    [$ext_shared],, [$DLOCK_DEFINES])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/base $ext_builddir/src/database $ext_builddir/src/lock $ext_builddir/src/memcached $ext_builddir/src/memory $ext_builddir/src/net $ext_builddir/src/php $ext_builddir/src/php/class $ext_builddir/src/php/class/permits $ext_builddir/src/php/class/stock $ext_builddir/src/php/request $ext_builddir/src/redis/lock $ext_builddir/src/redis/redlock $ext_builddir/src/redis/request $ext_builddir/src/redis/route $ext_builddir/src/redis/script $ext_builddir/src/redis/stock $ext_builddir/src/redis/wire $ext_builddir/src/stock $ext_builddir/src/zookeeper/lock $ext_builddir/src/zookeeper/session], [1])
fi
