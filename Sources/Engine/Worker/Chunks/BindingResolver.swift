internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Turns a run's recipients into pushes by reading their bindings, a batch at a time; loop-bound.
struct BindingResolver {
  let loop: EventLoop
  let store: Store
  /// Under which name the lane owns its chunks.
  let consumer: String
  let sink: any PushSink

  private var receivers: ReceiverReader { ReceiverReader(store: store, consumer: consumer) }

  /// Resolves the run's next batch and queues its pushes.
  func resolveNext(_ run: ChunkRun) async throws(RedisError) {
    let batch = run.takeBatch(
      max: run.material.isPersonal
        ? WorkerLimits.personalBatchMax : WorkerLimits.resolveBatchMax)
    guard !batch.isEmpty else { return }
    sink.noteResolving(run, batch.count)
    defer { sink.noteResolved(run, batch.count) }
    do throws(RedisError) {
      switch run.lines(of: batch.lowerBound) {
      case .users: try await resolveUsers(run, batch)
      case .installations: try await resolveInstallations(run, batch)
      }
    } catch {
      run.returnBatch(batch)
      throw error
    }
    sink.wake()
  }

  // MARK: Users

  private func resolveUsers(_ run: ChunkRun, _ batch: Range<Int>) async throws(RedisError) {
    if run.material.isPersonal { return try await resolvePersonally(run, batch) }
    if let known = run.material.firstBindings?.take(for: batch, nowNs: loop.nowNs) {
      let routes = sink.routes(run)
      for (recipient, text) in zip(batch, known.texts) {
        text.withUnsafeBytes { addUser(run, recipient, BindingLines($0), routes, known.readNs) }
      }
      return
    }
    let readNs = loop.nowNs
    try await withReply { finish in
      store.installations.resolve(app: run.claim.app, users: run.lines[batch]) { result in
        finish(result.map { addUsers(run, batch, $0, freshNs(readNs)) })
      }
    }
  }

  /// As above, for a job that says something else to each receiver: what that takes is read before a push is made.
  private func resolvePersonally(
    _ run: ChunkRun, _ batch: Range<Int>
  ) async throws(RedisError) {
    var texts: [UnsafeRawBufferPointer] = []
    var rows: [VariableTable.Row] = []
    var readNs = loop.nowNs
    let known = run.material.firstBindings?.take(for: batch, nowNs: readNs)
    try await withReplies(known == nil ? 2 : 1) { finish in
      receivers.readVariables(run, Array(run.lines[batch])) { result in
        finish(result.map { rows = $0 })
      }
      guard known == nil else { return }
      store.installations.resolve(app: run.claim.app, users: run.lines[batch]) { result in
        finish(
          result.map { users in
            texts = (0..<users.count).map { run.arena.copy(users.text($0)) }
          })
      }
    }
    if let known {
      texts = known.texts.map { $0.withUnsafeBytes { run.arena.copy($0) } }
      readNs = known.readNs
    } else {
      readNs = freshNs(readNs)
    }
    let routes = sink.routes(run)
    var bindings: [BindingLine] = []
    var ends: [Int] = []
    for text in texts {
      for binding in BindingLines(text) { bindings.append(binding) }
      ends.append(bindings.count)
    }
    let read = try await receivers.read(
      run, tokens: bindings.map { ($0.network, $0.token) },
      owners: run.material.content.raisesBadge ? owners(run, batch, bindings, ends, routes) : [])
    guard let found = read else { return lose(run, batch) }
    var next = 0
    for (offset, recipient) in batch.enumerated() {
      let own = bindings[next..<ends[offset]]
      addUser(run, recipient, own, routes, readNs, variables: rows[offset]) {
        defer { next += 1 }
        return (found.variants[next], found.badges[next])
      }
      // Nobody asked when it was cancelled meanwhile.
      next = ends[offset]
    }
  }

  /// Whose the bindings of users are, and which of them are to get badges.
  private func owners(
    _ run: ChunkRun, _ batch: Range<Int>, _ bindings: [BindingLine], _ ends: [Int],
    _ routes: Routes
  ) -> [(user: UnsafeRawBufferPointer, wantsBadge: Bool)] {
    let isOver = isOver(run)
    var recipient = 0
    return bindings.indices.map { index in
      while index >= ends[recipient] { recipient += 1 }
      let binding = bindings[index]
      let isWanted =
        routes[binding.network, binding.kind, binding.environment] != Routes.unwanted
      return (
        run.lines[batch.lowerBound + recipient],
        !isOver && isWanted && run.material.content.isFor(binding.network)
      )
    }
  }

  private func addUsers(
    _ run: ChunkRun, _ batch: Range<Int>, _ resolved: ResolvedUsers, _ readNs: UInt64
  ) {
    let routes = sink.routes(run)
    for (offset, recipient) in batch.enumerated() {
      addUser(run, recipient, resolved[offset], routes, readNs)
    }
  }

  /// - Parameter nextOwn: which of the job's variants and which badge the next binding gets, asked for each in turn.
  private func addUser(
    _ run: ChunkRun, _ recipient: Int, _ bindings: some Sequence<BindingLine>, _ routes: Routes,
    _ readNs: UInt64, variables: VariableTable.Row = .none,
    nextOwn: () -> (variant: UInt8, badge: Int32) = { (0, 0) }
  ) {
    guard run.standing != .cancelled else {
      return run.skipRecipient(recipient, because: .cancelled)
    }
    run.beginRecipient(recipient)
    for binding in bindings {
      let (variant, badge) = nextOwn()
      let destination = routes[binding.network, binding.kind, binding.environment]
      guard destination != Routes.unwanted, badge != ReceiverReader.Receivers.lost else { continue }
      let index = run.add(
        Push(
          token: run.arena.copy(binding.token), user: run.lines[recipient],
          generation: binding.generation, recipient: Int32(recipient), network: binding.network,
          environment: binding.environment, attempt: 1, destination: destination, variant: variant,
          variables: variables, badge: badge, boundNs: readNs))
      sink.enqueue(run, push: index)
    }
    run.endRecipient(recipient)
  }

  /// Whether nothing of the run is sent any more.
  private func isOver(_ run: ChunkRun) -> Bool { run.standing != .active || sink.isExpired(run) }

  /// The chunk has become another worker's, which goes on with it.
  private func lose(_ run: ChunkRun, _ batch: Range<Int>) {
    run.returnBatch(batch)
    sink.noteLost(run)
  }

  // MARK: Installations

  /// Nothing is sent to a token that has another owner by now than the line names.
  private func resolveInstallations(
    _ run: ChunkRun, _ batch: Range<Int>
  ) async throws(RedisError) {
    let readNs = loop.nowNs
    let lines = batch.map { InstallationLine(run.lines[$0]) }
    let bindings = try await self.bindings(
      app: run.claim.app,
      of: lines.map { line in line.map { ($0.network, $0.token) } })
    let boundNs = freshNs(readNs)
    let routes = sink.routes(run)
    var rows: [VariableTable.Row] = []
    var found: ReceiverReader.Receivers?
    if run.material.isPersonal {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      let users = bindings.map { $0.map { run.arena.copy($0.user) } ?? none }
      try await withReplies(1) { finish in
        receivers.readVariables(run, users) { result in finish(result.map { rows = $0 }) }
      }
      let isOver = isOver(run)
      let owners = zip(lines, bindings).enumerated().map { offset, one in
        guard !isOver, let line = one.0, let binding = one.1 else { return (none, false) }
        let isWanted = line.badge == 0 && Self.isSentTo(line, binding, routes)
        return (users[offset], isWanted && run.material.content.isFor(line.network))
      }
      found = try await receivers.read(
        run, tokens: lines.map { line in line.map { ($0.network, $0.token) } ?? (.apns, none) },
        owners: owners)
      guard found != nil else { return lose(run, batch) }
    }
    for (offset, recipient) in batch.enumerated() {
      guard let line = lines[offset] else {
        run.skipRecipient(recipient, because: .malformed)
        continue
      }
      add(
        run, recipient, line, bindings[offset], routes, boundNs,
        variables: rows.isEmpty ? .none : rows[offset], variant: found?.variants[offset] ?? 0,
        badge: found?.badges[offset] ?? 0)
    }
  }

  private func add(
    _ run: ChunkRun, _ recipient: Int, _ line: InstallationLine, _ binding: TokenBinding?,
    _ routes: Routes, _ readNs: UInt64, variables: VariableTable.Row, variant: UInt8, badge: Int32
  ) {
    guard let binding, run.standing != .cancelled, Self.isSentTo(line, binding, routes),
      badge != ReceiverReader.Receivers.lost
    else {
      let cause: TraceCause = run.standing == .cancelled ? .cancelled : .notBound
      return run.skipRecipient(recipient, network: line.network, because: cause)
    }
    run.beginRecipient(recipient)
    var push = Push(
      token: line.token, user: line.user.isEmpty ? run.arena.copy(binding.user) : line.user,
      generation: binding.generation, recipient: Int32(recipient), network: line.network,
      environment: binding.environment, attempt: UInt8(clamping: line.attempt + 1),
      destination: routes[line.network, binding.environment], variant: variant,
      variables: variables, badge: line.badge > 0 ? line.badge : badge, boundNs: readNs)
    // Another worker left it to be tried where it is not installed for, and nothing was installed since.
    if let wanted = line.environment, wanted != binding.environment,
      line.generation == binding.generation, routes[line.network, wanted] >= 0
    {
      push.destination = routes[line.network, wanted]
      push.isRedirected = true
    }
    let index = run.add(push)
    sink.enqueue(run, push: index)
    run.endRecipient(recipient)
  }

  /// Whether the line means the token's owner, and the job what the token is for.
  private static func isSentTo(
    _ line: InstallationLine, _ binding: TokenBinding, _ routes: Routes
  ) -> Bool {
    guard line.user.isEmpty || binding.user.utf8.elementsEqual(line.user) else { return false }
    return routes[line.network, binding.kind, binding.environment] != Routes.unwanted
  }

  // MARK: Again

  /// Reads the bindings of pushes that waited too long to be sent; those that still hold are queued
  /// again, the others are skipped.
  func verify(_ run: ChunkRun, _ pushes: [Int]) async throws(RedisError) {
    let readNs = loop.nowNs
    let bindings = try await self.bindings(
      app: run.claim.app, of: pushes.map { (run.pushes[$0].network, run.pushes[$0].token) })
    for (index, binding) in zip(pushes, bindings) {
      guard let binding, binding.user.utf8.elementsEqual(run.pushes[index].user) else {
        run.decide(index, .skipped, because: .rebound)
        continue
      }
      guard binding.environment == run.pushes[index].environment else {
        // Installed anew for the other environment: its residual finds the way there.
        run.decideLater(
          index, delayMs: 0, attempt: Int(run.pushes[index].attempt) - 1, because: .otherEnvironment
        )
        continue
      }
      run.confirmBinding(index, generation: binding.generation, atNs: freshNs(readNs))
      sink.enqueue(run, push: index)
    }
    sink.wake()
  }

  /// The bindings of many tokens, in one pipeline; nil for nil, and for tokens that nobody has.
  private func bindings(
    app: String, of tokens: [(network: Network, token: UnsafeRawBufferPointer)?]
  ) async throws(RedisError) -> [TokenBinding?] {
    var found = [TokenBinding?](repeating: nil, count: tokens.count)
    var failure: RedisError?
    var left = tokens.count { $0 != nil }
    guard left > 0 else { return found }
    try await withReply { finish in
      for (index, token) in tokens.enumerated() {
        guard let token else { continue }
        store.installations.resolve(app: app, network: token.network, token: token.token) {
          switch $0 {
          case .success(let binding): found[index] = binding
          case .failure(let error): failure = failure ?? error
          }
          left -= 1
          if left == 0 { finish(failure.map { .failure($0) } ?? .success(())) }
        }
      }
    }
    return found
  }

  /// When bindings that were asked for then, and are here now, count as read.
  private func freshNs(_ askedNs: UInt64) -> UInt64 {
    max(askedNs, loop.nowNs &- min(loop.nowNs, WorkerLimits.bindingReadMsMax * 1_000_000))
  }

  private func withReply(
    _ send: (@escaping (Result<Void, RedisError>) -> Void) -> Void
  ) async throws(RedisError) {
    try await withReplies(1, send)
  }

  /// Waits until `finish` has been called so many times.
  private func withReplies(
    _ count: Int, _ send: (@escaping (Result<Void, RedisError>) -> Void) -> Void
  ) async throws(RedisError) {
    let result: Result<Void, RedisError> = await withUnsafeContinuation { continuation in
      var left = count
      var failure: RedisError?
      send { result in
        if case .failure(let error) = result { failure = failure ?? error }
        left -= 1
        if left == 0 {
          continuation.resume(returning: failure.map { .failure($0) } ?? .success(()))
        }
      }
    }
    try result.get()
  }
}
