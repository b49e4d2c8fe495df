#ifndef DLOCK_DATABASE_SQL_TEXT_H
#define DLOCK_DATABASE_SQL_TEXT_H

/* The SQL files in the form that create=1 runs (scripts/gen-sql.sh). */
extern const char dlock_sql_postgresql[], dlock_sql_mysql[];

/* Returns the SQL with this schema in the place of "dlock". The caller frees it. Returns NULL if out of memory. */
char *dlock_db_in_schema(const char *sql, const char *schema);

#endif
