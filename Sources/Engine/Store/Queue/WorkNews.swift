/// What ended a wait for work: the kinds that were added to.
package struct WorkNews: Sendable, Equatable {
  package var hasJobs = false
  package var hasChunks = false

  package init(hasJobs: Bool = false, hasChunks: Bool = false) {
    self.hasJobs = hasJobs
    self.hasChunks = hasChunks
  }
}
