/// Where a secret came from, as messages to operators say it. Workers take another one from there by themselves.
package enum SecretPlace: Sendable, Equatable {
  /// A file that the configuration names, by its path.
  case file(String)
  /// The record of the app in Redis: the app's name is told beside it.
  case redis

  /// The certificate from there, as a sentence names it.
  var certificate: String {
    switch self {
    case .file(let path): "the certificate \(path)"
    case .redis: "the certificate of the app in Redis"
    }
  }

  /// The way to put another secret in its place, as a part of a sentence about it.
  var remedy: String {
    switch self {
    case .file: "replace the file"
    case .redis: "replace this one (pushpool app set)"
    }
  }
}
