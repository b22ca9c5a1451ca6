internal import HTTP2
/// The header fields of an answer, laid out once and sent any number of times. It must outlive the
/// connections it was used on.
package final class ResponseHead {
  let list: HeaderList

  package init(status: Int, headers: [(name: String, value: String)] = []) {
    list = HeaderList(
      [(":status", Array(String(status).utf8), true)]
        + headers.map { ($0.name, Array($0.value.utf8), true) })
  }
}
