<?php

namespace App\Http\Controllers;

use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Http;
use RuntimeException;

class AdsController
{
    public function webhook(Request $request): JsonResponse
    {
        $headers = array_map(fn ($values) => implode(', ', $values), $request->headers->all());
        // The signature covers the bytes as they arrived, not what a parser made of them.
        $body = $request->getContent();
        $token = config('services.ads.token') ?: throw new RuntimeException('AD_API_TOKEN is not set');
        if (!isGenuine($headers, $body, [$token], time())) {
            return new JsonResponse(refusalOf($headers, $body, [$token], time()), 401);
        }
        $event = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        if (!($event['test'] ?? false)) {
            // The unique key: a webhook that is delivered twice pays once. Stored before the answer: everything but a 2xx
            // makes the ad service send the event again.
            $payment = ['event_id' => $event['event_id'], 'user_id' => $event['user_tg_id'], 'coins' => 10];
            DB::table('ad_payments')->upsert($payment, ['event_id'], ['event_id']);
        }
        return new JsonResponse(['status' => 'ok']);
    }

    // Your bot would call these two; here anybody on this machine may.
    public function ad(string $userId): JsonResponse
    {
        if (!isPerson($userId)) {
            $fault = ['code' => 'NOT_A_PERSON', 'message' => 'create the code for a person, in the private chat'];
            return new JsonResponse(['error' => $fault], 400);
        }
        $answer = Http::withToken(config('services.ads.token'))
            ->timeout(10)
            ->post(config('services.ads.url') . '/client/v1/codes', [
                'bot_id' => config('services.ads.bot_id'),
                'user_tg_id' => $userId,
            ]);
        if ($answer->status() !== 200) {
            // A proxy answers a page, which no message should show.
            $reason = $answer->json('error.message') ?? 'not with an error of its own';
            return new JsonResponse(['error' => "the ad service answered: $reason"], 502);
        }
        return new JsonResponse($answer->json());
    }

    public function coins(string $userId): JsonResponse
    {
        return new JsonResponse(['coins' => (int) DB::table('ad_payments')->where('user_id', $userId)->sum('coins')]);
    }
}
