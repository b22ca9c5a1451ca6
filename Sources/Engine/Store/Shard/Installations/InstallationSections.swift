internal import Model
internal import Redis

/// The arguments of `install`, `create`, `install_many` and `amend`.
enum InstallationSections {
  private static let batch = Sections.Section(name: "batch", columns: 2)
  private static let installations = Sections.Section(name: "installations", columns: 10)
  private static let fields = Sections.Section(name: "fields", columns: 2)
  private static let read = Sections.Section(name: "read", columns: 2)
  private static let removed = Sections.Section(name: "removed", columns: 1)

  /// Returns the arguments of `install` and `create`.
  static func of(_ installations: [Installation]) -> Sections {
    var sections = Sections()
    add(installations, to: &sections)
    return sections
  }

  /// Returns the arguments of `install_many`; without a turn the order of the batches does not matter.
  static func of(_ installations: [Installation], in turn: ImportTurn?) -> Sections {
    var sections = Sections()
    sections.add(batch) { row in
      row.append(turn?.id ?? "")
      row.append(turn?.number ?? 0)
    }
    add(installations, to: &sections)
    return sections
  }

  /// Returns the arguments of `amend`.
  /// - Parameters:
  ///   - before: the record that was read.
  ///   - after: what it is to be; without channels it leaves those that it was in.
  static func of(_ before: StoredInstallation, to after: Installation) -> Sections {
    var after = after
    after.leavesChannels = after.channels.isEmpty
    var sections = Sections()
    sections.add(read) { row in
      row.append(String(before.generation))
      row.append(before.installation.badge.map { String($0) } ?? "")
    }
    add([after], to: &sections)
    let kept = Set(StoredInstallation.fields(after).map(\.0))
    let gone = StoredInstallation.fields(before.installation).map(\.0).filter {
      !kept.contains($0)
    }
    sections.add(removed, gone) { name, row in row.append(name) }
    return sections
  }

  private static func add(_ list: [Installation], to sections: inout Sections) {
    var further: [(String, String)] = []
    sections.add(installations, list) { installation, row in
      let fields = StoredInstallation.fields(installation)
      row.append(installation.app)
      row.append(installation.token.network.rawValue)
      row.append(installation.token.text)
      row.append(installation.user)
      row.append(installation.environment.rawValue)
      row.append(installation.kind == .alert ? "" : installation.kind.rawValue)
      row.append(installation.objectID ?? InstallationStore.newID())
      row.append(installation.createdAtMs.map { String($0) } ?? "")
      row.append(installation.updatedAtMs.map { String($0) } ?? "")
      row.append(fields.count)
      further += fields
    }
    sections.add(fields, further) { field, row in
      row.append(field.0)
      row.append(field.1)
    }
  }
}
