package import Model
package import PushpoolConfiguration
package import Reactor
package import Redis
package import Store

/// The door by which a program beside the workers uses the stores of a fleet: a connection to each shard, which comes back by
/// itself, and sentences about what fails. An actor that runs on the loop of its connections.
///
/// Where there are several shards, a session that waits connects to a shard when it is first needed, so that one which is
/// away holds nobody up who needs another.
package actor StoreSession {
  package nonisolated let loop: EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    loop.asUnownedSerialExecutor()
  }

  /// The shards of the fleet, by which entries are read that somebody names, and which app lives in which.
  package nonisolated let placement: Placement
  package nonisolated var shards: [ShardID] { placement.shards }
  let client: Client
  /// The documented user with the fewest rights that may do what the session is for.
  let user: DocumentedUser
  /// Whether plain commands that only read are all that it is for, so that a replica will do.
  private let onlyReads: Bool
  /// Whether it waits until a shard can be used that is needed first.
  private let isPatient: Bool
  /// One for each shard; empty when the session is closed.
  private var links: [ShardLink] = []
  /// The fleet's own store, over the connection to the home.
  private var fleet: FleetStore?

  /// The program that asks.
  package struct Client: Sendable {
    /// The name that Redis shows it by (`CLIENT LIST`).
    let name: String
    let version: String

    package init(name: String, version: String) {
      self.name = name
      self.version = version
    }
  }

  /// Connects, or says at once why that cannot be.
  /// - Parameters:
  ///   - configuration: of which it reads where the shards are, and which apps live there. With several shards it connects
  ///     to one when that is first needed.
  ///   - loop: one that runs, and outlives the session.
  ///   - user: whose rights the session needs. The functions that an operator or the server calls are loaded where they are missing.
  ///   - onlyReads: whether it reads alone, by plain commands, though a reader and a dashboard lack the rights.
  package static func open(
    _ configuration: Configuration, as user: DocumentedUser, onlyReads: Bool = false,
    for client: Client, on loop: EventLoop
  ) async throws(StoreFailure) -> StoreSession {
    let session = StoreSession(
      configuration.placement, client: client, user: user, onlyReads: onlyReads, isPatient: true,
      on: loop)
    try await session.makeLinks(configuration.shards)
    if session.shards.count == 1 { try await session.connectOnly() }
    return session
  }

  /// Returns at once, and connects to all shards meanwhile: for a program that is there before Redis is, and stays when Redis
  /// goes. Until there is a connection, and whenever there is none, whatever is asked of a shard fails at once.
  /// - Parameters:
  ///   - user, client, loop: as of `open`.
  ///   - onChange: called on the loop with nil each time a shard can be used, and with the reason each time its connection is
  ///     lost or cannot be made, once per attempt.
  package static func opening(
    _ configuration: Configuration, as user: DocumentedUser, for client: Client,
    on loop: EventLoop, onChange: @escaping @Sendable (ShardID, StoreFailure?) -> Void
  ) async throws(StoreFailure) -> StoreSession {
    let session = StoreSession(
      configuration.placement, client: client, user: user, onlyReads: false, isPatient: false,
      on: loop)
    try await session.makeLinks(configuration.shards)
    await session.connectMeanwhile(onChange)
    return session
  }

  private init(
    _ placement: Placement, client: Client, user: DocumentedUser, onlyReads: Bool,
    isPatient: Bool, on loop: EventLoop
  ) {
    self.loop = loop
    self.placement = placement
    self.client = client
    self.user = user
    self.onlyReads = onlyReads
    self.isPatient = isPatient
  }

  /// Whether the functions are loaded where they are missing.
  private var needsLibrary: Bool { !onlyReads && (user == .operator || user == .server) }

  /// Whether it may write. What only reads may read from a replica whose address somebody gives.
  private var needsPrimary: Bool {
    switch user {
    case .reader, .dashboard: false
    case .worker, .operator, .server, .producer, .registrar: !onlyReads
    }
  }

  // MARK: Connections

  private func makeLinks(_ shards: ShardList) throws(StoreFailure) {
    var links: [ShardLink] = []
    for shard in shards.all { links.append(try link(to: shard)) }
    self.links = links
    guard let home = links.first(where: { $0.id == shards.home }) else { return }
    fleet = FleetStore(connection: home.store.connection, prefix: home.shard.redis.prefix)
  }

  private func link(to shard: ShardConfiguration) throws(StoreFailure) -> ShardLink {
    do {
      var endpoint = try RedisEndpoint(shard.redis)
      endpoint.clientName = client.name
      endpoint.expect(shard.id, prefix: shard.redis.prefix)
      // A reader calls only functions that write nothing.
      let callsFunctions = user == .reader || needsLibrary
      endpoint.needsPrimary = needsPrimary
      return ShardLink(
        shard,
        connection: try RedisConnection(
          loop: loop, endpoint: endpoint,
          library: callsFunctions ? StoreLibrary.library : nil, needsLibrary: needsLibrary))
    } catch {
      throw StoreFailure(.misconfigured, "\(error)")
    }
  }

  private func connectOnly() async throws(StoreFailure) {
    do throws(StoreFailure) { try await connect(links) } catch {
      for link in links { link.close() }
      throw error
    }
  }

  private func connectMeanwhile(_ onChange: @escaping @Sendable (ShardID, StoreFailure?) -> Void) {
    for link in links {
      let (id, place, user) = (link.id, link.shard.place, user)
      link.begin { [weak self] trouble in
        onChange(
          id,
          trouble.map { StoreFailure(.unavailable, "Redis at \(place): \(user.explain($0))") })
        if trouble == nil { Task { await self?.provideFunctions(in: id) } }
      }
    }
  }

  /// Connects to those that are needed for the first time.
  /// - Throws: the first reason why one of them cannot be used.
  private func connect(_ links: [ShardLink]) async throws(StoreFailure) {
    guard isPatient else { return }
    let begun = links.filter { $0.begin() }
    var failure: StoreFailure?
    for link in links {
      if let error = await link.firstFailure() { failure = failure ?? cannotUse(link, error) }
    }
    for link in begun where link.isReady { await provideFunctions(in: link.id) }
    if let failure { throw failure }
  }

  private func provideFunctions(in shard: ShardID) async {
    // For other clients: that it fails is no reason not to do what was asked for.
    guard needsLibrary, let link = links.first(where: { $0.id == shard }) else { return }
    _ = try? await link.store.registration.provide()
  }

  /// The links to the shards of a scope, connected as far as that is waited for; never none.
  func links(in scope: ShardScope) async throws(StoreFailure) -> [ShardLink] {
    guard let first = links.first else { throw Self.closed }
    let chosen =
      switch scope {
      case .app(let app): links.filter { $0.id == placement[app] }
      case .shard(let shard): links.filter { $0.id == shard }
      case .home: links.filter { $0.id == placement.home }
      case .all, .present: links
      }
    guard !chosen.isEmpty else { throw StoreFailure(.invalid, "there is no such shard") }
    do throws(StoreFailure) { try await connect(chosen) } catch {
      // A fleet of one shard has no other to be content with.
      guard scope == .present, links.count > 1 else { throw error }
    }
    guard scope == .present, links.count > 1 else { return chosen }
    let present = links.filter(\.isReady)
    if present.isEmpty { throw absence(of: first) }
    return present
  }

  /// Returns what is unsafe about Redis and not accepted, a sentence each; nothing of one that does not let itself be asked.
  package func risks(in scope: ShardScope) async -> [String] {
    var sentences: [String] = []
    for link in (try? await links(in: scope)) ?? [] {
      let settings = try? await link.store.settings.readAllowed()
      let found = settings?.risks(accepting: link.shard.redis.acceptedRisks) ?? []
      sentences += found.map {
        link.id.isOnly ? $0.sentence : "shard \(link.id.name): \($0.sentence)"
      }
    }
    return sentences
  }

  /// Returns the shards that cannot be used now.
  /// - Parameter present: those that were used.
  package func absences(beside present: [ShardID]) -> [ShardAbsence] {
    links.filter { !present.contains($0.id) }.map {
      ShardAbsence(shard: $0.id, failure: absence(of: $0))
    }
  }

  // MARK: Asking

  /// Runs a body on the session's loop, against the store of one shard: for what is in one shard, as an install.
  /// - Parameters:
  ///   - scope: of one shard. Of several the first is taken.
  ///   - subjects: what it is about, to say which of its keys is wrong.
  package func run<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async throws(StoreFailure) -> Value {
    let link = try await links(in: scope)[0]
    do throws(RedisError) {
      return try await body(link.store)
    } catch {
      throw await failure(error, about: subjects, at: [link])
    }
  }

  /// Begins a body and does not wait for it. Bodies of a shard begin in the order of the calls, each at once: the first
  /// command of each goes out in that order.
  package func begin<Value: Sendable>(
    in shard: ShardID,
    _ body: @escaping @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async throws(StoreFailure) -> Task<Result<Value, RedisError>, Never> {
    let store = try await links(in: .shard(shard))[0].store
    return Task.immediate {
      do throws(RedisError) { return .success(try await body(store)) } catch {
        return .failure(error)
      }
    }
  }

  /// Runs a body on the session's loop, against what the fleet has once.
  /// - Parameter patience: for what may be repeated; by default it is tried once.
  package func atHome<Value: Sendable>(
    with patience: @Sendable () -> Patience = { Patience() },
    _ body: @Sendable (FleetStore) async throws(RedisError) -> Value
  ) async throws(StoreFailure) -> Value {
    let links = try await links(in: .home)
    guard let fleet else { throw Self.closed }
    do throws(OperationError) {
      return try await patience().repeating(at: fleet, body)
    } catch {
      throw await failure(error, about: [], at: links)
    }
  }

  /// Runs a body on the session's loop, against the stores of a scope.
  /// - Parameter subjects: as of `run`.
  package func ask<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(StoreFailure) -> Value {
    try await operate(in: scope, about: subjects) { stores throws(OperationError) in
      do throws(RedisError) { return try await body(stores) } catch { throw .redis(error) }
    }
  }

  /// Runs an operation as `ask`, which may fail otherwise than by Redis.
  /// - Parameter subjects: as of `run`.
  package func operate<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(OperationError) -> Value
  ) async throws(StoreFailure) -> Value {
    var links = try await links(in: scope)
    while true {
      let error: OperationError
      do throws(OperationError) { return try await body(links.map(\.store)) } catch let caught {
        error = caught
      }
      let rest = scope == .present ? await usable(links, after: error, for: body) : []
      guard !rest.isEmpty, rest.count < links.count else {
        throw await failure(error, about: subjects, at: links)
      }
      links = rest
    }
  }

  /// Returns the links of those shards that answer, after a look into all of them has failed: one that is there may be loading its
  /// data, be full, or not let this user read. Each is asked by itself then.
  private func usable<Value: Sendable>(
    _ links: [ShardLink], after error: OperationError,
    for body: @Sendable ([ShardStore]) async throws(OperationError) -> Value
  ) async -> [ShardLink] {
    guard links.count > 1, case .redis(let error) = error, error.isPassing else { return links }
    let present = links.filter(\.isReady)
    guard present.count == links.count else { return present }
    var usable: [ShardLink] = []
    for link in present {
      do throws(OperationError) {
        _ = try await body([link.store])
        usable.append(link)
      } catch {
        if case .redis(let error) = error { link.note(refusal: error) }
      }
    }
    return usable
  }

  /// Waits until what failed for the nth time may be tried again.
  /// - Parameters:
  ///   - shard: where it failed.
  ///   - subjects: as of `run`.
  /// - Throws: when it failed for good, was tried often enough, or the caller wants it to end.
  package func waitToRepeat(
    in shard: ShardID, after error: RedisError, attempt: Int, about subjects: [KeySubject],
    with patience: @Sendable () -> Patience
  ) async throws(StoreFailure) {
    let links = try await links(in: .shard(shard))
    do throws(OperationError) {
      try await patience().wait(for: links[0].store, after: error, attempt: attempt)
    } catch {
      throw await failure(error, about: subjects, at: links)
    }
  }

  package func sleep(ms: UInt64) async { await loop.sleep(ms: ms) }

  package func close() {
    for link in links { link.close() }
    links = []
    fleet = nil
  }
}
