<?php

use Illuminate\Database\Migrations\Migration;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Support\Facades\Schema;

return new class extends Migration
{
    public function up(): void
    {
        Schema::create('ad_payments', function (Blueprint $table) {
            $table->string('event_id', 64)->primary();
            $table->string('user_id', 20)->index();
            $table->integer('coins');
        });
    }

    public function down(): void
    {
        Schema::dropIfExists('ad_payments');
    }
};
