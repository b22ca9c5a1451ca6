/// What a line of a segment is.
package enum ChunkLines: String, Sendable {
  /// A user id; the last lines may be `InstallationLine`s, what is left of users that are done but for some devices.
  case users
  /// An `InstallationLine`.
  case installations
}
