internal import CLinux
internal import Glibc
internal import Synchronization

/// One thread with one epoll: it runs the I/O, the timers and the Swift tasks of a lane.
///
/// It is a `SerialExecutor`, so that an actor can live on it, and a `TaskExecutor`, so that such an
/// actor's tasks wake up on it without a trip through another thread (a continuation resumed by the
/// loop then costs a quarter of a microsecond). What it owns is used on its own thread only; other
/// threads reach it by `execute`, `stop` and the executor protocols.
///
/// A turn: wait for readiness, call the handlers, fire the timers, run the tasks, then flush what
/// they wrote. Output is thereby gathered once a turn, whoever wrote it.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  /// The work that other threads hand in.
  private struct Inbox {
    var jobs: [UnownedJob] = []
    var closures: [@Sendable () -> Void] = []
    var isWaiting = false
    var isStopped = false
    /// The thread has left the loop: nothing handed in runs any more.
    var isEnded = false
    var thread: SystemThread?
  }

  package let name: String
  private let inbox = Mutex(Inbox())
  private let epoll: Descriptor
  private let wake: Descriptor
  private let threadID = Atomic<UInt>(0)

  // Only ever touched on the loop's own thread:
  var timers = TimerHeap()
  private var registrations = RegistrationTable()
  private var localJobs: [UnownedJob] = []
  private var runningJobs: [UnownedJob] = []
  private var dirty: [any Flushable] = []
  private var dirtyLate: [any Flushable] = []
  private var flushing: [any Flushable] = []
  private var again: [ByteStream] = []
  private var repeating: [ByteStream] = []
  private var bootNs: UInt64 = 0
  /// How often it has waited, for tests of what must not keep it busy.
  package private(set) var turns = 0
  /// Called in each turn that has output, before any of it is written; loop only.
  package var willFlush: (() -> Void)?
  /// Called when a connection could not be opened because no file descriptor is left; loop only.
  package var onOutOfDescriptors: ((SystemError) -> Void)?
  private var frugalUntilNs: UInt64 = 0
  /// Where every stream of this loop reads into; its content is valid during one callback.
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ReactorLimits.readBufferBytes, alignment: 16)

  private static let wakeData = UInt64.max

  /// - Parameter name: the thread's name, as `top -H` shows it (15 bytes).
  package init(name: String) throws(SystemError) {
    self.name = name
    epoll = try Descriptor(epoll_create1(CInt(EPOLL_CLOEXEC)), "epoll_create1")
    wake = try Descriptor(
      eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC)), "eventfd")
    guard clinux_epoll_add(epoll.raw, wake.raw, EPOLLIN.rawValue, Self.wakeData) == 0 else {
      throw SystemError("epoll_ctl", errno: errno)
    }
    // A peer that went away is an error code here, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    refreshClock()
  }

  deinit { readBuffer.deallocate() }

  // MARK: From any thread

  /// Starts the loop's thread.
  /// - Throws: the system's error when it makes no thread.
  package func start() throws(SystemError) {
    let thread = try SystemThread.start("the thread of \(name)") { [self] in run() }
    inbox.withLock { $0.thread = thread }
  }

  /// Asks the loop to end once no task of it is ready to run. Safe to call twice.
  ///
  /// What still waits for a timer or a stream then waits for ever, and the loop lets go of both without
  /// a word: close first what must be told.
  package func stop() {
    inbox.withLock { $0.isStopped = true }
    signalWake()
  }

  /// Waits until the loop's thread has ended; not to be called on it.
  package func join() {
    let thread = inbox.withLock { box in
      defer { box.thread = nil }
      return box.thread
    }
    thread?.join()
  }

  /// Has nobody wait for the loop's thread, which may never end: a file system may hang under it.
  package func detach() {
    let thread = inbox.withLock { box in
      defer { box.thread = nil }
      return box.thread
    }
    thread?.detach()
  }

  package var isOnLoop: Bool { threadID.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs a closure on the loop, after what was handed in before it; drops it when the loop has ended.
  package func execute(_ body: @escaping @Sendable () -> Void) {
    let mustWake = inbox.withLock { box in
      guard !box.isEnded else { return false }
      box.closures.append(body)
      defer { box.isWaiting = false }
      return box.isWaiting
    }
    if mustWake { signalWake() }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isOnLoop {
      localJobs.append(job)
      return
    }
    let mustWake = inbox.withLock { box in
      box.jobs.append(job)
      defer { box.isWaiting = false }
      return box.isWaiting
    }
    if mustWake { signalWake() }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

  package func checkIsolated() { precondition(isOnLoop, "not on the loop \(name)") }

  private func signalWake() {
    var one: UInt64 = 1
    _ = write(wake.raw, &one, 8)
  }

  // MARK: On the loop

  /// CLOCK_BOOTTIME in nanoseconds, read once a turn. It is never set, and it goes on while the machine is suspended:
  /// after that a lease or a binding is as old as it looks to others.
  package var nowNs: UInt64 { bootNs }

  /// Reads that clock now, and not when the turn began.
  package static func clockNs() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  /// Has the pools of this loop keep to one connection each for so long, since descriptors are short.
  package func beFrugal(forMs: UInt64) { frugalUntilNs = bootNs &+ forMs &* 1_000_000 }

  package var isFrugal: Bool { bootNs < frugalUntilNs }

  /// Suspends the caller, a task of this loop, for at least so long.
  package func sleep(ms: UInt64) async {
    // Armed, it is kept by the loop.
    await withUnsafeContinuation { continuation in
      LoopTimer(loop: self) { continuation.resume() }.schedule(afterMs: ms)
    }
  }

  /// Watches a descriptor for these kinds of readiness.
  func register(
    _ descriptor: CInt, for events: Readiness, handler: any ReadinessHandler
  ) throws(SystemError) -> RegistrationTable.Place {
    let place = registrations.add(handler)
    guard clinux_epoll_add(epoll.raw, descriptor, events.rawValue, place.data) == 0 else {
      let code = errno
      registrations.remove(place)
      throw SystemError("epoll_ctl", errno: code)
    }
    return place
  }

  /// Watches for other kinds of readiness from now on; those that are there already are reported again.
  func watch(_ descriptor: CInt, _ place: RegistrationTable.Place, for events: Readiness) {
    _ = clinux_epoll_change(epoll.raw, descriptor, events.rawValue, place.data)
  }

  /// Calls another handler from now on.
  func hand(_ place: RegistrationTable.Place, to handler: any ReadinessHandler) {
    registrations.replace(place, handler)
  }

  /// Forgets a registration; its descriptor is to be closed next, which takes it out of epoll.
  func unregister(_ place: RegistrationTable.Place) { registrations.remove(place) }

  /// Forgets a descriptor whose owner may keep it open.
  func unregister(_ place: RegistrationTable.Place, foreign descriptor: CInt) {
    _ = clinux_epoll_remove(epoll.raw, descriptor)
    unregister(place)
  }

  /// Flushes at the end of this turn.
  /// - Parameter late: after everything that is not.
  package func flushAtEndOfTurn(_ flushable: any Flushable, late: Bool = false) {
    if late { dirtyLate.append(flushable) } else { dirty.append(flushable) }
  }

  /// Has the stream read in the next turn, without waiting for an edge.
  func readAgainNextTurn(_ stream: ByteStream) { again.append(stream) }

  private func run() {
    threadID.store(UInt(pthread_self()), ordering: .relaxed)
    clinux_name_thread(name)
    refreshClock()
    withUnsafeTemporaryAllocation(
      of: epoll_event.self, capacity: ReactorLimits.eventsPerWait
    ) { events in
      while true {
        let isStopped = takeInbox()
        fireTimers()
        runTasks()
        flush()
        if isStopped && endsNow() { break }
        wait(events)
      }
    }
    letGo()
    threadID.store(0, ordering: .relaxed)
  }

  /// Whether nothing is ready to run any more; from then on nothing is taken either.
  private func endsNow() -> Bool {
    guard localJobs.isEmpty else { return false }
    return inbox.withLock { box in
      box.isEnded = box.jobs.isEmpty && box.closures.isEmpty
      return box.isEnded
    }
  }

  /// Breaks the cycles between the loop and what it watches.
  private func letGo() {
    // Taken out first: what goes with them may cancel timers and end registrations of its own.
    var timers = TimerHeap()
    swap(&timers, &self.timers)
    timers.removeAll()
    willFlush = nil
    onOutOfDescriptors = nil
    again.removeAll()
    dirty.removeAll()
    dirtyLate.removeAll()
    _ = registrations.takeHandlers()
  }

  private func refreshClock() { bootNs = Self.clockNs() }

  private func takeInbox() -> Bool {
    var closures: [@Sendable () -> Void] = []
    let isStopped = inbox.withLock { box in
      if !box.jobs.isEmpty {
        localJobs.append(contentsOf: box.jobs)
        box.jobs.removeAll(keepingCapacity: true)
      }
      swap(&closures, &box.closures)
      return box.isStopped
    }
    for closure in closures { closure() }
    return isStopped
  }

  private func fireTimers() {
    // A timer that re-arms itself with 0 fires once a turn, so that it does not keep I/O waiting.
    var left = timers.count
    while left > 0, let timer = timers.popDue(nowNs: bootNs) {
      left -= 1
      timer.fire()
    }
  }

  private func runTasks() {
    // A bounded number of rounds, so that tasks that wake one another do not keep I/O waiting.
    var rounds = 0
    while !localJobs.isEmpty && rounds < ReactorLimits.taskRoundsPerTurn {
      rounds += 1
      swap(&runningJobs, &localJobs)
      for job in runningJobs {
        job.runSynchronously(
          isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
      runningJobs.removeAll(keepingCapacity: true)
    }
  }

  private func flush() {
    var rounds = 0
    while !(dirty.isEmpty && dirtyLate.isEmpty) && rounds < ReactorLimits.flushRoundsPerTurn {
      rounds += 1
      willFlush?()
      if dirty.isEmpty { swap(&dirtyLate, &flushing) } else { swap(&dirty, &flushing) }
      for flushable in flushing { flushable.flushNow() }
      flushing.removeAll(keepingCapacity: true)
    }
  }

  private func wait(_ events: UnsafeMutableBufferPointer<epoll_event>) {
    let count = clinux_epoll_wait(
      epoll.raw, events.baseAddress, CInt(events.count), waitTimeoutMs())
    inbox.withLock { $0.isWaiting = false }
    turns &+= 1
    refreshClock()
    swap(&again, &repeating)
    for stream in repeating { stream.readQueued() }
    repeating.removeAll(keepingCapacity: true)
    guard count > 0 else { return }
    for index in 0..<Int(count) {
      let data = clinux_epoll_data(&events[index])
      if data == Self.wakeData {
        var value: UInt64 = 0
        _ = read(wake.raw, &value, 8)
        continue
      }
      registrations.handler(for: data)?.ready(Readiness(rawValue: events[index].events))
    }
  }

  private func waitTimeoutMs() -> CInt {
    guard localJobs.isEmpty, again.isEmpty, dirty.isEmpty, dirtyLate.isEmpty else { return 0 }
    let mayWait = inbox.withLock { box in
      guard box.jobs.isEmpty, box.closures.isEmpty, !box.isStopped else { return false }
      box.isWaiting = true
      return true
    }
    guard mayWait else { return 0 }
    guard let deadline = timers.nextDeadlineNs else { return -1 }
    guard deadline > bootNs else { return 0 }
    // Rounded up: waking early would only mean waiting again. In suspend this wait of the kernel's stands still, so
    // after it a timer may be late by what was left of the wait; what is judged meanwhile is judged by the clock.
    let ms = (deadline - bootNs + 999_999) / 1_000_000
    return CInt(min(ms, 60_000))
  }
}
