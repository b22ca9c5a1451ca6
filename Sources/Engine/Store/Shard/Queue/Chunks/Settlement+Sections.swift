internal import Model
internal import Redis

/// The arguments of `settle`.
extension Settlement {
  private static let chunk = Sections.Section(name: "chunk", columns: 8)
  private static let progress = Sections.Section(name: "progress", columns: 6)
  private static let counts = Sections.Section(name: "counts", columns: 3)
  private static let residuals = Sections.Section(name: "residuals", columns: 3)
  private static let unrouted = Sections.Section(name: "unrouted", columns: 4)
  private static let open = Sections.Section(name: "open", columns: 1)
  private static let tallies = Sections.Section(name: "tallies", columns: 4)
  private static let labels = Sections.Section(name: "labels", columns: 5)
  private static let invalid = Sections.Section(name: "invalid", columns: 7)

  func sections(of claim: ChunkClaim, consumer: String) -> Sections {
    var sections = Sections()
    sections.add(Self.chunk) { row in
      row.append(consumer)
      row.append(claim.priority.rawValue)
      row.append(claim.entry)
      row.append(claim.app)
      row.append(claim.job)
      row.append(claim.segment)
      row.append(claim.source)
      row.append(claim.lines.rawValue)
    }
    sections.add(Self.progress) { row in
      row.append(isFinal ? "1" : onlyWaits ? "2" : "0")
      row.append(done.bytes)
      row.append(told?.bytes ?? Array("-".utf8))
      row.append(totalDelta)
      row.append(noInstallations)
      row.append(retries)
    }
    sections.add(Self.counts, reached) { count, row in
      row.append(count.network)
      row.append(count.outcome)
      row.append(count.count)
    }
    addLines(to: &sections)
    addAnswers(to: &sections)
    return sections
  }

  /// The outcomes that were reached.
  var reached: [(network: String, outcome: String, count: Int)] {
    var flat: [(network: String, outcome: String, count: Int)] = []
    if skippedUnread > 0 { flat.append(("none", "skipped", skippedUnread)) }
    for (network, outcomes) in counts {
      for (name, count) in outcomes.fields
      where count > 0 && name != "retries" && name != "no_installations" {
        flat.append((network.rawValue, name, count))
      }
    }
    return flat
  }

  /// Installations that are not done.
  private func addLines(to sections: inout Sections) {
    sections.add(Self.residuals, residuals) { residual, row in
      row.append(Int(clamping: residual.delayMs))
      row.append(residual.joins ? "1" : "0")
      row.append(residual.lines)
    }
    sections.add(Self.unrouted, unrouted) { unrouted, row in
      row.append(unrouted.network.rawValue)
      row.append(unrouted.environment.rawValue)
      row.append(Int(clamping: unroutedMs))
      row.append(unrouted.lines)
    }
    if !stillOpen.isEmpty { sections.add(Self.open) { $0.append(stillOpen) } }
  }

  /// Adds the networks' answers about installations.
  private func addAnswers(to sections: inout Sections) {
    sections.add(Self.tallies, tallies) { tally, row in
      row.append(tally.network.rawValue)
      row.append(tally.environment.rawValue)
      row.append(tally.answers)
      row.append(tally.misfits)
    }
    sections.add(Self.labels, relabellings) { relabelling, row in
      row.append(relabelling.network.rawValue)
      row.append(relabelling.token)
      row.append(relabelling.user)
      row.append(String(relabelling.generation))
      row.append(relabelling.environment.rawValue)
    }
    sections.add(Self.invalid, invalidations) { invalid, row in
      row.append(invalid.network.rawValue)
      row.append(invalid.environment.rawValue)
      row.append(invalid.token)
      row.append(invalid.user)
      row.append(String(invalid.generation))
      row.append(invalid.sinceMs.map { String($0) } ?? "")
      row.append(invalid.reason)
    }
  }
}
