import Model

@testable import Store

/// A chunk as one consumer carries it: what it knows, which may be out of date.
struct ModelRun {
  let claim: ChunkClaim
  var recipients: [String]
  /// What it has told the store, or heard from it.
  var told: DoneBitmap
  /// Its last settlement, to be repeated.
  var last: ModelReport?
  /// Whether it was answered that the chunk is another's.
  var isLastStale = false

  var chunk: ModelChunk {
    ModelChunk(
      job: claim.job, segment: claim.segment, source: claim.source, priority: claim.priority,
      lines: claim.lines)
  }

  init(_ claim: ChunkClaim) {
    self.claim = claim
    told = claim.done
    let lines = claim.recipients.split(separator: UInt8(ascii: "\n"))
    recipients = lines.map { line in
      let fields = line.split(separator: UInt8(ascii: "\t"))
      return String(decoding: fields.count > 2 ? fields[2] : line, as: UTF8.self)
    }
  }
}

/// A settlement in the model's words.
struct ModelReport {
  enum Effect {
    case resolved(user: String, installations: [String])
    case ended(String, Network, WritableKeyPath<OutcomeCounts, Int>)
    case invalid(String, Settlement.Invalidation)
    case retried

    var isInvalidation: Bool {
      if case .invalid = self { return true }
      return false
    }
  }

  var isFinal: Bool
  /// What its consumer believes the store to have.
  var told: DoneBitmap
  var done: DoneBitmap
  var effects: [Effect] = []
  /// To be tried again: at once, and later.
  var residuals: [(isLater: Bool, names: [String])] = []
  /// Installations of users that are done without them.
  var stillOpen: [String] = []
  /// The chunk's recipients afterwards.
  var recipients: [String] = []

  /// How far away later is: never, unless it is hurried.
  static let laterMs: UInt64 = 3_600_000

  var settlement: Settlement {
    var settlement = Settlement()
    settlement.isFinal = isFinal
    settlement.told = told
    settlement.done = done
    for effect in effects {
      switch effect {
      case .resolved(_, let installations):
        settlement.resolveUser(installations: installations.count)
      case .ended(_, let network, let outcome):
        settlement.counts[network, default: OutcomeCounts()][keyPath: outcome] += 1
      case .invalid(_, let verdict): settlement.invalidations.append(verdict)
      case .retried: settlement.retries += 1
      }
    }
    settlement.residuals = residuals.map { isLater, names in
      Settlement.Residual(
        delayMs: isLater ? Self.laterMs : 0,
        lines: Array(names.map { "apns\tproduction\t\($0)\tu\t1\t1\n" }.joined().utf8))
    }
    settlement.stillOpen = Array(
      stillOpen.map { "apns\tproduction\t\($0)\tu\t1\t0\n" }.joined().utf8)
    return settlement
  }
}

extension ModelJobEntry {
  /// From the text that the producer wrote: `<id> <digest>`.
  init(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    self.init(id: words[0], digest: words[1], text: text)
  }
}
