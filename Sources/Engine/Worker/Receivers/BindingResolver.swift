internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Turns a run's recipients into pushes by reading their bindings, a batch at a time; loop-bound.
struct BindingResolver {
  let loop: EventLoop
  let store: ShardStore
  let receivers: ReceiverReader
  let room: SendingRoom
  let gate: SendingGate
  let router: PushRouter
  let composer: PushComposer

  /// Resolves the run's next batch and queues its pushes.
  /// - Parameter recipientsMax: the most that its job's pace allows.
  func resolveNext(
    _ run: PushRun, atMost recipientsMax: Int = .max
  ) async throws(RedisError) {
    let batch = run.takeBatch(max: min(batchMax(run), recipientsMax))
    guard !batch.isEmpty else { return }
    room.noteResolving(run, batch.count)
    defer { room.noteResolved(run, batch.count) }
    do throws(RedisError) {
      switch run.lines(of: batch.lowerBound) {
      case .users: try await resolveUsers(run, batch)
      case .installations: try await resolveInstallations(run, batch)
      }
    } catch {
      run.returnBatch(batch)
      throw error
    }
    router.wake()
  }

  /// How many of a run's recipients to resolve in one trip.
  private func batchMax(_ run: PushRun) -> Int {
    if run.material.receivers.isPersonal { return run.material.receivers.batch }
    // What is known of a job's users is known of all of them.
    return run.material.firstBindings == nil
      ? room.resolveBatch : max(room.resolveBatch, WorkerLimits.directUsersMax)
  }

  /// Queues the pushes of a job whose users' bindings were read as it was taken in; otherwise does nothing.
  func resolveKnown(_ run: PushRun) {
    guard !run.material.receivers.isPersonal, run.cursor == 0,
      let known = run.material.firstBindings?.take(for: run.lines.indices, nowNs: loop.nowNs)
    else { return }
    addUsers(run, run.takeBatch(max: run.lines.count), known)
    router.wake()
  }

  // MARK: Users

  private func resolveUsers(_ run: PushRun, _ batch: Range<Int>) async throws(RedisError) {
    if run.material.receivers.isPersonal { return try await resolvePersonally(run, batch) }
    if let known = run.material.firstBindings?.take(for: batch, nowNs: loop.nowNs) {
      return addUsers(run, batch, known)
    }
    let readNs = loop.nowNs
    try await withReply { finish in
      store.installations.resolve(app: run.claim.app, users: run.lines[batch]) { result in
        finish(result.map { addUsers(run, batch, $0, freshNs(readNs)) })
      }
    }
  }

  /// Resolves users for a job that does not say the same to each receiver, or is not for each. The records and values
  /// that this takes are read before a push is made.
  private func resolvePersonally(
    _ run: PushRun, _ batch: Range<Int>
  ) async throws(RedisError) {
    // What was read in vain must not stay until the chunk ends, for Redis may refuse a part of it for long.
    let scratch = ByteArena()
    var texts: [UnsafeRawBufferPointer] = []
    var values: [UserValues] = []
    var readNs = loop.nowNs
    let known = run.material.firstBindings?.take(for: batch, nowNs: readNs)
    try await withReplies(known == nil ? 2 : 1) { finish in
      receivers.readValues(run, Array(run.lines[batch]), into: scratch) { result in
        finish(result.map { values = $0 })
      }
      guard known == nil else { return }
      store.installations.resolve(app: run.claim.app, users: run.lines[batch]) { result in
        readNs = freshNs(readNs)
        finish(
          result.map { users in
            texts = (0..<users.count).map { scratch.copy(users.text($0)) }
          })
      }
    }
    if let known {
      known.forEach { texts.append(scratch.copy($1)) }
      readNs = known.readNs
    }
    guard mayGoOn(run) else { return run.returnBatch(batch) }
    let targets = router.targets(run)
    var bindings: [BindingLine] = []
    var asked: [ReceiverReader.Receiver] = []
    var ends: [Int] = []
    bindings.reserveCapacity(batch.count)
    asked.reserveCapacity(batch.count)
    ends.reserveCapacity(batch.count)
    for (recipient, text) in zip(batch, texts) {
      for binding in BindingLines(text) {
        let target = targets[binding]
        bindings.append(binding)
        asked.append(
          ReceiverReader.Receiver(
            network: binding.network, environment: binding.environment, token: binding.token,
            user: run.lines[recipient], isChosen: false,
            badge: badge(run, binding.network, target, run.lines[recipient])))
      }
      ends.append(bindings.count)
    }
    run.material.receivers.noteBatch(
      users: batch.count, bindings: bindings.count, bytes: values.reduce(0) { $0 + $1.byteCount })
    let check = run.material.raisesBadge ? FillCheck(run, values, composer) : nil
    let read = try await receivers.read(run, asked) { index, variant in
      guard let check, let user = ends.firstIndex(where: { index < $0 }) else { return true }
      let binding = bindings[index]
      return check.canSend(
        to: user, targets[binding], variant)
    }
    guard let own = read else { return giveUp(run, batch) }
    guard mayGoOn(run) else { return run.returnBatch(batch) }
    var first = 0
    for (offset, recipient) in batch.enumerated() {
      var next = first
      addUser(
        run, recipient, bindings[first..<ends[offset]], targets, readNs,
        variables: run.variables.add(values[offset], of: run.material, in: run.arena)
      ) {
        defer { next += 1 }
        return own[next]
      }
      first = ends[offset]
    }
  }

  /// Says what is asked of an installation's badge. It is raised as late as it can be: a push that would only wait is
  /// put aside without one, unless the chunk has given it one before.
  private func badge(
    _ run: PushRun, _ network: Network, _ target: PushTarget, _ user: UnsafeRawBufferPointer
  ) -> BadgeStore.Receiver.Request? {
    guard run.material.raisesBadge else { return nil }
    let content = run.material.content
    guard content.showsRaisedBadge(on: network), run.standing == .active,
      !gate.isExpired(run), target != .unwanted
    else { return nil }
    if content.dryRun { return .look }
    return router.holdsBack(run, target, network, user) ? .recall : .give
  }

  /// Whether recipients become pushes now. Those of a paused chunk wait in it, with what it gave them: set aside they
  /// would be another chunk's.
  private func mayGoOn(_ run: PushRun) -> Bool {
    run.standing == .active || run.standing == .cancelled
  }

  /// Another worker has the chunk by now, and goes on with it.
  private func giveUp(_ run: PushRun, _ batch: Range<Int>) {
    run.returnBatch(batch)
    gate.apply(.stale, run)
  }

  private func addUsers(
    _ run: PushRun, _ batch: Range<Int>, _ known: FirstBindings.Known
  ) {
    let targets = router.targets(run)
    known.forEach { place, text in
      addUser(run, batch.lowerBound + place, BindingLines(text), targets, known.readNs)
    }
  }

  private func addUsers(
    _ run: PushRun, _ batch: Range<Int>, _ resolved: ResolvedUsers, _ readNs: UInt64
  ) {
    let targets = router.targets(run)
    for (offset, recipient) in batch.enumerated() {
      addUser(run, recipient, resolved[offset], targets, readNs)
    }
  }

  /// - Parameter next: what the next binding's push has of its own, asked for each in turn.
  private func addUser(
    _ run: PushRun, _ recipient: Int, _ bindings: some Sequence<BindingLine>, _ targets: JobTargets,
    _ readNs: UInt64, variables: VariableTable.Row = .none,
    next: () -> ReceiverReader.Own = { ReceiverReader.Own() }
  ) {
    guard run.standing != .cancelled else {
      return run.skipRecipient(recipient, because: .cancelled)
    }
    run.beginRecipient(recipient)
    var isInOtherRound = false
    for binding in bindings {
      let own = next()
      let target = targets[binding]
      guard target != .unwanted else { continue }
      if case .otherRound? = own.exclusion {
        isInOtherRound = true
        continue
      }
      if case .rebound = own.badge { continue }
      let index = run.add(
        Push(
          token: run.arena.copy(binding.token), user: run.lines[recipient],
          generation: binding.generation, recipient: Int32(recipient), network: binding.network,
          environment: binding.environment, attempt: 1, target: target,
          variant: own.variant, variables: variables, badge: own.badge.number, boundNs: readNs))
      queue(run, index, own)
    }
    end(run, recipient, isInOtherRound: isInOtherRound)
  }

  /// Ends a recipient whose pushes are made. One that has none counts in one round of its job.
  private func end(_ run: PushRun, _ recipient: Int, isInOtherRound: Bool) {
    let isElsewhere = isInOtherRound || !(run.material.receivers.zones?.isFirst ?? true)
    if isElsewhere, run.recipients[recipient].pushCount == 0 {
      run.leaveOutRecipient(recipient)
    } else {
      run.endRecipient(recipient)
    }
  }

  // MARK: Installations

  /// Nothing is sent to a token that has another owner by now than the line names.
  private func resolveInstallations(
    _ run: PushRun, _ batch: Range<Int>
  ) async throws(RedisError) {
    let readNs = loop.nowNs
    let lines = batch.map { InstallationLine(run.lines[$0]) }
    let bindings = try await self.bindings(
      app: run.claim.app,
      of: lines.map { line in line.map { ($0.network, $0.token) } })
    let boundNs = freshNs(readNs)
    let targets = router.targets(run)
    var values: [UserValues] = []
    var own: [ReceiverReader.Own] = []
    let scratch = ByteArena()
    if run.material.receivers.isPersonal {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      let users = bindings.map { $0.map { scratch.copy($0.user) } ?? none }
      try await withReply { finish in
        receivers.readValues(run, users, into: scratch) { result in
          finish(result.map { values = $0 })
        }
      }
      guard mayGoOn(run) else { return run.returnBatch(batch) }
      let asked = lines.indices.map { index in
        guard let line = lines[index], let binding = bindings[index] else {
          return ReceiverReader.Receiver(
            network: .apns, environment: .production, token: none, user: none, isChosen: false,
            badge: nil)
        }
        let target = targets[line, binding]
        return ReceiverReader.Receiver(
          network: line.network, environment: binding.environment, token: line.token,
          user: users[index], isChosen: !line.user.isEmpty,
          badge: line.badge == 0 && Self.isOwner(binding, of: line)
            ? badge(run, line.network, target, users[index]) : nil)
      }
      let check = run.material.raisesBadge ? FillCheck(run, values, composer) : nil
      let answer = try await receivers.read(run, asked) { index, variant in
        guard let check, let line = lines[index], let binding = bindings[index] else { return true }
        return check.canSend(
          to: index, targets[line, binding], variant)
      }
      guard let read = answer else { return giveUp(run, batch) }
      guard mayGoOn(run) else { return run.returnBatch(batch) }
      own = read
    }
    for (offset, recipient) in batch.enumerated() {
      guard let line = lines[offset] else {
        run.skipRecipient(recipient, because: .malformed)
        continue
      }
      add(
        run, recipient, line, bindings[offset], targets, boundNs,
        variables: values.isEmpty
          ? .none : run.variables.add(values[offset], of: run.material, in: run.arena),
        own: own.isEmpty ? ReceiverReader.Own() : own[offset])
    }
  }

  private func add(
    _ run: PushRun, _ recipient: Int, _ line: InstallationLine, _ binding: TokenBinding?,
    _ targets: JobTargets, _ readNs: UInt64, variables: VariableTable.Row, own: ReceiverReader.Own
  ) {
    guard run.standing != .cancelled else {
      return run.skipRecipient(recipient, network: line.network, because: .cancelled)
    }
    if case .otherRound? = own.exclusion { return run.leaveOutRecipient(recipient) }
    guard let binding else {
      return run.skipRecipient(recipient, network: line.network, because: .notInstalled)
    }
    guard Self.isOwner(binding, of: line),
      targets[line, binding] != .unwanted,
      own.badge != .rebound
    else { return run.skipRecipient(recipient, network: line.network, because: .notBound) }
    run.beginRecipient(recipient)
    var push = Push(
      token: line.token, user: line.user.isEmpty ? run.arena.copy(binding.user) : line.user,
      generation: binding.generation, recipient: Int32(recipient), network: line.network,
      environment: binding.environment, attempt: UInt8(clamping: line.attempt + 1),
      target: targets[line, in: binding.environment], variant: own.variant,
      variables: variables, badge: line.badge > 0 ? line.badge : own.badge.number, boundNs: readNs)
    // Another worker left it to be tried where it is not installed for, and nothing was installed since.
    if let wanted = line.environment, wanted != binding.environment,
      line.generation == binding.generation, targets[line, in: wanted].number != nil
    {
      push.target = targets[line, in: wanted]
      push.isRedirected = true
    }
    queue(run, run.add(push), own)
    run.endRecipient(recipient)
  }

  private func queue(_ run: PushRun, _ index: Int, _ own: ReceiverReader.Own) {
    switch own.exclusion {
    case .skipped(let cause)?: return run.decide(index, .skipped, because: cause)
    case .unsendable?: return composer.decideUnsendable(run, index)
    case .otherRound?, nil: break
    }
    run.noteMade()
    router.enqueue(run, push: index)
  }

  /// Whether the token is still the user's whom the line means.
  private static func isOwner(_ binding: TokenBinding, of line: InstallationLine) -> Bool {
    line.user.isEmpty || binding.user.utf8.elementsEqual(line.user)
  }

  /// When bindings that were asked for then, and are here now, count as read.
  func freshNs(_ askedNs: UInt64) -> UInt64 {
    max(askedNs, loop.nowNs &- min(loop.nowNs, WorkerLimits.bindingReadMsMax * 1_000_000))
  }

  func withReply(
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
