internal import Store

/// The files of the dashboard, which the program carries in itself.
enum PageAssets {
  struct Asset: Sendable {
    let bytes: [UInt8]
    let type: String
    /// Changes with the bytes (RFC 9110, 8.8.3).
    let entityTag: String

    init(_ bytes: [UInt8], _ type: String) {
      self.bytes = bytes
      self.type = type
      entityTag = "\"\(ContentDigest.of(bytes))\""
    }
  }

  static let page = Asset(PackageResources.index_html, "text/html; charset=utf-8")

  /// By their names below `/assets/`.
  static let named: [String: Asset] = [
    "style.css": Asset(PackageResources.style_css, "text/css; charset=utf-8"),
    "favicon.svg": Asset(PackageResources.favicon_svg, "image/svg+xml"),
    "operating.txt": Asset(PackageResources.operating_txt, "text/markdown; charset=utf-8"),
    "app.js": script(PackageResources.app_js),
    "api.js": script(PackageResources.api_js),
    "charts.js": script(PackageResources.charts_js),
    "dialogs.js": script(PackageResources.dialogs_js),
    "dom.js": script(PackageResources.dom_js),
    "feed.js": script(PackageResources.feed_js),
    "format.js": script(PackageResources.format_js),
    "guide.js": script(PackageResources.guide_js),
    "page.js": script(PackageResources.page_js),
    "view-acts.js": script(PackageResources.view_acts_js),
    "view-dead-letters.js": script(PackageResources.view_dead_letters_js),
    "view-fleet.js": script(PackageResources.view_fleet_js),
    "view-job.js": script(PackageResources.view_job_js),
    "view-jobs.js": script(PackageResources.view_jobs_js),
    "view-keys.js": script(PackageResources.view_keys_js),
    "view-look-up.js": script(PackageResources.view_look_up_js),
    "view-overview.js": script(PackageResources.view_overview_js),
  ]

  private static func script(_ bytes: [UInt8]) -> Asset {
    Asset(bytes, "text/javascript; charset=utf-8")
  }
}
