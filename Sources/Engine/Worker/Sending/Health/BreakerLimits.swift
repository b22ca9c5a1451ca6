/// The numbers by which a `Breaker` judges.
package enum BreakerLimits {
  /// Trouble in a row that opens it, of requests that were sent since the latest good answer. The last must have been sent after the
  /// first of them came, or have waited for so long in vain. Of 60 % at random that is met with once in 10^14 answers.
  static let troublesMin = 64
  static let waitedNs: UInt64 = 1_000_000_000
  /// Trouble in a row that opens it where nothing has been good within the window. Less of it within the window opens
  /// nothing: what comes seldom costs little.
  static let firstTroublesMin = 20
  /// How much trouble a good answer makes up for: so what nearly all is trouble opens it in the end, over 93 % of the answers.
  static let troublesPerGood = 14
  /// Trouble that nothing has made up for which opens it, in requests that may be in flight, and at least and at most. Of what is in
  /// flight all trouble may come first.
  static let surplusOfStreams = 2
  static let surplusMin = 256
  static let surplusMax = 16_384
  /// The most attempts that an outage burns: what is trouble after so much in a row is no attempt of its push.
  package static let attemptsBurnedMax = 64
  /// The attempt of a push from which on its trouble opens it where nothing was good for a while: so an outage that few requests
  /// meet with is known as well, and leaves each push attempts for the time after it. The attempts say it rather than a count on
  /// this lane: lanes and workers take turns with a push.
  static let attemptMin = 5
  /// How long that while is. Eight attempts seldom take less; and what one push alone meets with, while others get through now
  /// and then, is to be its own affair.
  static let quietNs: UInt64 = 15_000_000_000
  /// Answers within the window below which their share of trouble says nothing.
  static let answersMin = 64
  /// The share of trouble from which on not every one is an attempt of its push.
  static let sharedPercentMin = 10
  /// The share of trouble from which on fewer requests are in flight.
  static let slowedPercentMin = 33
  /// The share is the lesser one of the window's and of the last so many answers', roughly: what is over slows nothing.
  static let recentMax = 256
  static let bucketNs: UInt64 = 1_000_000_000
  /// The window is so many buckets long, the running one included.
  static let bucketCount = 5
  /// The shortest pause: a network that is well again is sent to within two seconds.
  static let openMsMin: UInt64 = 400
  static let openMsMax: UInt64 = 1_200
  /// A longer Retry-After is kept to by the pushes that were told, while probes go out after this.
  static let retryAfterMsMax: UInt64 = 900_000
  /// Probes that are under way at a time.
  static let probesMax = 4
  /// Good answers to probes that close it, unless so many of trouble come in a row and open it.
  static let successesMin = 3
  static let probeTroublesMax = 3
  /// Requests in flight when it has closed, how many more for each good answer, and from how many on it holds back none.
  static let rampFirst = 16
  static let rampStep = 2
  static let rampMax = 4_096
  /// After so long without anything to probe with it is taken for closed: longer than a probe can take.
  static let idleNs: UInt64 = 60_000_000_000
}
