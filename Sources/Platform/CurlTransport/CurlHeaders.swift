import CCurl
import HTTP2

/// The header lines of a request, as libcurl takes them.
final class CurlHeaders {
  let list: UnsafeMutablePointer<curl_slist>?
  /// The path of every request; nil when each brings its own.
  let path: [UInt8]?

  init(_ head: RequestHead) {
    // What libcurl would add of its own accord; and no "100 Continue" round trip.
    var lines = ["Accept:", "Expect:"]
    var hasContentType = false
    var path: [UInt8] = []
    head.forEachField { name, value in
      let name = String(decoding: name, as: UTF8.self)
      let text = String(decoding: value, as: UTF8.self)
      switch name {
      case ":authority": lines.append("Host: \(text)")
      case ":path": path = Array(value)
      case _ where name.hasPrefix(":"): break
      default:
        if name == "content-type" { hasContentType = true }
        lines.append(text.isEmpty ? "\(name);" : "\(name): \(text)")
      }
    }
    if !hasContentType { lines.append("Content-Type:") }
    self.path = head.hasFixedPath ? path : nil
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines { list = curl_slist_append(list, line) }
    self.list = list
  }

  deinit { curl_slist_free_all(list) }
}
