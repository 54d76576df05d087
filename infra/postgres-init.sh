#!/bin/sh
# Runs once, when the volume of Postgres is empty. Creates a database and two roles per service: the owner, which runs
# the migrations, and the run-time role, which gets its privileges from the migrations and cannot alter tables.
set -eu

make_database() {
  name=$1
  # The passwords are read from the environment by psql itself: they are on no command line and in no log.
  psql --quiet --no-psqlrc --username "$POSTGRES_USER" --dbname postgres \
    --set ON_ERROR_STOP=1 --set name="$name" --set owner="${name}_owner" --set app="${name}_app" <<SQL
\getenv owner_password $2
\getenv app_password $3
SET log_min_error_statement = 'panic';
CREATE ROLE :"owner" LOGIN PASSWORD :'owner_password';
CREATE ROLE :"app" LOGIN PASSWORD :'app_password';
-- Byte order, which no later release of the C library changes: an upgrade of the image leaves every index valid.
CREATE DATABASE :"name" OWNER :"owner" TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8';
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"name" TO :"app";
\connect :"name"
ALTER SCHEMA public OWNER TO :"owner";
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO :"app";
SQL
  echo "database $name is made"
}

make_database vault VAULT_OWNER_PASSWORD VAULT_APP_PASSWORD
make_database tracker TRACKER_OWNER_PASSWORD TRACKER_APP_PASSWORD
psql --quiet --no-psqlrc --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 \
  --command 'REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC'
