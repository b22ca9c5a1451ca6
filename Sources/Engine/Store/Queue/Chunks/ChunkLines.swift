/// The kind of the lines of a segment.
package enum ChunkLines: String, Sendable {
  /// A user id; the last lines may be `InstallationLine`s, what is left of users that are done but for some devices.
  case users
  /// An `InstallationLine`.
  case installations
}
