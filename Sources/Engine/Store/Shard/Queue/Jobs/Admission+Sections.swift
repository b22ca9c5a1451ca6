internal import Model
internal import Redis

/// The arguments of `admit`.
extension Admission {
  private static let entry = Sections.Section(name: "entry", columns: 3)
  private static let job = Sections.Section(name: "job", columns: 4)
  private static let audience = Sections.Section(name: "audience", columns: 6)
  private static let texts = Sections.Section(name: "texts", columns: 1)
  private static let index = Sections.Section(name: "index", columns: 3)
  private static let variables = Sections.Section(name: "variables", columns: 1)
  private static let event = Sections.Section(name: "event", columns: 2)
  private static let pace = Sections.Section(name: "pace", columns: 2)
  private static let rounds = Sections.Section(name: "rounds", columns: 1)
  private static let lives = Sections.Section(name: "lives", columns: 1)
  private static let begun = Sections.Section(name: "begun", columns: 1)
  private static let ending = Sections.Section(name: "ending", columns: 3)

  func sections(of entry: JobEntry, consumer: String) -> Sections {
    var sections = Sections()
    sections.add(Self.entry) { row in
      row.append(consumer)
      row.append(entry.priority.rawValue)
      row.append(entry.entry)
    }
    sections.add(Self.job) { row in
      row.append(app)
      row.append(id)
      row.append(digest)
      row.append(content)
    }
    sections.add(Self.audience) { row in
      row.append(audience.lines.rawValue)
      row.append(audience.recipients)
      row.append(audience.segments)
      row.append(audience.window)
      row.append(timing.startAtMs.map { String($0) } ?? "")
      row.append(audience.usersKey ?? "")
    }
    sections.add(Self.texts, audience.texts) { text, row in row.append(text) }
    if let index = audience.index {
      sections.add(Self.index) { row in
        row.append(index.name)
        row.append(index.topic ?? "")
        row.append(loopGuard.eventsPerMinute)
      }
    }
    if let variablesKey {
      sections.add(Self.variables) { row in row.append(variablesKey) }
    }
    if let bucket = loopGuard.bucket {
      sections.add(Self.event) { row in
        row.append(bucket)
        row.append(loopGuard.eventsPerMinute)
      }
    }
    if let seconds = retention.seconds {
      sections.add(Self.ending) { row in
        row.append(seconds)
        row.append(retention.otherwiseSeconds ?? seconds)
        row.append(retention.keepsContent ? 1 : 0)
      }
    }
    if let pace = timing.pace {
      sections.add(Self.pace) { row in
        switch pace {
        case .perSecond(let count):
          row.append(count)
          row.append("")
        case .spread(let seconds):
          row.append("")
          row.append(seconds)
        }
      }
    }
    if !timing.roundsAtMs.isEmpty {
      sections.add(Self.rounds) { row in
        row.append(timing.roundsAtMs.map(String.init).joined(separator: " "))
      }
    }
    if let seconds = timing.livesSeconds { sections.add(Self.lives) { $0.append(seconds) } }
    if let startedAtMs = timing.startedAtMs {
      sections.add(Self.begun) { $0.append(String(startedAtMs)) }
    }
    return sections
  }
}
