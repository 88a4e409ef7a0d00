#!/bin/sh
# Dumps the PostgreSQL database to a folder of dated files, and keeps so many.
#
#   DATABASE_URL=postgres://… back-up-postgres.sh <folder> [keep]
#   back-up-postgres.sh --check <folder> [max-age-hours]
#
# With Compose: DATABASE_URL=postgres://intermission@/intermission THROUGH="docker compose exec -T postgres" back-up-postgres.sh …
set -eu
THROUGH=${THROUGH:-}
umask 077

fail() {
  echo "back-up-postgres: $1" >&2
  exit 1
}

# The dumps, the oldest first: their names are times.
dumps() {
  find "$1" -maxdepth 1 -name '20*Z.dump' | sort
}

if [ "${1:-}" = --check ]; then
  folder=${2:?name the folder of the dumps}
  cd "$folder"
  newest=$(dumps . | tail -n 1)
  [ -n "$newest" ] || fail "$folder has no dump: look at the timer"
  sha256sum --check --quiet "$newest.sha256" || fail "$newest is damaged: restore an older one"
  [ -n "$(find "$newest" -mmin "-$((${3:-36} * 60))")" ] || fail "$newest is older than ${3:-36} hours: look at the timer"
  echo "$newest is whole, of $(date -u -r "$newest" +%Y-%m-%dT%H:%M:%SZ)"
  exit 0
fi

folder=${1:?name the folder for the dumps}
keep=${2:-7}
[ "$keep" -ge 1 ] || fail "keep must be 1 or more"
: "${DATABASE_URL:?set DATABASE_URL}"
mkdir -p "$folder"
exec 9> "$folder/backup.lock"
flock -n 9 || fail "another backup to $folder is running: wait for it"
# What interrupted runs left.
rm -f "$folder"/*.partial
name="$(date -u +%Y-%m-%dT%H-%M-%SZ).dump"
dump="$folder/$name"
# The list of processes shows arguments to every user of the machine: libpq takes the password from its variable.
password=$(printf %s "$DATABASE_URL" | sed -n 's|^[a-z]*://[^/@:]*:\([^@/]*\)@.*|\1|p')
url=$DATABASE_URL
case "$password" in
  "") ;;
  # Escaped characters are for URLs only.
  *%*) ;;
  *)
    export PGPASSWORD="$password"
    url=$(printf %s "$DATABASE_URL" | sed 's|^\([a-z]*://[^/@:]*\):[^@/]*@|\1@|')
    ;;
esac
# THROUGH is several words, and works in the folder in which this script was started, such as that of compose.yaml.
$THROUGH pg_dump --format=custom "$url" > "$dump.partial" || fail "pg_dump failed: no backup was made"
$THROUGH pg_restore --list < "$dump.partial" > /dev/null || fail "the dump cannot be read: no backup was made"
sync "$dump.partial"
(cd "$folder" && sha256sum "$name.partial" | sed 's/\.partial$//' > "$name.sha256")
mv "$dump.partial" "$dump"
sync "$folder"
dumps "$folder" | head -n "-$keep" | while read -r old; do rm -f "$old" "$old.sha256"; done
# For the alert IntermissionBackupOld.
[ -z "${DATA_DIR:-}" ] || touch "$DATA_DIR/last-backup"
echo "$dump"
