"""Registers a device, sends to its user, and follows the job to its end.

    pip install redis
    python3 send.py
"""

import json
import os
import sys
import time

import redis

URL = os.environ.get("PUSHPOOL_REDIS_URL", "redis://127.0.0.1:6379")

DEVICE = {
    "app": "shop",
    "user": "python-ann",
    "network": "apns",
    "token": "a1b2c3d4e501",
}

JOB = {
    "id": "hello-python",
    "app": "shop",
    "audience": {"users": ["python-ann"]},
    "notification": {"title": "Hello", "body": "From Python"},
}


def register(client, device):
    """Repeating it is harmless. A value that breaks a rule raises an error that names its field."""
    return json.loads(client.fcall("pushpool_install", 2, "pushpool", "pushpool:guard", json.dumps(device)))


def enqueue(client, job):
    """Repeating it is harmless too: the same id with the same content is ignored."""
    client.xadd("pushpool:jobs:normal", {"job": json.dumps(job)})


def follow(client, job, timeout_seconds=60):
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        record = client.hgetall(f"pushpool:job:{job['app']}:{job['id']}")
        if record.get("state") in ("done", "cancelled"):
            return record
        if record.get("state") == "refused":
            sys.exit(f"{job['id']} was refused: {record['field']} {record['message']}")
        time.sleep(0.1)
    sys.exit(f"{job['id']} has not ended. Look at: pushpool status")


if __name__ == "__main__":
    with redis.Redis.from_url(URL, decode_responses=True) as client:
        print("device", register(client, DEVICE)["status"])
        enqueue(client, JOB)
        record = follow(client, JOB)
        print(JOB["id"], record["state"], "accepted", record.get("accepted", 0))
