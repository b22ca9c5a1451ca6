internal import Model
internal import Redis

/// The arguments of `install`, `create` and `install_many`.
enum InstallationSections {
  private static let batch = Sections.Section(name: "batch", columns: 2)
  private static let installations = Sections.Section(name: "installations", columns: 10)
  private static let fields = Sections.Section(name: "fields", columns: 2)

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
