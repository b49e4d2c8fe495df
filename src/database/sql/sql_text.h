#ifndef DLOCK_DATABASE_SQL_TEXT_H
#define DLOCK_DATABASE_SQL_TEXT_H

/* The SQL files, as create=1 runs them (scripts/gen-sql.sh). */
extern const char dlock_sql_postgresql[], dlock_sql_mysql[];

/* With this schema in the place of "dlock"; to be freed. NULL when out of memory. */
char *dlock_db_in_schema(const char *sql, const char *schema);

#endif
