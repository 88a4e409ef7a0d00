#!/usr/bin/env bash
# bash send.sh http://127.0.0.1:3000/webhooks/ads body.json "$AD_API_TOKEN": what your receiver answers to a webhook of your own.
set -eu
url=$1 body_file=$2 token=$3
id="evt_by-hand-$(date +%s)-$$" timestamp=$(date +%s)
x_signature=$(openssl dgst -sha256 -hmac "$token" -r < "$body_file" | cut -d' ' -f1)
standard=$({ printf '%s.%s.' "$id" "$timestamp"; cat "$body_file"; } | openssl dgst -sha256 -hmac "$token" -binary | base64)
curl -sS --max-time 15 -w '\nanswered %{http_code}\n' "$url" --data-binary "@$body_file" \
  -H 'Content-Type: application/json' -H "X-Signature: sha256=$x_signature" \
  -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" -H "webhook-signature: v1,$standard"
