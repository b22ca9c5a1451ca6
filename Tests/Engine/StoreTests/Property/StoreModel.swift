import Model

@testable import Store

/// What the functions of the store are to do, in memory and without time: each method is one function and
/// says what it replies.
struct StoreModel {
  // MARK: Installations
  var bindings: [DeviceToken: ModelBinding] = [:]
  /// The tokens of each user, in the order of their last install.
  var devices: [String: [DeviceToken]] = [:]
  var generation: UInt64 = 0
  var uninstalled = 0
  var overwritten = 0
  /// As installs made room for others.
  var evicted = 0

  // MARK: Jobs
  var entries: [Priority: ModelStream<ModelJobEntry>] = [:]
  var jobs: [String: ModelJob] = [:]
  var chunks: [Priority: ModelStream<ModelChunk>] = [:]
  var segments: [SegmentPlace: ModelSegment] = [:]
  var delayed: [(chunk: ModelChunk, isDue: Bool)] = []
  var parked: [String: [ModelChunk]] = [:]
  var letters: [ModelLetter] = []
  var finished = 0
  /// What must never happen, said when it does.
  var complaints: [String] = []

  /// So few that random installs reach it; `library` has the same.
  static let installationsPerUserMax = 4
  static let crashesMax = 5
  static let passedOverMax = 64

  /// Jobs of silent workers that one call takes over of a priority.
  let takenOverMax: Int

  init(takenOverMax: Int) {
    self.takenOverMax = takenOverMax
    for priority in Priority.allCases {
      entries[priority] = ModelStream()
      chunks[priority] = ModelStream()
    }
  }

  // MARK: A recipient's end

  /// Gives a recipient its outcome; it must have had none.
  mutating func end(_ recipient: String, of job: String) {
    if jobs[job]?.open.remove(recipient) == nil {
      complaints.append("\(recipient) of \(job) ended twice, or never began")
    }
  }

  /// Counts a chunk's open recipients as skipped or failed, and closes it.
  mutating func close(_ chunk: ModelChunk, as outcome: WritableKeyPath<OutcomeCounts, Int>) {
    if let segment = segments[chunk.place], jobs[chunk.job]?.source == chunk.source {
      for line in segment.open {
        end(segment.recipients[line], of: chunk.job)
        jobs[chunk.job]?.counts[keyPath: outcome] += 1
      }
    }
    close(chunk)
  }

  mutating func close(_ chunk: ModelChunk) {
    segments[chunk.place] = nil
    guard jobs[chunk.job]?.source == chunk.source else { return }
    jobs[chunk.job]!.chunks -= 1
    if !chunk.isResidual { jobs[chunk.job]!.live -= 1 }
    expand(chunk.job)
    finishIfEmpty(chunk.job)
  }

  // MARK: A job's course

  /// - Parameter losses: how many workers lost the job, which its only chunk has lost, too.
  mutating func expand(_ id: String, losses: Int = 0) {
    guard var job = jobs[id], job.state == .running || job.state == .scheduled else { return }
    defer { jobs[id] = job }
    while job.live < job.window, job.cursor < job.segments {
      job.cursor += 1
      job.live += 1
      job.chunks += 1
      var chunk = ModelChunk(
        job: id, segment: String(job.cursor), source: job.source, priority: job.priority,
        lines: job.lines)
      if job.segments == 1, job.state != .scheduled {
        chunk.crashes = min(Self.crashesMax - 1, losses)
      }
      if job.state == .scheduled {
        delayed.append((chunk, false))
      } else {
        chunks[job.priority]!.add(chunk)
      }
    }
  }

  mutating func finishIfEmpty(_ id: String) {
    guard var job = jobs[id], !job.isFinished, job.chunks == 0, job.cursor >= job.segments else {
      return
    }
    if job.state == .cancelled {
      // What was never started.
      job.counts.skipped += job.open.count
    } else {
      if !job.open.isEmpty { complaints.append("\(id) ended with open recipients \(job.open)") }
      job.state = .done
    }
    job.open = []
    job.isFinished = true
    jobs[id] = job
    finished += 1
  }

  /// The job's state as a chunk sees it; nil when it is none of its.
  func state(for chunk: ModelChunk) -> JobState? {
    guard let job = jobs[chunk.job], job.source == chunk.source, job.state != .done,
      job.state != .queued, job.state != .refused
    else { return nil }
    return job.state
  }

  /// Puts a chunk that nobody holds where it belongs.
  mutating func route(_ chunk: ModelChunk, isLater: Bool = false) {
    switch state(for: chunk) {
    case nil: segments[chunk.place] = nil
    case .cancelled: close(chunk, as: \.skipped)
    case .paused: parked[chunk.job, default: []].append(chunk)
    case .scheduled, .running, .queued, .done, .refused:
      guard !isLater else { return delayed.append((chunk, false)) }
      if jobs[chunk.job]?.state == .scheduled { jobs[chunk.job]?.state = .running }
      chunks[chunk.priority]!.add(chunk)
    }
  }
}
