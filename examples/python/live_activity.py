"""Updates a Live Activity and ends it.

    python3 live_activity.py

The app on the device starts the activity, and sends its push token to your backend.
"""

import json
import time

import redis

from send import URL, enqueue, follow, register

# The activity has a user of its own. So a push updates this activity alone.
ACTIVITY = {
    "app": "shop",
    "user": "activity:order-4711",
    "network": "apns",
    "kind": "liveactivity",
    "token": "5e11a3f0d9c2",
}


def push(client, number, event, stops_left):
    """Each push is a job. The device drops an update whose timestamp is older than the last one's."""
    job = {
        "id": f"order-4711-{int(time.time())}-{number}",
        "app": "shop",
        "audience": {"users": [ACTIVITY["user"]]},
        "apns": {
            "push_type": "liveactivity",
            "priority": 10,
            "payload": {
                "aps": {
                    "timestamp": int(time.time()),
                    "event": event,
                    "content-state": {"stops_left": stops_left},
                }
            },
        },
        "ttl_seconds": 3600,
    }
    enqueue(client, job)
    record = follow(client, job)
    print(event, record["state"], "accepted", record.get("accepted", 0))


with redis.Redis.from_url(URL, decode_responses=True) as client:
    print("activity", register(client, ACTIVITY)["status"])
    push(client, 1, "update", stops_left=3)
    push(client, 2, "end", stops_left=0)
    gone = {name: ACTIVITY[name] for name in ("app", "network", "token", "user")}
    print("activity", json.loads(
        client.fcall("pushpool_uninstall", 2, "pushpool", "pushpool:guard", json.dumps(gone)))["status"])
