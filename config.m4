PHP_ARG_ENABLE([dlock],
  [whether to enable dlock],
  [AS_HELP_STRING([--enable-dlock], [Enable distributed locks])])

PHP_ARG_WITH([zookeeper],
  [for the ZooKeeper C client],
  [AS_HELP_STRING([--with-zookeeper[=DIR]],
    [dlock: build ZkLock; on by default where the client library is found])],
  [auto], [no])

PHP_ARG_ENABLE([dlock-tls],
  [whether dlock is to have TLS],
  [AS_HELP_STRING([--enable-dlock-tls],
    [dlock: TLS to Redis; on by default where hiredis_ssl and OpenSSL are found])],
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
    AC_MSG_CHECKING([for hiredis_ssl and OpenSSL])
    if $PKG_CONFIG --exists hiredis_ssl "openssl >= 1.1.1"; then
      AC_MSG_RESULT([yes])
      PHP_EVAL_INCLINE([$($PKG_CONFIG --cflags-only-I hiredis_ssl openssl)])
      PHP_EVAL_LIBLINE([$($PKG_CONFIG --libs hiredis_ssl openssl)], [DLOCK_SHARED_LIBADD])
      DLOCK_DEFINES="$DLOCK_DEFINES -DDLOCK_TLS=1"
    else
      AC_MSG_RESULT([no, building without TLS to Redis])
      if test "$PHP_DLOCK_TLS" = "yes"; then
        AC_MSG_ERROR([--enable-dlock-tls was given, but hiredis_ssl (it comes with hiredis 1.0 and later) or OpenSSL was not found])
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
      DLOCK_ZOOKEEPER_SOURCES="src/zookeeper/backend.c src/zookeeper/claim.c src/zookeeper/diagnose.c src/zookeeper/dsn.c src/zookeeper/op.c src/zookeeper/options.c src/zookeeper/own_node.c src/zookeeper/parents.c src/zookeeper/path.c src/zookeeper/pool.c src/zookeeper/queue.c src/zookeeper/rank.c src/zookeeper/response.c src/zookeeper/result.c src/zookeeper/session.c src/zookeeper/session_thread.c src/zookeeper/unowned_node.c src/zookeeper/watcher.c src/zookeeper/watches.c src/php/zk_lock.c"
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
      src/base/dial.c
      src/base/dsn.c
      src/base/error.c
      src/base/process.c
      src/base/resolve.c
      src/base/server.c
      src/base/server_parse.c
      src/base/token.c
      src/base/wait.c
      src/base/wakeup.c
      src/lock/backend.c
      src/lock/claim.c
      src/lock/operations.c
      src/lock/registry.c
      src/lock/renewal.c
      src/lock/renewal_list.c
      src/lock/renewal_thread.c
      src/memcached/backend.c
      src/memcached/conn.c
      src/memcached/item.c
      src/memcached/pool.c
      src/memcached/renewal.c
      src/memcached/request.c
      src/memcached/server_clock.c
      src/memory/backend.c
      src/memory/table.c
      src/redis/ballot.c
      src/redis/call.c
      src/redis/call_queue.c
      src/redis/cluster.c
      src/redis/conn.c
      src/redis/delivery.c
      src/redis/exchange.c
      src/redis/handshake.c
      src/redis/inbox.c
      src/redis/keeping.c
      src/redis/keys.c
      src/redis/permits.c
      src/redis/permits_acquire.c
      src/redis/permits_replicated_requests.c
      src/redis/permits_requests.c
      src/redis/pool.c
      src/redis/quorum.c
      src/redis/quorum_acquire.c
      src/redis/quorum_attach.c
      src/redis/quorum_votes.c
      src/redis/renewal_round.c
      src/redis/renewer.c
      src/redis/replicated.c
      src/redis/replicated_acquire.c
      src/redis/replicated_requests.c
      src/redis/replicated_round.c
      src/redis/reply.c
      src/redis/requests.c
      src/redis/restart_guard.c
      src/redis/scripts.c
      src/redis/sentinel.c
      src/redis/service.c
      src/redis/settling.c
      src/redis/single.c
      src/redis/slot.c
      src/redis/slot_map.c
      src/redis/stock_requests.c
      src/redis/stocks.c
      src/redis/stocks_reserve.c
      src/redis/tls.c
      src/redis/topology.c
      src/redis/uptime.c
      src/redis/waiter.c
      src/redis/waiting.c
      src/php/arguments.c
      src/php/backends.c
      src/php/classes.c
      src/php/describe.c
      src/php/distributed_lock.c
      src/php/ending.c
      src/php/errors.c
      src/php/handle.c
      src/php/hold.c
      src/php/info.c
      src/php/interrupts.c
      src/php/lease.c
      src/php/lock_manager.c
      src/php/loss_signal.c
      src/php/manager.c
      src/php/manager_acquire.c
      src/php/manager_held.c
      src/php/manager_options.c
      src/php/permits_options.c
      src/php/read_write_lock.c
      src/php/red_lock.c
      src/php/request.c
      src/php/reservation.c
      src/php/semaphore.c
      src/php/servers.c
      src/php/settings.c
      src/php/stats.c
      src/php/stock.c
      src/php/stock_order.c
      src/php/unkept.c
    ]) $DLOCK_ZOOKEEPER_SOURCES,
    [$ext_shared],, [$DLOCK_DEFINES])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/base $ext_builddir/src/lock $ext_builddir/src/memcached $ext_builddir/src/memory $ext_builddir/src/redis $ext_builddir/src/zookeeper $ext_builddir/src/php], [1])
fi
