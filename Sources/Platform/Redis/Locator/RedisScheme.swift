/// The beginnings of a `redis.url` that leads to a place, without TLS and with it.
struct RedisScheme {
  let plain: String
  let secure: String

  static let server = RedisScheme(plain: "redis://", secure: "rediss://")
  static let cluster = RedisScheme(plain: "redis+cluster://", secure: "rediss+cluster://")
  static let sentinels = RedisScheme(plain: "redis+sentinel://", secure: "rediss+sentinel://")
}

extension RedisPlace {
  var scheme: RedisScheme {
    switch self {
    case .server: .server
    case .cluster: .cluster
    case .sentinels: .sentinels
    }
  }
}
