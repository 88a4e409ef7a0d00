<?php

// Runs this folder on Laravel's own components, without the rest of the framework: `php -S 127.0.0.1:3000 serve.php`.
// Your project has all of this already. They come from Composer (`vendor`) or from Debian's packages (`/usr/share/php`).

use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Events\Dispatcher;
use Illuminate\Http\Client\Factory;
use Illuminate\Http\Request;
use Illuminate\Routing\Router;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Facades\Schema;

// The components of Laravel 8 warn about newer versions of PHP.
error_reporting(E_ALL & ~E_DEPRECATED);
// Where no php.ini says so, PHP shows an uncaught error to the sender and answers 200: the event would count as paid.
ini_set('display_errors', '0');
if (is_file(__DIR__ . '/vendor/autoload.php')) {
    require __DIR__ . '/vendor/autoload.php';
} else {
    foreach (['Config', 'Container', 'Database', 'Events', 'Http', 'Routing', 'Support'] as $component) {
        require_once "Illuminate/$component/autoload.php";
    }
    require_once 'GuzzleHttp/autoload.php';
}
require __DIR__ . '/../php/verify.php';
require __DIR__ . '/../php/refusal.php';
require __DIR__ . '/../php/person.php';
require __DIR__ . '/app/Http/Controllers/AdsController.php';

function config(string $key): mixed
{
    return Container::getInstance()->make('config')->get($key);
}

$container = Container::getInstance();
Facade::setFacadeApplication($container);
$container->instance('config', new Repository([
    'services' => ['ads' => [
        'url' => getenv('AD_SERVICE_URL'),
        'token' => getenv('AD_API_TOKEN') ?: throw new RuntimeException('AD_API_TOKEN is not set'),
        'bot_id' => getenv('BOT_ID'),
    ]],
]));
$container->singleton(Factory::class);
$database = new Manager($container);
$file = getenv('DATABASE') ?: __DIR__ . '/coins.sqlite';
touch($file);
$database->addConnection(['driver' => 'sqlite', 'database' => $file]);
$container->instance('db', $database->getDatabaseManager());
$container->bind('db.schema', fn () => $database->getConnection()->getSchemaBuilder());
if (!Schema::hasTable('ad_payments')) {
    (require __DIR__ . '/database/migrations/2026_01_01_000000_create_ad_payments_table.php')->up();
}
$router = new Router(new Dispatcher($container), $container);
$container->instance('router', $router);
require __DIR__ . '/routes/api.php';
$request = Request::capture();
$container->instance(Request::class, $request);
$router->dispatch($request)->send();
