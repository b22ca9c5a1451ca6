import HTTP2

/// Bounds of providers, and bounds on what is read of networks' answers. Those that a network sets stand in its folder.
package enum ProviderLimits {
  /// The most bytes of a plain job that is surely within every network's limits. Each of its texts stands there once,
  /// no longer than in the job, beside names of a few hundred bytes.
  static let plainJobBytesMax = 1_024

  /// Networks and environments of all apps together.
  package static let entriesMax = 32_767
  /// Why an app of Redis is left out that has none of these.
  static let noPlace =
    "finds no place: all apps of a worker have at most \(entriesMax) networks and environments between them; it is taken as "
    + "soon as others have made room"
  /// Numbers that entries of a process may have had. Each lane keeps a table of so many places. None is given twice, for pushes that
  /// are in flight go by them.
  package static let entryNumbersMax = 500_000
  /// From how many on operators are told to restart the worker.
  package static let entryNumbersTold = 400_000

  /// Iterations by which a password opens a certificate's key of an app of Redis. A worker that starts opens those of 10,000 apps, and
  /// a server does so for whoever puts an app or previews its job. OpenSSL asks for 2,048, and other tools for 20,000; a few ask for
  /// 600,000, which take 0.2 s of a core.
  static let redisKeyIterationsMax = 50_000

  /// An answer longer than this is judged by its status alone.
  package static let answerBytesMax = HTTP2Limits.answerBodyBytesMax
  /// Bytes that are shown of the text of an answer that is not the network's.
  static let shownBodyBytesMax = 80
  static let answerDepthMax = 16
  static let answerValuesMax = 512
}
