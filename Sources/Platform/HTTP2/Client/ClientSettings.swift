package import Reactor

/// How a pool of client connections behaves.
package struct ClientSettings {
  package var endpoint: Endpoint
  package var tls: TLSContext?
  /// Tunnels to the endpoint; nil where it is connected to itself.
  package var proxy: ProxyServer?
  /// The name that the certificate must carry; the endpoint's host when nil.
  package var serverName: String?
  /// Connections kept open at most.
  package var connectionsMax = 2
  /// Streams used at most on one connection, whatever the server allows.
  package var streamsMax = 1000
  /// Whether a connection uses one stream until an answer shows that the credential is accepted, as
  /// APNs demands with token authentication.
  package var startsWithOneStream = false
  /// How the server's accepts look.
  package var acceptedForm = AcceptedForm.judged
  package var connectTimeoutMs: UInt64 = 10_000
  /// From submission to the end of the answer.
  package var requestTimeoutMs: UInt64 = 10_000
  /// Silence after which a PING asks whether the peer is still there.
  package var pingAfterMs: UInt64 = 15_000
  /// How long a PING may go unanswered before the connection is given up.
  package var pingTimeoutMs: UInt64 = 5_000
  /// The waits between attempts to connect that fail: doubled from the least to the most, jittered.
  package var reconnectMsMin: UInt64 = 500
  package var reconnectMsMax: UInt64 = 60_000

  package init(endpoint: Endpoint, tls: TLSContext?) {
    self.endpoint = endpoint
    self.tls = tls
  }
}
