#!/usr/bin/env bash
# Looks at one webhook by hand: body.json as it came, its three headers, and your token. For people, not for servers.
set -eu
body_file=$1 x_signature=$2 token=$3
expected="sha256=$(openssl dgst -sha256 -hmac "$token" -r < "$body_file" | cut -d' ' -f1)"
if [ "$expected" = "$x_signature" ]; then echo genuine; else echo refused; fi
