<?php

/**
 * Only a person can earn. Telegram's own accounts stand for many: anonymous administrators, those who write as a channel, and
 * the forwarded posts of channels.
 */
function isPerson(string $userId): bool
{
    return preg_match('/\A[1-9][0-9]{0,19}\z/', $userId) && !in_array($userId, ['1087968824', '136817688', '777000'], true);
}
