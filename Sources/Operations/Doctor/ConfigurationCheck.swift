internal import HTTPClient
package import Model
internal import Providers
package import PushpoolConfiguration
internal import Reactor
internal import Store

/// Everything that is wrong with a configuration and the files that it names. It needs neither Redis nor a network.
package struct ConfigurationCheck: Sendable {
  /// The file; what stands in for it when there is none.
  package let file: String
  /// nil when the file cannot be read, or is not YAML.
  package let configuration: Configuration?
  /// The errors, one for each field, in the order of the file; those of variables behind them. At most
  /// `ConfigurationLimits.errorsMax`.
  package let errors: [ConfigurationError]
  /// How many more there are.
  package let omitted: Int
  /// How many files were looked into.
  package let filesCount: Int
  /// Secrets that everybody on this machine may read, a sentence each.
  package let openSecrets: [String]
  /// Other things that are taken all the same, a sentence each.
  package let remarks: [String]

  /// - Parameters:
  ///   - file: nil for none: the defaults and the variables.
  ///   - reader: the one whose files are looked into.
  package init(
    file: String?, environment: [String: String], for reader: Configuration.Reader = .checker
  ) {
    let reading = Configuration.examine(file: file, environment: environment)
    self.file = file ?? "configuration"
    configuration = reading.configuration
    var errors = reading.errors
    func add(_ others: [ConfigurationError]) {
      // What follows from an error of the field says nothing more.
      for other in others where !errors.contains(where: { $0.field == other.field }) {
        errors.append(other)
      }
    }
    if let configuration {
      add(configuration.validateFilesExist(for: reader))
      for shard in configuration.shards.all {
        add(Self.faults(in: shard.redis, of: configuration))
      }
      add(Self.faults(ofApps: configuration, behind: reading))
      add(Self.faults(ofAppKeys: configuration))
      if reader != .worker { add(Self.faults(ofUserTokens: configuration)) }
    }
    let ordered = Self.ordered(errors, file: self.file)
    self.errors = Array(ordered.prefix(ConfigurationLimits.errorsMax))
    omitted = reading.omitted + ordered.count - self.errors.count
    filesCount = configuration?.files(for: reader).count ?? 0
    openSecrets = configuration?.secretsReadableByAll(for: reader) ?? []
    let saysApps = reading.silent.contains("apps") || errors.contains { $0.field == "apps" }
    remarks = configuration.map { Self.remarks(on: $0, saysApps: saysApps) } ?? []
  }

  package var warnings: [String] { openSecrets + remarks }

  /// Whether a worker would start with it, as far as the configuration is concerned.
  package var isRight: Bool { errors.isEmpty }

  private static func ordered(
    _ errors: [ConfigurationError], file: String
  ) -> [ConfigurationError] {
    func place(_ error: ConfigurationError) -> Int {
      error.file == file ? error.line ?? 0 : Int.max
    }
    return errors.enumerated().sorted {
      (place($0.element), $0.offset) < (place($1.element), $1.offset)
    }.map(\.element)
  }

  /// The faults in what the files contain that say how to reach Redis.
  private static func faults(
    in redis: RedisConfiguration, of configuration: Configuration
  ) -> [ConfigurationError] {
    var faults: [ConfigurationError] = []
    func note(_ field: String, _ message: String) {
      let place = configuration.files.first { $0.field == field }
      faults.append(
        ConfigurationError(
          file: place?.namedIn ?? "configuration", line: place?.line, field: field,
          message: message))
    }
    do throws(ConfigurationError) { _ = try redis.password() } catch {
      note(error.field, "\(error.file) \(error.message)")
    }
    do throws(ConfigurationError) { _ = try redis.sentinel.password(in: redis.section) } catch {
      note(error.field, "\(error.file) \(error.message)")
    }
    for (field, file) in [
      ("ca_file", redis.caFile), ("sentinel_ca_file", redis.sentinel.caFile),
    ] {
      guard let file else { continue }
      do throws(TLSError) { _ = try TrustStore.pem(file) } catch {
        note("\(redis.section).\(field)", error.message)
      }
    }
    return faults
  }

  /// The faults in what the files of apps contain, without those that follow from an error of the reading.
  private static func faults(
    ofApps configuration: Configuration, behind reading: ConfigurationReading
  ) -> [ConfigurationError] {
    let quota = ".fcm.messages_per_minute"
    // The quota that stands in for it is none that another app could differ from.
    let isQuotaMadeUp = reading.errors.contains { $0.field.hasSuffix(quota) }
    return MaterialInspection.faults(in: configuration, client: HTTPClient()).filter {
      !reading.silent.contains($0.field) && !(isQuotaMadeUp && $0.field.hasSuffix(quota))
    }
  }

  /// The faults in the keys that seal the secrets of apps in Redis.
  private static func faults(ofAppKeys configuration: Configuration) -> [ConfigurationError] {
    do throws(ConfigurationError) { _ = try SealingKeys(configuration) } catch { return [error] }
    return []
  }

  /// The faults in what the files contain that users' tokens are checked with.
  private static func faults(ofUserTokens configuration: Configuration) -> [ConfigurationError] {
    // Entries that could not be read are not in the list: by its order, each key that names a file has the next one.
    let keys = configuration.serve.userTokens.filter { !$0.keyFile.isEmpty }
    let files = configuration.files.filter { $0.field.hasPrefix("serve.user_tokens[") }
    return zip(keys, files).compactMap { key, file in
      do throws(CredentialFileError) {
        _ = try UserTokenKey(key)
        return nil
      } catch {
        return ConfigurationError(
          file: file.namedIn, line: file.line, field: file.field, message: error.description)
      }
    }
  }

  /// - Parameter saysApps: whether an error says already why there are no apps.
  private static func remarks(on configuration: Configuration, saysApps: Bool) -> [String] {
    var remarks: [String] = []
    if !configuration.hasApps, !saysApps {
      remarks.append(
        "there are no apps: a worker does not start with it, and other commands need no more")
    }
    return remarks
      + configuration.unusedVariables.map { "\($0) is set but is no setting of pushpool" }
  }
}

extension ConfigurationCheck {
  /// Returns all of it as one object.
  package var json: JSONValue {
    .object([
      "file": .string(file), "ok": .bool(isRight),
      "apps": .integer(configuration?.apps.count ?? 0),
      "errors": .array(
        errors.map { error in
          .object([
            "file": .string(error.file), "line": error.line.map { .integer($0) } ?? .null,
            "field": .string(error.field), "message": .string(error.message),
          ])
        }),
      "errors_omitted": .integer(omitted),
      "warnings": .array(warnings.map { .string($0) }),
    ])
  }
}
