<?php

/**
 * The body of a 401: why isGenuine() refused, in the form that `doctor` and the ad service read. It says nothing of use to a
 * forger, and what a genuine sender needs to know.
 */
function refusalOf(array $headers, string $body, array $tokens, int $now): array
{
    return ['error' => [
        'code' => 'BAD_SIGNATURE',
        'message' => 'not genuine: another token, a changed body, or a clock that is more than 5 minutes off',
        'details' => refusalFacts($headers, $body, $tokens, $now),
    ]];
}

function refusalFacts(array $headers, string $body, array $tokens, int $now): array
{
    $xSignature = $headers['x-signature'] ?? null;
    if ($xSignature === null) {
        return ['fault' => 'missing-signature'];
    }
    if (!preg_match('/\Asha256=[0-9a-f]{64}\z/', $xSignature)) {
        return ['fault' => 'malformed-signature'];
    }
    $tokens = array_filter($tokens, fn ($token) => is_string($token) && $token !== '');
    $isSigned = fn (string $text, array $by) => in_array(
        $xSignature,
        array_map(fn ($token) => 'sha256=' . hash_hmac('sha256', $text, $token), $by),
        true,
    );
    if (!$isSigned($body, $tokens)) {
        $blanks = " \t\r\n\v\f\"'";
        return ['fault' => 'wrong-signature', 'cause' => match (true) {
            $tokens === [] => 'no-token',
            $isSigned($body, array_map(fn ($token) => trim($token, $blanks), $tokens)) => 'padded-token',
            $isSigned(trim($body), $tokens) => 'changed-body',
            $body === '' => 'empty-body',
            default => 'unknown',
        }];
    }
    $fault = 'wrong-webhook-signature';
    $patterns = [
        'webhook-id' => '/\A[\x21-\x2d\x2f-\x7e]{1,256}\z/',
        'webhook-timestamp' => '/\A(0|[1-9][0-9]{0,11})\z/',
        'webhook-signature' => '/\A.{1,4096}\z/s',
    ];
    $missing = array_values(array_diff(array_keys($patterns), array_keys($headers)));
    if (count($missing) === count($patterns)) {
        return ['fault' => $fault, 'cause' => 'no-headers'];
    }
    if ($missing !== []) {
        return ['fault' => $fault, 'cause' => 'missing-header', 'header' => $missing[0]];
    }
    $timestamp = $headers['webhook-timestamp'];
    if (preg_match('/\A[1-9][0-9]{12}\z/', $timestamp)) {
        return ['fault' => $fault, 'cause' => 'milliseconds'];
    }
    foreach ($patterns as $name => $pattern) {
        if (!preg_match($pattern, $headers[$name])) {
            return ['fault' => $fault, 'cause' => 'malformed-header', 'header' => $name];
        }
    }
    // The signature is right at the time that it names, or at none.
    if (!isGenuine($headers, $body, $tokens, (int) $timestamp)) {
        return ['fault' => $fault, 'cause' => 'mismatch'];
    }
    $age = $now - (int) $timestamp;
    return ['fault' => $age < 0 ? 'future' : 'stale', 'seconds' => abs($age)];
}
