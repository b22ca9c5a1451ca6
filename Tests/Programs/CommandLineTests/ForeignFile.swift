/// Exports of other services, as `pushpool import` reads them.
enum ForeignFile {
  static let token = ImportFile.token(1)

  /// As the REST API of Parse Server and its dashboard give it.
  static let parse = #"""
    {"results": [
      {"objectId": "p1", "createdAt": "2026-01-02T03:04:05.678Z", "updatedAt": "2026-02-03T04:05:06.789Z",
       "deviceType": "ios", "deviceToken": "\#(token)", "installationId": "i-1",
       "user": {"__type": "Pointer", "className": "_User", "objectId": "ann"},
       "channels": ["", "giants"], "badge": 3, "timeZone": "Asia/Tokyo", "localeIdentifier": "ja_JP",
       "appName": "Shop", "appVersion": "2.1", "appIdentifier": "com.example.shop", "parseVersion": "5.0",
       "favourite": 7, "isTester": true, "home": {"__type": "GeoPoint", "latitude": 1, "longitude": 2},
       "GCMSenderId": "1", "ACL": {"*": {"read": true}}},
      {"objectId": "p2", "deviceType": "android", "pushType": "gcm", "deviceToken": "cX2:token",
       "user": {"__type": "Pointer", "className": "_User", "objectId": "bob"}, "installationId": "i-2"},
      {"objectId": "p3", "deviceType": "winrt", "installationId": "i-3"},
      {"objectId": "p4", "deviceType": "android", "deviceToken": "cX4:token", "installationId": "i-4"}
    ], "count": 4}
    """#

  /// As the dashboard of NIFCLOUD mobile backend exported it.
  static let ncmb = #"""
    {"results":[
    {"objectId":"n1","createDate":"2023-01-02T03:04:05.678Z","updateDate":"2023-02-03T04:05:06.789Z",
     "acl":null,"applicationName":"Shop","appVersion":"1.0","badge":0,"channels":["news"],
     "deviceToken":"\#(ImportFile.token(2))","deviceType":"ios","sdkVersion":"3.2.1",
     "timeZone":"Asia/Tokyo","user":"taro"},
    {"objectId":"n2","deviceType":"android","deviceToken":"dX2:token","user":"hanako",
     "timeZone":"Tokyo Standard Time"},
    {"objectId":"n3","deviceType":"ios","deviceToken":"zz","user":"jiro"}
    ]}
    """#
}
