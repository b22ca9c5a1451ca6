"""Sends a campaign to a segment: the users in a Redis SET, of any number.

    python3 campaign.py
"""

import redis

from send import URL, enqueue, follow, register

USERS = [f"vip-{number}" for number in range(1000)]

CAMPAIGN = {
    "id": "vip-sale",
    "app": "shop",
    "audience": {"users_key": "segment:vip"},
    "notification": {"title": "For you first", "body": "The sale begins today."},
    "filter": {"not": {"language": ["ja"]}},
    "ttl_seconds": 86400,
}


def fill(client):
    """Your own program fills the key. Keep the key until the campaign has ended."""
    client.sadd("segment:vip", *USERS)


with redis.Redis.from_url(URL, decode_responses=True) as client:
    for number, user in enumerate(USERS):
        register(client, {
            "app": "shop",
            "user": user,
            "network": "fcm",
            "token": f"cX1-token-of-{user}",
            "language": "ja" if number % 10 == 0 else "en",
        })
    fill(client)
    enqueue(client, CAMPAIGN)
    record = follow(client, CAMPAIGN)
    # A counter that is missing is 0.
    counts = [
        f"{outcome} {record[outcome]}"
        for outcome in ("accepted", "rejected", "uninstalled", "expired", "skipped", "failed")
        if int(record.get(outcome, 0)) > 0
    ]
    print(f"{CAMPAIGN['id']} {record['state']}: {', '.join(counts)}, of {record['total']}")
