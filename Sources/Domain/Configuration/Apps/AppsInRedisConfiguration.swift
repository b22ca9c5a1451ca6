internal import Model
internal import Yams

/// The settings for apps that stand in Redis instead of the file.
package struct AppsInRedisConfiguration: Sendable, Equatable {
  /// The files of the keys that seal these apps' secrets: the newest first, which seals, and those before it, which only open.
  /// One at least.
  package var keyFiles: [String]

  package init(keyFiles: [String]) { self.keyFiles = keyFiles }
}

extension AppsInRedisConfiguration {
  static let name = "apps_in_redis"
  static let keyFilesName = "key_files"

  /// The field that names the files.
  package static var keyFilesField: String { "\(name).\(keyFilesName)" }

  /// Nil when there are to be no apps in Redis.
  init?(in root: ConfigurationSection) throws(ConfigurationError) {
    let section = try root.section(Self.name, known: [Self.keyFilesName])
    guard section.isPresent(fields: [Self.keyFilesName]) else { return nil }
    let words = try section.source.reading(else: []) { () throws(ConfigurationError) in
      try section.words(Self.keyFilesName, max: ConfigurationLimits.appKeysMax)
    }
    var files: [String] = []
    for word in words {
      try section.source.reading(else: ()) { () throws(ConfigurationError) in
        files.append(try section.checkedPath(word))
      }
    }
    if words.isEmpty {
      try section.source.refuse(
        section.missing(
          Self.keyFilesName,
          "is missing: a list of files with a key each, the newest first; make one with: openssl rand -base64 32"
        ))
    }
    self.init(keyFiles: files)
  }
}
