/// The limits of HTTP/2 connections.
package enum HTTP2Limits {
  /// Connections of a pool, the draining ones included, in multiples of those it keeps open. One drains for as long as its slowest
  /// answer takes, while others of its kind come and go.
  static let drainingFactorMax = 32
  /// Requests that may wait for a pool's first connection; for more it opens all of them at once.
  package static let waitingForOneMax = 16
  /// Answers after which a connection that ends was of use, however short it was: many servers end each after 1,000.
  static let usefulAnswersMin = 100
  /// How long a pool keeps to the number of requests after which a server has ended connections.
  static let requestsLearnedNs: UInt64 = 600_000_000_000
  /// Requests under way on a connection that breaks, from which on it counts as a loss.
  static let lostRequestsMin = 64
  /// How many losses spread the requests over four times as many connections; two spread them over twice as many.
  static let lossesMax = 3
  /// How long a loss is remembered without another one.
  static let lossesKnownNs: UInt64 = 60_000_000_000
  /// Trouble in a row on one connection, by weight, after which it is replaced while the others have none: a dozen of what was in
  /// flight, six of its trials, or two trials that were not answered in time.
  static let outlierWeightMin = 12
  /// Good answers on the others that it takes, at least, and for each time that others had trouble. So nothing is replaced where
  /// a fifth of all answers is trouble at random.
  static let othersGoodMin = 8
  static let othersGoodPerRow = 4
  /// How long a connection with trouble waits for its next trial, while others are well: doubled from the least to the most.
  static let troublePauseNsMin: UInt64 = 250_000_000
  static let troublePauseNsMax: UInt64 = 2_000_000_000
  /// Trouble in a row on the only connection, by weight, that opens another one to compare with, and up to how many.
  static let otherWantedWeightMin = 4
  static let connectionsTriedMax = 3
  /// For how long after trouble requests wait for a connection that is being opened.
  static let othersAwaitedNs: UInt64 = 1_000_000_000
  /// How long a connection has answered nothing, with requests in flight, when others come first.
  package static let laggingNs: UInt64 = 1_000_000_000
  /// How long ago the last request of a connection may be that ends in use.
  static let inUseNs: UInt64 = 1_000_000_000
  /// How many ends must be like the one before them to teach that number.
  static let endsAlikeMin = 2
  /// How far apart two such ends may be.
  static let endsApartNsMax: UInt64 = 60_000_000_000
  /// Requests that are submitted before they are framed. nghttp2 queues each twice, headers and body, in heaps and
  /// trees of stream objects; with hundreds in them most steps miss the cache.
  static let submissionsPerRound = 16
  /// Bytes of an answer's body that are kept. Providers' error bodies are a few hundred bytes, a few thousand where
  /// they echo what they complain about. Of a longer one the beginning is kept, and `RequestAnswer.Content.isBodyCut` says so.
  package static let answerBodyBytesMax = 16 * 1024
  /// Bytes of the body of a 200 that are looked at in place.
  static let recognisedBytesMax = 256
  /// Bytes of an answer's Content-Type that are kept.
  package static let contentTypeBytesMax = 64
  /// Bytes of a GOAWAY's debug data that are kept for the logs.
  static let debugDataBytesMax = 512
}
