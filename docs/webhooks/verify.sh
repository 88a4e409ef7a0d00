#!/usr/bin/env bash
# bash verify.sh body.json "$x_signature" "$AD_API_TOKEN": for people, not for servers. The token shows in the list of processes.
set -eu
body_file=$1 x_signature=$2 token=$3
expected="sha256=$(openssl dgst -sha256 -hmac "$token" -r < "$body_file" | cut -d' ' -f1)"
if [ "$expected" = "$x_signature" ]; then echo genuine; else echo refused; fi
