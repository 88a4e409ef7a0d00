<?php

use App\Http\Controllers\AdsController;
use Illuminate\Support\Facades\Route;

// Laravel puts /api before these paths, and checks no CSRF token there.
Route::post('/webhooks/ads', [AdsController::class, 'webhook']);
Route::get('/ads/{userId}', [AdsController::class, 'ad']);
Route::get('/coins/{userId}', [AdsController::class, 'coins']);
