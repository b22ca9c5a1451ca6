/// The sign that the end of a request gives of the connection that carried it, in the judgement of whoever sent it. Its
/// number is how much that weighs as trouble.
package enum ConnectionSign: Int, Sendable {
  /// The server at its end does its work, whatever it says of the request.
  case good = 0
  /// Nothing.
  case none = -1
  /// The trouble may be the connection's, or that of all.
  case trouble = 1
  /// The trouble as before, of a request that waited in vain, or that has paid for it.
  case graveTrouble = 4
}
