<?php
// Registers a device, sends to its user, and follows the job to its end.
//
//     apt-get install php-cli php-redis
//     php send.php

$url = getenv('PUSHPOOL_REDIS_URL') ?: 'redis://127.0.0.1:6379';

$device = [
    'app' => 'shop',
    'user' => 'php-ann',
    'network' => 'apns',
    'token' => 'a1b2c3d4e503',
];

$job = [
    'id' => 'hello-php',
    'app' => 'shop',
    'audience' => ['users' => ['php-ann']],
    'notification' => ['title' => 'Hello', 'body' => 'From PHP'],
];

function follow(Redis $redis, array $job, int $timeoutSeconds = 60): array
{
    $deadline = time() + $timeoutSeconds;
    while (time() < $deadline) {
        $record = $redis->hGetAll("pushpool:job:{$job['app']}:{$job['id']}");
        if (in_array($record['state'] ?? '', ['done', 'cancelled'], true)) {
            return $record;
        }
        if (($record['state'] ?? '') === 'refused') {
            throw new RuntimeException("{$job['id']} was refused: {$record['field']} {$record['message']}");
        }
        usleep(100_000);
    }
    throw new RuntimeException("{$job['id']} has not ended. Look at: pushpool status");
}

$redis = new Redis();
if (str_starts_with($url, 'unix://')) {
    $redis->connect(substr($url, 7));
} else {
    $redis->connect(parse_url($url, PHP_URL_HOST), parse_url($url, PHP_URL_PORT) ?: 6379);
}

// Repeating either call is harmless.
$answer = $redis->rawCommand('FCALL', 'pushpool_install', 2, 'pushpool', 'pushpool:guard', json_encode($device));
if ($answer === false) {
    throw new RuntimeException($redis->getLastError());
}
echo 'device ', json_decode($answer)->status, "\n";
if ($redis->xAdd('pushpool:jobs:normal', '*', ['job' => json_encode($job)]) === false) {
    throw new RuntimeException($redis->getLastError());
}
$record = follow($redis, $job);
echo "{$job['id']} {$record['state']} accepted ", $record['accepted'] ?? 0, "\n";
