<?php

require __DIR__ . '/../../examples/php/verify.php';

// Takes webhooks as lines of JSON { headers, body (base64), tokens, now }, answers each with a line.
while (($line = fgets(STDIN)) !== false) {
    $webhook = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    $isOurs = isGenuine($webhook['headers'], base64_decode($webhook['body']), $webhook['tokens'], $webhook['now']);
    echo $isOurs ? "genuine\n" : "refused\n";
}
