import LocalServices

/// Row 21: a push network with many addresses of which one is of use, slowly; another app's name servers that are
/// silent; connections that are lost meanwhile, to the network and to Redis.
struct AddressRow: MatrixRow {
  let number = 21
  let fault = "addresses that refuse, are dead or silent; silent name servers"

  private static let useless = 15
  private static let silentApps = 9
  private static let cuts = 5
  /// Each way, so that a TLS handshake takes twice as long.
  private static let delayMs: UInt64 = 400
  private static let recoverySeconds = 20.0

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    guard let trial = trial.withDebugWorkers() else {
      result.notRun =
        "it needs a debug build, which takes host names from the environment: `swift build --product pushpool`"
      return result
    }
    var options = StageOptions()
    options.users = trial.users
    options.workers = 0
    options.redis.hasProxy = true
    options.hasProviderProxy = true
    options.redis.proxyHost = "redis.test"
    for number in 1...Self.silentApps { options.hosts["other\(number)"] = "silent\(number).test" }
    options.otherApps = options.hosts.keys.sorted()
    let limitSeconds = trial.limit(Self.recoverySeconds)
    return try await ChaosStage.with(trial, options) { stage in
      guard let network = stage.providerProxy, let redis = stage.redisProxy else { return result }
      let (hosts, traps) = try Self.hosts(options, port: network.port)
      await network.set(.delay(ms: Self.delayMs...Self.delayMs))
      for _ in 0..<2 { try await stage.fleet.start(environment: ["PUSHPOOL_HOSTS": hosts]) }
      try await Self.enqueueForOthers(stage)
      let cuts = trial.scaled(Self.cuts, atLeast: 2)
      let waits = try await stage.underLoad { stage in
        trial.say("the first connections")
        var waits = [try await stage.secondsUntilProgress(patienceSeconds: limitSeconds + 10)]
        await network.set(.none)
        for cut in 1...cuts {
          trial.say("cut \(cut) of \(cuts)")
          await network.cut()
          await redis.cut()
          waits.append(try await stage.secondsUntilProgress(patienceSeconds: limitSeconds + 10))
        }
        return waits
      }
      for seconds in waits { result.noteRecovery(seconds) }
      result.note("first pushes after \(tenths(waits[0])) s")
      let reckoning = try stage.reckon(try await stage.drain(hurrying: true))
      result.runs = cuts + 1
      result.take(reckoning, duplicatesMax: await network.breaks * options.streams)
      result.expect(reckoning.failed == 0, "\(reckoning.failed) pushes were given up")
      result.expectRecovery(within: limitSeconds)
      withExtendedLifetime(traps) {}
      return result
    }
  }

  /// The names for the workers, and what keeps the addresses useless.
  private static func hosts(
    _ options: StageOptions, port: UInt16
  ) throws -> (text: String, traps: [UselessAddress]) {
    let kinds = UselessAddress.Kind.allCases
    var addresses: [String] = []
    var traps: [UselessAddress] = []
    for number in 0..<useless {
      addresses.append("127.0.0.\(number + 2)")
      traps.append(
        try UselessAddress(kinds[number % kinds.count], address: addresses[number], port: port))
    }
    addresses.append("127.0.0.1")
    let silent = options.hosts.values.sorted().map { ";\($0)=" }.joined()
    return ("localhost=\(addresses.joined(separator: ","));redis.test=127.0.0.1\(silent)", traps)
  }

  /// A job for each of the other apps, so that their hosts are looked up. It expires, as nobody can send it.
  private static func enqueueForOthers(_ stage: ChaosStage) async throws {
    for app in stage.options.otherApps {
      let crowd = Crowd(app: app, count: 1, prefix: "d0")
      try await stage.install(crowd)
      try await stage.enqueue(0..<1, to: crowd, more: #","ttl_seconds":20"#)
    }
  }
}
