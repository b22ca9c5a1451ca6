// Registers a device, sends to its user, and follows the job to its end.
//
//     npm install redis
//     node send.js

const { createClient } = require("redis");
const { setTimeout: sleep } = require("node:timers/promises");

const url = process.env.PUSHPOOL_REDIS_URL ?? "redis://127.0.0.1:6379";

const device = {
  app: "shop",
  user: "node-ann",
  network: "apns",
  token: "a1b2c3d4e502",
};

const job = {
  id: "hello-node",
  app: "shop",
  audience: { users: ["node-ann"] },
  notification: { title: "Hello", body: "From Node" },
};

async function follow(client, job, timeoutMs = 60_000) {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const record = await client.hGetAll(`pushpool:job:${job.app}:${job.id}`);
    if (record.state === "done" || record.state === "cancelled") return record;
    if (record.state === "refused") throw new Error(`${job.id} was refused: ${record.field} ${record.message}`);
    await sleep(100);
  }
  throw new Error(`${job.id} has not ended. Look at: pushpool status`);
}

async function main() {
  const client = createClient(url.startsWith("unix://") ? { socket: { path: url.slice(7) } } : { url });
  await client.connect();
  try {
    // Repeating either call is harmless.
    const answer = await client.fCall("pushpool_install", {
      keys: ["pushpool", "pushpool:guard"],
      arguments: [JSON.stringify(device)],
    });
    console.log("device", JSON.parse(answer).status);
    await client.xAdd("pushpool:jobs:normal", "*", { job: JSON.stringify(job) });
    const record = await follow(client, job);
    console.log(job.id, record.state, "accepted", record.accepted ?? 0);
  } finally {
    await client.quit();
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
