/// What a line of a segment is.
package enum ChunkLines: String, Sendable {
  /// A user id.
  case users
  /// An `InstallationLine`.
  case installations
}
