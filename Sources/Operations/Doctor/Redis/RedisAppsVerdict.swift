internal import Model
internal import Providers
internal import PushpoolConfiguration

/// The meaning of what was found of the apps that stand in Redis. A value without input or output.
struct RedisAppsVerdict {
  /// The apps as a worker with this configuration has them.
  private let apps: RedisApps
  private let examined: ExaminedApps
  private let lackingKey: Set<String>

  init(_ apps: RedisApps, of examined: ExaminedApps) {
    self.apps = apps
    self.examined = examined
    lackingKey = Set(examined.all.filter(\.lacksKey).map(\.id))
  }

  /// A finding for each of the first apps that need a person, and one for those that do not.
  var findings: [DoctorFinding] {
    let needs =
      apps.leftOut.values.sorted { $0.id < $1.id }.map(leftOut)
      + apps.displaced.sorted().map(displaced)
    var findings = Array(needs.prefix(OperationsLimits.badAppsToldMax))
    let rest = needs.count - findings.count
    if rest > 0 {
      findings.append(
        DoctorFinding(
          .error, "redis", "keeps \(rest) more apps with such faults",
          remedy: "mend those above, and ask the doctor again"))
    }
    findings.append(
      DoctorFinding(.good, "redis", "keeps apps that can be sent for: \(apps.usable.count)"))
    if !examined.isAll {
      findings.append(
        DoctorFinding(
          .note, "redis",
          "keeps more apps: the doctor looks at some \(OperationsLimits.examinedAppsMax), and at any other with --app"
        ))
    }
    return findings
  }

  private func leftOut(_ app: LeftOutApp) -> DoctorFinding {
    let error = app.errors.first
    let place = error.map { $0.field.isEmpty ? "" : "\($0.field): " } ?? ""
    return DoctorFinding(
      .error, "redis",
      "keeps an app that workers leave out, \(FieldPointer.printable(app.id)): \(place)\(error?.message ?? "")",
      remedy: lackingKey.contains(app.id)
        ? "name the file of that key in \(AppsInRedisConfiguration.keyFilesField), behind the newest, or set the app "
          + "anew (pushpool app set)"
        : "set the app anew (pushpool app set), or remove it (pushpool app remove)")
  }

  private func displaced(_ id: String) -> DoctorFinding {
    DoctorFinding(
      .warning, "redis",
      "keeps an app that the configuration file names, too, \(FieldPointer.printable(id)): workers with this file go by the file",
      remedy:
        "remove one of the two (pushpool app remove \(FieldPointer.printable(id)), or take it out of the file)"
    )
  }
}
