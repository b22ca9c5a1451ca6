import LocalServices
import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// A backend whose own client knows clusters (redis-py) registers devices while the cluster moves their slot to another node.
@Suite struct RegistrationMoveTests {
  private static let prefix = "{pp}"
  private static let python = "/usr/bin/python3"
  private static let patienceMs: UInt64 = 120_000

  /// Installs devices one after the other, and knows of each what the answer must be. A call is repeated as the documents say while
  /// the slot is being moved. Once the file is there that tells it to stop, it asks who has which devices.
  private static let program = """
    import json, os, sys, threading
    from redis.cluster import RedisCluster
    from redis.exceptions import RedisError

    port, stop, keys = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    lock = threading.Lock()
    told = {"calls": 0, "wrong": []}

    def note(name, what):
        with lock:
            told[name] += what

    def call(client, function, document):
        while True:
            note("calls", 1)
            try:
                return json.loads(client.fcall(function, len(keys), *keys, json.dumps(document)))
            except RedisError as error:
                if "TRYAGAIN" not in str(error) and "TTL exhausted" not in str(error):
                    raise

    def register(number):
        client = RedisCluster(host="127.0.0.1", port=port)
        owners = {}
        turn = 0
        while not os.path.exists(stop):
            # Each token twice in a row, and then to another user.
            token = "%02x%06x" % (number, turn // 2 % 40)
            user = "user-%d-%d" % (number, turn // 2 * 7 % 30)
            turn += 1
            expected = "created"
            if token in owners:
                expected = "updated" if owners[token] == user else "moved"
            owners[token] = user
            status = call(client, "pushpool_install",
                          {"app": "shop", "user": user, "network": "apns", "token": token})["status"]
            if status != expected:
                note("wrong", ["%s of %s: %s in place of %s" % (token, user, status, expected)])
        for user in set(owners.values()):
            found = call(client, "pushpool_devices", {"app": "shop", "user": user})
            tokens = sorted(device["token"] for device in found)
            if tokens != sorted(token for token in owners if owners[token] == user):
                note("wrong", ["%s has %s" % (user, tokens)])

    def run(number):
        try:
            register(number)
        except Exception as error:
            note("wrong", [repr(error)])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told["wrong"] = told["wrong"][:20]
    print(json.dumps(told))
    """

  private static func hasRedisPy() async -> Bool {
    guard
      let child = try? ChildProcess(
        python, ["-c", "from redis.cluster import RedisCluster"], output: .discard, error: .discard)
    else { return false }
    return await child.waitForExit(timeoutMs: 30_000) == .code(0)
  }

  /// The report of a backend that ran while the body did.
  private struct Told {
    let calls: Int
    /// Answers that were not those of a cluster that has each device once, in a sentence each.
    let wrong: [String]
  }

  private static func withBackend(
    at node: RedisServer, keys: [String], _ body: () async throws -> Void
  ) async throws -> Told {
    let folder = try TemporaryFolder()
    let (file, stop) = (folder.file("backend.py"), folder.file("stop"))
    try PrivateFile.write(program, to: file)
    let port = try #require(node.port)
    let child = try ChildProcess(
      python, [file, "\(port)", stop] + keys, folder: folder.path, output: .pipe, error: .discard)
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    try PrivateFile.write("", to: stop)
    #expect(await child.waitForExit(timeoutMs: patienceMs) == .code(0))
    let output = await child.standardOutput?.rest(timeoutMs: patienceMs) ?? ""
    try result.get()
    let report = try #require(JSONParser().parse(output).objectValue, "\(output)")
    return Told(
      calls: Int(try #require(report["calls"]?.int64Value)),
      wrong: try #require(report["wrong"]?.arrayValue).compactMap(\.stringValue))
  }

  /// A cluster of which two nodes have the functions, and the two.
  private static func withCluster(
    functions: String = RegistrationLibrary.current.source,
    _ body: (RedisCluster, _ source: RedisServer, _ target: RedisServer) async throws -> Void
  ) async throws {
    try await RedisCluster.with(.init(key: prefix)) { cluster in
      let source = try #require(try await cluster.owner())
      let target = try #require(cluster.nodes.first { $0.port != source.port })
      for node in [source, target] {
        let answer = try await node.command("FUNCTION", "LOAD", functions)
        try #require(answer.hasPrefix(RegistrationLibrary.namePrefix), "\(answer)")
      }
      try await body(cluster, source, target)
    }
  }

  /// A number of INFO; 0 while it does not stand there.
  private static func figure(
    _ name: String, _ section: String, at node: RedisServer
  ) async throws -> Int {
    let info = try await node.command("INFO", section)
    let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name)=") }
    let digits = line?.dropFirst(name.utf8.count + 1).prefix(while: \.isNumber)
    return digits.flatMap { Int($0) } ?? 0
  }

  private static func eventually(_ what: String, _ isSo: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .milliseconds(patienceMs)
    while try await !isSo() {
      try #require(ContinuousClock.now < deadline, "never happened: \(what)")
      try await ContinuousClock().sleep(for: .milliseconds(10))
    }
  }

  @Test(
    "devices that are registered while the slot is moved are each there once",
    .enabled("redis-py is not installed", hasRedisPy))
  func registers() async throws {
    try await Self.withCluster { cluster, source, target in
      let keys = [Self.prefix, "\(Self.prefix):guard"]
      let told = try await Self.withBackend(at: source, keys: keys) {
        func calls(_ node: RedisServer) async throws -> Int {
          try await Self.figure("cmdstat_fcall:calls", "commandstats", at: node)
        }
        func refused() async throws -> Int {
          try await Self.figure("errorstat_TRYAGAIN:count", "errorstats", at: target)
        }
        try await Self.eventually("devices are there") { try await calls(source) > 400 }
        let move = try await SlotMove.begin(cluster, to: target)
        // While the target has nothing yet, and while it has a part.
        for part in 0..<3 {
          let before = try await refused()
          try await Self.eventually("the target refuses calls") { try await refused() > before + 8 }
          if part < 2 { #expect(try await move.moveKeys(20) == 20) }
        }
        #expect(try await move.count(at: target) == 40)
        try await move.moveAll(20)
        try await move.end()
        let before = try await calls(target)
        try await Self.eventually("the target serves") { try await calls(target) > before + 400 }
      }
      #expect(told.wrong.isEmpty, "\(told.wrong)")
      #expect(told.calls > 800)
    }
  }

  /// Else the test above would show nothing: without the second key and its check, the same ends with devices that are there twice.
  @Test(
    "with one key and no check a device is created twice, and the slot cannot be moved",
    .enabled("redis-py is not installed", hasRedisPy))
  func createsTwice() async throws {
    let sound = RegistrationLibrary.current.source
    let condition = "if not is_node then return nil end"
    let parts = sound.split(separator: condition, omittingEmptySubsequences: false)
    try #require(parts.count == 2, "the functions have no such line: \(condition)")
    let unguarded = parts.joined(separator: "if true then return nil end")
    try await Self.withCluster(functions: unguarded) { cluster, source, target in
      var failure: (any Error)?
      let told = try await Self.withBackend(at: source, keys: [Self.prefix]) {
        try await Self.eventually("devices are there") {
          try await Self.figure("cmdstat_fcall:calls", "commandstats", at: source) > 400
        }
        let move = try await SlotMove.begin(cluster, to: target)
        try await Self.eventually("the target carries calls out") {
          try await move.count(at: target) > 0
        }
        do { try await move.moveAll(20) } catch { failure = error }
      }
      let reason = failure.map { "\($0)" } ?? "nothing failed"
      #expect(reason.contains("BUSYKEY"), "\(reason)")
      #expect(told.wrong.contains { $0.contains("created in place of") }, "\(told)")
    }
  }
}
