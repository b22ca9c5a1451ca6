internal import Model

/// The keys of Redis that a job of the API may name. The server may read those of all apps, and so could whoever adds a job
/// for one of them: a key of the app begins with a word and the app's id.
enum OwnKeys {
  /// - Parameter prefix: what pushpool's own keys begin with; nothing under it is a backend's.
  /// - Throws: for a `users_key` that does not begin with `segment:<app>:`, a `variables_key` not with `values:<app>:`.
  static func check(_ job: Job, prefix: String) throws(InvalidField) {
    if case .usersKey(let key) = job.audience {
      try check(key, "segment", job.app, prefix, at: "/audience/users_key")
    }
    if let key = job.content.variablesKey {
      try check(key, "values", job.app, prefix, at: "/variables_key")
    }
  }

  private static func check(
    _ key: String, _ word: String, _ app: String, _ prefix: String, at pointer: String
  ) throws(InvalidField) {
    let own = "\(word):\(app):"
    // By bytes: Redis takes two spellings of a letter for two keys.
    guard key.utf8.starts(with: own.utf8), !key.utf8.starts(with: "\(prefix):".utf8) else {
      throw InvalidField(
        pointer: pointer,
        message: "must begin with \"\(own)\": by this API a job names keys of its own app only")
    }
  }
}
