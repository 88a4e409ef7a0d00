<?php

// Where no php.ini says so, PHP shows an uncaught error to the sender and answers 200: the event would count as paid.
ini_set('display_errors', '0');
require __DIR__ . '/verify.php';
require __DIR__ . '/refusal.php';
require __DIR__ . '/person.php';
require __DIR__ . '/ledger.php';

$token = getenv('AD_API_TOKEN') ?: throw new RuntimeException('AD_API_TOKEN is not set');
$ledger = getenv('LEDGER') ?: __DIR__ . '/coins.json';
[, $what, $userId] = explode('/', parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) . '//');

if ($what === 'webhooks' && $_SERVER['REQUEST_METHOD'] === 'POST') {
    $body = file_get_contents('php://input', length: 65536);
    $request = [array_change_key_case(getallheaders()), $body, [$token], time()];
    if (!isGenuine(...$request)) {
        answer(401, refusalOf(...$request));
    }
    $event = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
    if (!($event['test'] ?? false)) {
        // Stored before the answer: everything but a 2xx makes the service send the event again.
        pay($ledger, $event['event_id'], $event['user_tg_id'], 10);
    }
    answer(200, ['status' => 'ok']);
}
// Your bot would call these two; here anybody on this machine may.
if ($what === 'ads') {
    if (!isPerson($userId)) {
        refuse(400, 'NOT_A_PERSON', 'create the code for a person, after a command in the private chat');
    }
    answer(200, createCode($token, $userId));
}
if ($what === 'coins') {
    answer(200, ['coins' => coins($ledger, $userId)]);
}
refuse(404, 'NOT_FOUND', 'webhooks are sent to /webhooks/ads with POST');

/** `miniapp_url` goes into an inline web_app button, `direct_link` to users whose messenger has no mini-apps. */
function createCode(string $token, string $userId): array
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => ["Authorization: Bearer $token", 'Content-Type: application/json'],
        'content' => json_encode(['bot_id' => getenv('BOT_ID'), 'user_tg_id' => $userId]),
        'timeout' => 10,
        'ignore_errors' => true,
    ]]);
    $text = file_get_contents(getenv('AD_SERVICE_URL') . '/client/v1/codes', false, $context);
    if ($text === false || !str_contains($http_response_header[0], ' 200')) {
        // A proxy answers a page, which no message should show.
        $reason = json_decode($text ?: '', true)['error']['message'] ?? 'not with an error of its own';
        refuse(502, 'UNEXPECTED_ANSWER', "the ad service answered: $reason");
    }
    return json_decode($text, true, 512, JSON_THROW_ON_ERROR);
}

function refuse(int $status, string $code, string $message): never
{
    answer($status, ['error' => ['code' => $code, 'message' => $message]]);
}

function answer(int $status, array $content): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($content);
    exit;
}
