internal import Operations
internal import Redis
internal import Store

/// The keys and sessions of browsers, as Redis has them; tests have their own.
struct AccessRecords: Sendable {
  let key: @Sendable (_ id: String) async throws(Problem) -> AccessKey?
  let sessionKeyID: @Sendable (_ secret: String) async throws(Problem) -> String?
  let beginSession:
    @Sendable (_ secret: String, _ keyID: String, _ nowMs: Int64) async throws(Problem) -> Void
  let endSession: @Sendable (_ secret: String) async throws(Problem) -> Void

  init(
    key: @escaping @Sendable (String) async throws(Problem) -> AccessKey?,
    sessionKeyID: @escaping @Sendable (String) async throws(Problem) -> String?,
    beginSession: @escaping @Sendable (String, String, Int64) async throws(Problem) -> Void,
    endSession: @escaping @Sendable (String) async throws(Problem) -> Void
  ) {
    self.key = key
    self.sessionKeyID = sessionKeyID
    self.beginSession = beginSession
    self.endSession = endSession
  }

  init(_ services: Services) {
    self.init(
      key: { (id) async throws(Problem) in
        try await services.atHome { fleet throws(RedisError) in
          try await KeyOffice(fleet: fleet).find(id)
        }
      },
      sessionKeyID: { (secret) async throws(Problem) in
        try await services.atHome { fleet throws(RedisError) in
          try await fleet.browserSessions.keyID(of: secret)
        }
      },
      beginSession: { (secret, keyID, nowMs) async throws(Problem) in
        try await services.atHome { fleet throws(RedisError) in
          try await fleet.browserSessions.begin(
            secret, keyID: keyID, createdAtMs: nowMs, seconds: ServerLimits.sessionSeconds)
        }
      },
      endSession: { (secret) async throws(Problem) in
        try await services.atHome { fleet throws(RedisError) in
          try await fleet.browserSessions.end(secret)
        }
      })
  }
}
