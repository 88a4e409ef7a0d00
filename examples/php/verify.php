<?php

/** $body: the bytes as they came. $tokens: yours, the new one and the old one while you rotate. $now: unix seconds. */
function isGenuine(array $headers, string $body, array $tokens, int $now): bool
{
    $xSignature = $headers['x-signature'] ?? '';
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if (!preg_match('/\Asha256=[0-9a-f]{64}\z/', $xSignature) || str_contains($id, '.')) {
        return false;
    }
    if (!preg_match('/\A[0-9]{1,12}\z/', $timestamp) || abs($now - (int) $timestamp) > 300) {
        return false;
    }
    $hasX = false;
    $hasStandard = false;
    foreach ($tokens as $token) {
        if (!is_string($token) || $token === '') { // From a variable that is not set: anybody could sign with it.
            continue;
        }
        $hasX = hash_equals('sha256=' . hash_hmac('sha256', $body, $token), $xSignature) || $hasX;
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $token, true));
        foreach (explode(' ', $headers['webhook-signature'] ?? '') as $received) {
            $hasStandard = hash_equals($expected, $received) || $hasStandard;
        }
    }
    return $hasX && $hasStandard;
}
