/// The part of a job for JPush alone, merged over the common notification.
package struct JPushPart: Sendable, Equatable {
  /// Merged into the request of `/v3/push`; it names no audience and no cid.
  package var payload: JSONObject

  package init(payload: JSONObject) { self.payload = payload }
}
