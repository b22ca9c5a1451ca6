/// All routes of the API and the dashboard.
enum ServedRoutes {
  static func all(gate: Gatekeeper, feed: FleetFeed, readiness: Readiness) -> [APIRoute] {
    var routes = HealthRoutes.all(readiness) + SessionRoutes.all(gate)
    routes += InstallationRoutes.all + UserRoutes.all + TopicRoutes.all
    routes += JobRoutes.all + PreviewRoutes.all + TraceRoutes.all + DeadLetterRoutes.all
    routes += SwitchRoutes.all + FleetRoutes.all + ActRoutes.all + AppRoutes.all
    routes += PageRoutes.all(feed) { await gate.holds($0) }
    return routes + [HealthRoutes.document(of: routes)]
  }
}
