#!/usr/bin/env bash
# bash earn.sh 123456789: makes a code for a user, shows its addresses, and waits until it earns. Needs curl alone.
# AD_SERVICE_URL, AD_API_TOKEN and BOT_ID come from the environment.
set -euo pipefail
user_id=$1 waits_seconds=${2:-600}

# The token is read from a file descriptor, since arguments show in the list of processes.
call() {
  curl -sS --fail-with-body --max-time 15 -H @<(printf 'Authorization: Bearer %s\n' "$AD_API_TOKEN") \
    -H 'Content-Type: application/json' "$AD_SERVICE_URL/client/v1$1" "${@:2}"
}
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

created=$(call /codes -d "{\"bot_id\":\"$BOT_ID\",\"user_tg_id\":\"$user_id\"}")
code=$(field code <<< "$created")
echo "mini-app:    $(field miniapp_url <<< "$created")"
echo "direct link: $(field direct_link <<< "$created")"

# Webhooks tell it at once: this is for trying it by hand.
echo "waiting:     up to $waits_seconds s, until user $user_id has watched the ad of the mini-app or opened the direct link"
until=$((SECONDS + waits_seconds))
while ((SECONDS < until)); do
  details=$(call "/codes/$code")
  event=$(field event <<< "$details")
  if [ -n "$event" ]; then
    echo "earned:      $event"
    exit 0
  fi
  sleep 1
done
echo "nothing was earned within $waits_seconds s" >&2
exit 1
