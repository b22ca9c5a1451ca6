# Registers a device, sends to its user, and follows the job to its end.
#
#     gem install redis
#     ruby send.rb

require "json"
require "redis"

URL = ENV.fetch("PUSHPOOL_REDIS_URL", "redis://127.0.0.1:6379")

DEVICE = {
  app: "shop",
  user: "ruby-ann",
  network: "apns",
  token: "a1b2c3d4e504"
}

JOB = {
  id: "hello-ruby",
  app: "shop",
  audience: { users: ["ruby-ann"] },
  notification: { title: "Hello", body: "From Ruby" }
}

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def follow(redis, job, timeout_seconds: 60)
  deadline = now + timeout_seconds
  while now < deadline
    record = redis.hgetall("pushpool:job:#{job[:app]}:#{job[:id]}")
    return record if ["done", "cancelled"].include?(record["state"])

    abort "#{job[:id]} was refused: #{record['field']} #{record['message']}" if record["state"] == "refused"
    sleep 0.1
  end
  abort "#{job[:id]} has not ended. Look at: pushpool status"
end

redis = Redis.new(url: URL)
# Repeating either call is harmless. A value that breaks a rule raises an error that names its field.
answer = redis.call("FCALL", "pushpool_install", 2, "pushpool", "pushpool:guard", JSON.generate(DEVICE))
puts "device #{JSON.parse(answer)['status']}"
redis.xadd("pushpool:jobs:normal", { job: JSON.generate(JOB) })
record = follow(redis, JOB)
puts "#{JOB[:id]} #{record['state']} accepted #{record.fetch('accepted', 0)}"
redis.close
