<?php

/** Pays each event once, also after a crash. Use a table with a unique event_id where you have a database. */
function pay(string $file, string $eventId, string $userId, int $coins): void
{
    $lock = fopen("$file.lock", 'c');
    if ($lock === false || !flock($lock, LOCK_EX)) {
        throw new RuntimeException("$file cannot be locked");
    }
    $ledger = readLedger($file);
    if (!isset($ledger['paid'][$eventId])) {
        $ledger['paid'][$eventId] = true;
        $ledger['coins']["user $userId"] = ($ledger['coins']["user $userId"] ?? 0) + $coins;
        // Both are written to a new file that replaces the old one, so a crash leaves one or the other.
        $new = fopen("$file.new", 'w');
        $text = json_encode($ledger, JSON_THROW_ON_ERROR);
        $isWritten = $new !== false && fwrite($new, $text) === strlen($text) && fsync($new);
        if (!$isWritten || !rename("$file.new", $file)) {
            throw new RuntimeException("$file cannot be written");
        }
    }
    flock($lock, LOCK_UN);
}

function coins(string $file, string $userId): int
{
    return readLedger($file)['coins']["user $userId"] ?? 0;
}

function readLedger(string $file): array
{
    return is_file($file) ? json_decode(file_get_contents($file), true, 512, JSON_THROW_ON_ERROR) : [];
}
