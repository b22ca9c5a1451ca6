package import Model

/// A checked job on its way from its stream entry to its record.
package struct Admission: Sendable {
  /// The recipients of a job, as segments or where else they are.
  package struct Audience: Sendable {
    package var lines: ChunkLines
    /// How many recipients all segments have; the store's own business when the users are in a key or an index.
    package var recipients: Int
    /// How many segments there are, from "1" on.
    package var segments: Int
    /// Chunks of this job that are worked on at a time.
    package var window: Int
    /// The texts of its segments; empty when they were uploaded, or when there are none.
    package var texts: [[UInt8]]
    /// The SET, ZSET or LIST of users of a job without segments.
    package var usersKey: String?
    /// The index of users of a job without segments.
    package var index: AudienceIndex?

    package init(
      lines: ChunkLines, recipients: Int, segments: Int,
      window: Int = Limits.segmentHighWaterMax, texts: [[UInt8]] = [], usersKey: String? = nil,
      index: AudienceIndex? = nil
    ) {
      self.lines = lines
      self.recipients = recipients
      self.segments = segments
      self.window = window
      self.texts = texts
      self.usersKey = usersKey
      self.index = index
    }
  }

  /// The times at which a job is sent, in epoch milliseconds, and how fast.
  package struct Timing: Sendable {
    /// Nothing is sent before.
    package var startAtMs: Int64?
    /// When it starts, in order, of a job that starts several times; empty for any other.
    package var roundsAtMs: [Int64] = []
    /// Since when it is sent from its entry; nil when it is not.
    package var startedAtMs: Int64?
    /// How fast it is sent.
    package var pace: JobPace?
    /// How long it lives from its start on; nil where that does not count from there.
    package var livesSeconds: Int?

    package init(startAtMs: Int64? = nil) { self.startAtMs = startAtMs }
  }

  /// The rule that keeps an app from answering its own events without end.
  package struct LoopGuard: Sendable {
    /// The bucket of the event that it tells of.
    package var bucket: String?
    /// How many jobs that tell of this bucket, or go to this topic, the fleet starts in a minute; 0 for any number.
    package var eventsPerMinute: Int

    package init(bucket: String? = nil, eventsPerMinute: Int = 0) {
      self.bucket = bucket
      self.eventsPerMinute = eventsPerMinute
    }
  }

  /// How long what is known of a job is kept after its end.
  package struct Retention: Sendable {
    /// Of its record, when it ended well: done, and nothing of it rejected, expired or failed; nil for 7 days.
    package var seconds: Int?
    /// How long the record is kept when the job did not end well; nil for as long.
    package var otherwiseSeconds: Int?
    /// Whether its content is kept as long, also when nothing of it failed.
    package var keepsContent = true
  }

  package var app: String
  /// The job's id, or one that the worker made for a job without.
  package var id: String
  /// The digest of the canonical job: the same id with another digest is a conflict.
  package var digest: String
  /// Canonical `JobContent`.
  package var content: [UInt8]
  package var audience: Audience
  /// The HASH of what texts are filled in with for each user.
  package var variablesKey: String?
  package var timing: Timing
  package var loopGuard: LoopGuard
  package var retention = Retention()

  package init(
    app: String, id: String, digest: String, content: [UInt8], audience: Audience,
    variablesKey: String? = nil, timing: Timing = Timing(), loopGuard: LoopGuard = LoopGuard()
  ) {
    self.app = app
    self.id = id
    self.digest = digest
    self.content = content
    self.audience = audience
    self.variablesKey = variablesKey
    self.timing = timing
    self.loopGuard = loopGuard
  }
}
