/// A place in a file that is imported: what stands before it is installed, or was refused and named.
struct ImportPosition: Equatable, Sendable {
  var offset: Int64 = 0
  var lines = 0
}
