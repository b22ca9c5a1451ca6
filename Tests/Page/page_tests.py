"""The twelve promises of the dashboard (docs/guides/dashboard.md), tried in a browser against a real fleet.

`make page-tests` runs them. With PICTURES=1 they also draw docs/dashboard/.
"""

import json
import os
import re
import threading
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import desk, phone
from stage import root, until, users

routes = [
    "", "jobs", "jobs/shop/spring-sale", "look-up?app=shop&user=user-1", "dead-letters", "fleet", "acts", "keys", "guide/no_worker",
]


def plain(text):
    """Without the thin spaces of figures."""
    return text.replace("\u202f", "")


def figure(page, name):
    """A figure at the top of the page."""
    return page.locator(".status .strip > div", has_text=name).locator("dd")


def rows(page, name):
    """The rows of a table as lists of plain texts."""
    table = page.get_by_role("region", name=name, exact=True)
    return [[plain(cell) for cell in row.locator("th, td").all_inner_texts()] for row in table.locator("tbody tr").all()]


def go(page, route):
    page.evaluate("route => { location.hash = '#/' + route; }", route)


def switch_off(stage, user):
    stage.pushpool("switch", "off", "--app", "shop", "--user", user, "--reason", "a test <b>of it</b>")


def switch_on(stage, user):
    stage.pushpool("switch", "on", "--app", "shop", "--user", user)


# 1. Events, resumption, one pause, silence while hidden, polling, one reader


def events(stream, wanted):
    """Reads a stream until an event of each wanted section has come; returns the sections in their order, and the last id."""
    found, last = [], None
    while not set(wanted) <= set(found):
        line = stream.readline().decode()
        assert line, "the stream ended"
        if line.startswith("event: "):
            found.append(line[7:].strip())
        if line.startswith("id: "):
            last = line[4:].strip()
    return found, last


def test_a_stream_tells_the_whole_state_and_then_only_what_changed(stage):
    everything = ["store", "fleet", "alarms", "jobs", "outcomes", "networks", "switches", "rates", "history"]
    with stage.stream(stage.keys["operator-look"]) as stream:
        found, last = events(stream, everything)
    assert len(found) == len(set(found))
    switch_off(stage, "resumed")
    try:
        with stage.stream(stage.keys["operator-look"], last_event=last) as stream:
            found, _ = events(stream, ["switches"])
        assert "rates" not in found
        with stage.stream(stage.keys["operator-look"], last_event="another-1") as stream:
            events(stream, everything)
    finally:
        switch_on(stage, "resumed")


def test_a_pause_holds_everywhere_and_going_on_shows_the_current_state_at_once(stage, visitor):
    held, other = visitor.open(), visitor.open()
    expect(figure(held, "Switched off")).to_have_text("0")
    held.click("#pause")
    expect(held.locator("#pause")).to_have_text("Go on")
    switch_off(stage, "paused")
    try:
        # What another page shows has reached this one as well.
        expect(figure(other, "Switched off")).to_have_text("1")
        assert figure(held, "Switched off").inner_text() == "0"
        go(held, "fleet")
        expect(held.get_by_text("Nothing is switched off.")).to_be_visible()
        expect(held.locator("#pause")).to_have_text("Go on")
        held.click("#pause")
        expect(figure(held, "Switched off")).to_have_text("1", timeout=1000)
        assert rows(held, "Switched off")[0][1] == "user paused"
    finally:
        switch_on(stage, "paused")


hide = """isHidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_hidden_page_is_silent_and_is_current_again_when_it_is_seen(stage, visitor):
    page, other = visitor.open(), visitor.open()
    expect(figure(page, "Switched off")).to_have_text("0")
    asked = []
    page.evaluate(hide, True)
    page.on("request", lambda request: asked.append(request.url))
    switch_off(stage, "hidden")
    try:
        expect(figure(other, "Switched off")).to_have_text("1")
        assert figure(page, "Switched off").inner_text() == "0"
        assert asked == []
        page.evaluate(hide, False)
        expect(figure(page, "Switched off")).to_have_text("1")
        assert any("/v1/events" in url for url in asked)
    finally:
        switch_on(stage, "hidden")


def test_a_page_asks_where_streams_do_not_get_through(stage, visitor):
    page = visitor.open(role=None)
    page.context.route(re.compile(r"/v1/events(\?|$)"), lambda route: route.abort())
    page.context.request.post(f"{stage.url}/v1/session", data={"key": stage.keys["operator-look"]})
    page.reload()
    expect(page.locator(".connection")).to_have_text("asking every 2 s")
    expect(page.locator(".answer")).to_contain_text("1 worker serving")
    switch_off(stage, "polled")
    try:
        expect(figure(page, "Switched off")).to_have_text("1")
    finally:
        switch_on(stage, "polled")


def test_many_pages_cost_redis_what_one_costs(stage):
    def calls_in(seconds=4):
        before = stage.calls("xpending")
        time.sleep(seconds)
        return stage.calls("xpending") - before

    streams = [stage.stream(stage.keys["operator-look"])]
    try:
        events(streams[0], ["fleet"])
        threading.Thread(target=drain, args=(streams[0],), daemon=True).start()
        one = calls_in()
        for _ in range(30):
            streams.append(stage.stream(stage.keys["operator-look"]))
            events(streams[-1], ["fleet"])
            threading.Thread(target=drain, args=(streams[-1],), daemon=True).start()
        many = calls_in()
        # Thirty readers would cost thirty times as much.
        assert many < one * 2 + 10, (one, many)
    finally:
        for stream in streams:
            stream.fp.raw._sock.close()


def drain(stream):
    try:
        while stream.readline():
            pass
    except (OSError, ValueError):
        pass


def test_a_redis_that_is_away_is_told_and_the_page_goes_on_afterwards(stage, visitor):
    page = visitor.open()
    expect(page.locator(".answer")).to_contain_text("serving")
    stage.gate.cut()
    try:
        expect(page.locator(".status .notice-bad")).to_contain_text("Redis does not answer")
    finally:
        stage.gate.mend()
    expect(page.locator(".status .notice-bad")).to_be_hidden()
    expect(page.locator(".answer")).to_contain_text("1 worker serving")


# 2. Is anybody serving this?


def test_the_top_says_whether_anybody_serves_and_each_alarm_leads_to_its_paragraph(stage, visitor):
    page = visitor.open()
    expect(page.locator(".answer")).to_contain_text("1 worker serving")
    stage.redis("XADD", "pushpool:jobs:normal", "*", "job", json.dumps(
        {"id": "lost", "app": "shap", "audience": {"users": ["u"]}, "notification": {"title": "Hello"}}))
    try:
        alarm = page.locator(".alarm", has_text="no_worker shap")
        expect(alarm).to_be_visible()
        expect(alarm.locator(".message")).to_contain_text("shop")
        alarm.get_by_role("link", name="What to do").click()
        expect(page.get_by_role("heading", name="no_worker")).to_be_visible()
        expect(page.locator(".prose")).to_contain_text("start a worker that has the app")
    finally:
        stage.pushpool("job", "lost", "--app", "shap", "cancel")
    stage.stop_worker()
    try:
        expect(page.locator(".answer")).to_contain_text("Nobody is serving this")
    finally:
        stage.go_on_worker()
    expect(page.locator(".answer")).to_contain_text("1 worker serving")


# 3. A job


def test_a_jobs_page_has_a_sum_that_adds_up_and_its_pace_over_time(stage, visitor):
    stage.enqueue("paced", pushes_per_second=8)
    page = visitor.open("jobs/shop/paced")
    expect(page.locator(".job-head .tag")).to_have_text("running")
    until(lambda: 0 < sum_of(page, "accepted") < 90, "some of the job has ended, and not all")
    check_sum(page)
    expect(page.locator(".view .strip")).to_contain_text(re.compile(r"Time left.*\d"))
    expect(page.locator("svg.chart")).to_have_attribute("aria-label", re.compile(r"Pace, installations a second\..*highest [1-9]"))
    page.get_by_text("As a table").click()
    until(lambda: rows(page, "Pace"), "the table has the spans of the chart")
    expect(page.locator(".job-head .tag")).to_have_text("done")
    until(lambda: sum_of(page, "pending") == 0, "nothing is pending")
    check_sum(page)


def sum_of(page, outcome):
    return next((int(row[1]) for row in rows(page, "Outcomes of the job") if row[0] == outcome), 0)


def check_sum(page):
    """The table may change between two readings: one of some must add up, and the page must say so."""
    for _ in range(20):
        counts = {row[0]: int(row[1]) for row in rows(page, "Outcomes of the job")}
        total = counts.pop("total")
        if sum(counts.values()) == total:
            break
    assert sum(counts.values()) == total > 0
    expect(page.get_by_text("the rows above add up to it")).to_be_visible()


# 4. Look-up


def test_jobs_users_and_tokens_are_looked_up_exactly(stage, visitor):
    page = visitor.open("look-up", role="operator-look")
    user = stage.reached_user
    token = json.loads(stage.pushpool("devices", "--app", "shop", "--user", user, "--json").splitlines()[0])
    token = (token[0] if isinstance(token, list) else token)["token"]

    page.locator("input[name=app]").fill("shop")
    page.locator("input[name=user]").fill(user)
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("region", name=f"Devices of {user}")).to_contain_text(token)

    page.locator("input[name=user]").fill("")
    page.locator("input[name=token]").fill(token)
    page.get_by_role("button", name="Look up").click()
    expect(page.locator(".view")).to_contain_text("has it since")
    expect(page.get_by_role("link", name=user, exact=True)).to_be_visible()

    page.locator("input[name=token]").fill("")
    page.locator("input[name=user]").fill(user)
    page.locator("input[name=job]").fill("spring-sale")
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("heading", name="Pushes of spring-sale")).to_be_visible()
    expect(page.locator(".view section", has_text="Pushes of spring-sale").locator(".notice").first).to_be_visible()

    page.locator("input[name=user]").fill("")
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("spring-sale")

    go(page, "jobs/shop/no-such-job")
    expect(page.locator("main .notice-bad")).to_contain_text("no job")
    go(page, "look-up?app=shop&user=nobody-at-all")
    expect(page.get_by_text("The user has no device")).to_be_visible()


# 5. Dead letters


def test_dead_letters_are_grouped_by_reason_and_dropped_together_after_the_count_is_shown(stage, visitor):
    for number in range(3):
        stage.add_bad_job(f"bad-{number}")
    until(lambda: stage.dead() >= 3, "the jobs are dead letters")
    page = visitor.open("dead-letters")
    groups = page.get_by_role("region", name="Dead letters by reason")
    expect(groups).to_contain_text("shop")
    expect(page.get_by_role("region", name="Dead letters", exact=True)).to_contain_text("titel")
    reason = rows(page, "Dead letters by reason")[0][0]
    groups.get_by_role("link", name=reason, exact=True).click()
    assert f"reason={reason}" in page.url and "app=shop" in page.url
    expect(page.locator(".chip", has_text=f"reason: {reason}")).to_be_visible()
    count = stage.dead()
    page.get_by_role("button", name=re.compile("^Drop these")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"Drop {count} dead letters?")
    # One that comes meanwhile is not among those that were counted.
    stage.add_bad_job("bad-late")
    until(lambda: stage.dead() == count + 1, "another letter has come")
    confirm = dialog.get_by_role("button", name="Drop them")
    expect(confirm).to_be_disabled()
    dialog.get_by_role("textbox").fill(str(count))
    confirm.click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".notice-good")).to_contain_text(f"{count} letters dropped")
    assert stage.dead() == 1
    page.reload()
    page.get_by_role("button", name="Retry", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Retry it").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    until(lambda: stage.dead() == 1, "the bad job is a dead letter again")
    page.reload()
    page.get_by_role("button", name="Drop", exact=True).click()
    page.get_by_role("dialog").get_by_role("textbox").fill("drop")
    page.get_by_role("dialog").get_by_role("button", name="Drop it").click()
    until(lambda: stage.dead() == 0, "the letter is dropped")


# 6. Acts


def test_acts_are_confirmed_by_typing_and_nothing_changes_under_an_open_dialog(stage, visitor):
    stage.enqueue("acted", pushes_per_second=4)
    page, other = visitor.open("jobs/shop/acted"), visitor.open("jobs/shop/acted")
    expect(page.locator(".job-head .tag")).to_have_text("running")
    page.get_by_role("button", name="Pause the job").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    before, ended = page.locator("main").inner_html(), sum_of(other, "accepted")
    until(lambda: sum_of(other, "accepted") > ended + 8, "the job has gone on")
    assert page.locator("main").inner_html() == before
    confirm = dialog.get_by_role("button", name="Pause the job")
    for text, is_enabled in (("", False), ("act", False), ("Acted", False), ("acted", True)):
        dialog.get_by_role("textbox").fill(text)
        assert confirm.is_enabled() == is_enabled, text
    confirm.click()
    expect(page.locator(".job-head .tag")).to_have_text("paused")
    expect(other.locator(".job-head .tag")).to_have_text("paused")
    until(lambda: stage.state("acted") == "paused", "it is paused")

    for verb, state in (("Resume the job", "running"), ("Cancel the job", "cancelled")):
        page.get_by_role("button", name=verb).click()
        page.get_by_role("dialog").get_by_role("textbox").fill("acted")
        page.get_by_role("dialog").get_by_role("button", name=verb).click()
        expect(page.locator(".job-head .tag")).to_have_text(state)
    until(lambda: sum_of(page, "pending") == 0, "it has ended")
    check_sum(page)


def test_something_is_switched_off_and_on_by_the_page(stage, visitor):
    page = visitor.open("fleet")
    page.get_by_role("button", name="Switch something off").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("App", exact=True).fill("shop")
    dialog.get_by_label("What").select_option("user")
    dialog.get_by_label("Its name").fill("user|1")
    dialog.get_by_label("Why").fill("a test")
    dialog.get_by_label("to confirm").fill("shop")
    dialog.get_by_role("button", name="Switch off").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("region", name="Switched off")).to_contain_text("user user|1")
    assert "user|shop|user|1" in stage.redis("HKEYS", "pushpool:switches")
    page.get_by_role("button", name="Switch on").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("shop")
    page.get_by_role("dialog").get_by_role("button", name="Switch on").click()
    expect(page.get_by_text("Nothing is switched off.")).to_be_visible()


# 7. The audit


def test_what_operators_did_is_told_with_who_what_and_when(stage, visitor):
    stage.enqueue("audited", pushes_per_second=4)
    page = visitor.open("jobs/shop/audited")
    page.get_by_role("button", name="Cancel the job").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("audited")
    page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    switch_off(stage, "audited")
    switch_on(stage, "audited")
    go(page, "acts")
    key = stage.keys["operator-act"].split("_")[2]
    acts = page.get_by_role("region", name="Acts of operators")
    expect(acts.locator("tr", has_text="cancelled the job").filter(has_text="audited").first).to_contain_text(key)
    expect(acts.locator("tr", has_text="switched off").first).to_contain_text("command line")
    expect(acts.locator("time").first).to_have_attribute("title", re.compile(r"^\d{4}-\d\d-\d\dT.*Z$"))
    page.locator("select[name=verb]").select_option("job")
    page.get_by_role("button", name="Filter").click()
    expect(page).to_have_url(re.compile("verb=job"))
    expect(acts.locator("tbody tr").first).to_contain_text("the job")
    expect(acts.locator("tr", has_text="switched off")).to_have_count(0)


# 8. Roles


def test_whoever_looks_only_has_no_buttons_and_is_refused_anyhow(stage, visitor):
    stage.enqueue("looked-at", pushes_per_second=4)
    stage.add_bad_job("looked-at-bad")
    until(lambda: stage.dead() > 0, "there is a dead letter")
    page = visitor.open("jobs/shop/looked-at", role="operator-look")
    expect(page.locator(".job-head .tag")).to_have_text("running")
    expect(page.get_by_role("button", name=re.compile("the job|pace"))).to_have_count(0)
    expect(page.get_by_role("link", name="Keys")).to_have_count(0)
    go(page, "dead-letters")
    expect(page.get_by_role("region", name="Dead letters", exact=True)).to_contain_text("titel")
    expect(page.get_by_role("button", name=re.compile("Retry|Drop"))).to_have_count(0)
    go(page, "fleet")
    expect(page.get_by_role("button", name=re.compile("Switch"))).to_have_count(0)
    look = stage.keys["operator-look"]
    assert stage.ask("POST", "/v1/apps/shop/jobs/looked-at:cancel", look)[0] == 403
    assert stage.ask("GET", "/v1/keys", stage.keys["operator-act"])[0] == 403
    assert stage.ask("GET", "/v1/events", stage.keys["server"])[0] == 403
    assert stage.ask("GET", "/v1/events")[0] == 401
    stage.pushpool("job", "looked-at", "--app", "shop", "cancel")


def test_a_key_is_exchanged_for_a_cookie_that_scripts_do_not_see(stage, visitor):
    page = visitor.open(role=None)
    page.get_by_label("Key").fill("nonsense")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".notice-bad")).to_be_visible()
    page.get_by_label("Key").fill(stage.keys["operator-look"])
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_contain_text("serving")
    cookie = page.context.cookies()[0]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert page.evaluate("document.cookie") == ""
    assert stage.keys["operator-look"] not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Key")).to_be_visible()


def test_an_admin_makes_a_key_that_is_shown_once_and_revoking_it_ends_its_pages(stage, visitor):
    page = visitor.open("keys", role="admin")
    page.get_by_role("button", name="Make a key").click()
    page.get_by_role("dialog").get_by_label("Role").select_option("operator-look")
    page.get_by_role("dialog").get_by_label("Remark").fill("a test")
    page.get_by_role("dialog").get_by_role("button", name="Make it").click()
    key = page.get_by_role("dialog").get_by_label("The key").input_value()
    page.get_by_role("dialog").get_by_role("button", name="I have it").click()
    expect(page.locator("body")).not_to_contain_text(key)
    other = visitor.open(key=key, role="operator-look")
    expect(other.locator(".answer")).to_contain_text("serving")
    name = key.split("_")[2]
    page.locator("tr", has_text=name).get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("textbox").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Revoke it").click()
    expect(page.locator("tr", has_text=name)).to_have_count(0)
    expect(other.get_by_text("The session has ended")).to_be_visible(timeout=30000)


# 9. and 10. What is in force, and what it runs on


def test_breakers_switches_rates_and_workers_are_shown(stage, visitor):
    switch_off(stage, "shown")
    try:
        page = visitor.open("fleet")
        expect(page.get_by_text("Every breaker is closed")).to_be_visible()
        until(lambda: rows(page, "Switched off"), "the switch is shown")
        assert rows(page, "Switched off")[0][3] == "a test <b>of it</b>"
        assert ["shop", "FCM messages"] in [row[:2] for row in rows(page, "Rates")]
        worker = rows(page, "Workers")[0]
        assert worker[1] == "alive" and int(worker[5]) >= 1
    finally:
        switch_on(stage, "shown")


def test_networks_have_connections_streams_goaways_and_answer_times(stage, visitor):
    stage.enqueue("answered")
    until(lambda: stage.state("answered") == "done", "the job is done")
    page = visitor.open("fleet")
    until(lambda: any(row[0] == "apns" and row[6].startswith("≤") for row in rows(page, "Networks")), "APNs's answers are told")
    row = next(row for row in rows(page, "Networks") if row[0] == "apns")
    connections, used, allowed, goaways, answers = map(int, row[1:6])
    assert connections >= 1 and allowed >= used >= 0 and goaways >= 0 and answers > 0
    for cell in row[6:9]:
        assert re.match(r"(≤ \d+(ms|s)|> 10s)$", cell), row


# 11. For everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("route", routes)
def test_no_view_breaks_a_rule_of_accessibility(stage, visitor, route, scheme):
    page = visitor.open(route, role="admin", color_scheme=scheme)
    settle(page)
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []


@pytest.mark.parametrize("route", routes)
def test_no_view_scrolls_sideways_on_a_narrow_screen(stage, visitor, route):
    page = visitor.open(route, role="admin", viewport=phone)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for region in page.locator(".region").all():
        assert region.get_attribute("tabindex") == "0" and region.get_attribute("aria-label")


def test_each_chart_has_a_table_behind_it(stage, visitor):
    page = visitor.open()
    settle(page)
    for chart in page.locator("figure.figure").all():
        expect(chart.locator("details table, .empty:visible").first).to_be_attached()


def test_the_page_works_by_keyboard(stage, visitor):
    page = visitor.open("fleet")
    settle(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    go(page, "jobs")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    go(page, "fleet")
    opener = page.get_by_role("button", name="Switch something off")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("App", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(opener).to_be_focused()


def test_screen_readers_are_told_something_at_most_each_five_seconds(stage, visitor):
    page = visitor.open()
    told = page.evaluate("""async () => {
      const told = [];
      const observer = new MutationObserver(() => told.push(performance.now()));
      observer.observe(document.getElementById("live"), { childList: true, characterData: true, subtree: true });
      const { announce } = await import("/assets/page.js");
      for (let number = 0; number < 24; number += 1) {
        announce(`event ${number}`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      return told;
    }""")
    times = [told[0]] + [one for before, one in zip(told, told[1:]) if one - before > 50]
    assert 2 <= len(times) <= 4
    assert all(later - before >= 4900 for before, later in zip(times, times[1:])), times


def test_a_warning_is_read_out_once_while_the_ages_beside_it_grow(stage, visitor):
    with stage.beating("behind", configuration_digest="sha256:old", configuration_loaded_at=1000), stage.beating("before"):
        page = visitor.open("fleet")
        expect(page.get_by_role("alert").filter(has_text="Another configuration than the newest: behind.")).to_be_visible()
        newest = page.get_by_text(re.compile("^1 of 3 workers have the configuration that came into force .* ago. Not told by before.$"))
        expect(newest).to_be_visible()
        page.evaluate("""() => {
          window.readOut = 0;
          const observer = new MutationObserver((changes) => {
            for (const { target, addedNodes } of changes) {
              const element = target.closest ? target : target.parentElement;
              const isAlert = element?.closest("[role=alert]") || [...addedNodes].some((node) => node.matches?.("[role=alert]"));
              if (isAlert) window.readOut += 1;
            }
          });
          observer.observe(document.getElementById("main"), { childList: true, characterData: true, subtree: true });
        }""")
        for _ in range(3):
            said = newest.text_content()
            until(lambda: newest.text_content() != said, "the age grows")
        assert page.evaluate("window.readOut") == 0


def test_nothing_moves_by_itself(stage, visitor):
    page = visitor.open(reduced_motion="no-preference")
    settle(page)
    assert page.evaluate("document.getAnimations().length") == 0


# 12. Nothing from elsewhere, and nothing for others


def test_the_page_forbids_all_that_is_not_its_own(stage):
    for path in ("/", "/assets/app.js", "/assets/style.css"):
        status, body, fields = stage.ask("GET", path)
        assert status == 200
        policy = fields["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert fields["x-content-type-options"] == "nosniff"
        assert stage.ask("GET", path, headers={"if-none-match": fields["etag"]})[0] == 304
        assert b" style=" not in body and b"innerHTML" not in body


def test_foreign_text_is_shown_and_never_obeyed(stage, visitor):
    name = "<img src=x onerror=alert(1)>"
    stage.redis("XADD", "pushpool:jobs:normal", "*", "job", json.dumps(
        {"id": "markup", "app": "shop", "audience": {"users": ["u"]}, "notification": {"title": "Hello"}, name: name}))
    until(lambda: stage.dead() > 0, "it is a dead letter")
    page = visitor.open("dead-letters")
    page.on("dialog", lambda dialog: pytest.fail("a script ran"))
    expect(page.get_by_role("region", name="Dead letters", exact=True)).to_contain_text("<img")
    page.locator("tr", has_text="<img").get_by_role("button").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("<img")
    assert page.locator("img").count() == 0


def test_another_sites_page_changes_nothing(stage, visitor):
    page = visitor.open()
    for headers in ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "https://elsewhere.example"}):
        answer = page.context.request.delete(f"{stage.url}/v1/apps/shop/switches/app", headers=headers)
        assert answer.status == 403, headers


# Pictures


def settle(page):
    """Waits until the view has what it shows."""
    expect(page.locator(".answer")).to_contain_text("serving")
    page.wait_for_function("!document.querySelector('main').textContent.includes('…\\n') && document.querySelector('main h1')")
    page.wait_for_load_state("domcontentloaded")
    page.wait_for_timeout(500)


@pytest.mark.skipif(not os.environ.get("PICTURES"), reason="PICTURES=1 draws docs/dashboard/")
def test_pictures_of_the_page(stage, visitor):
    folder = root / "docs/dashboard"
    folder.mkdir(parents=True, exist_ok=True)
    stage.enqueue("winter-sale", users=users, pushes_per_second=35)
    stage.pushpool("switch", "off", "--app", "shop", "--user", "user-7", "--reason", "the user asked for it")
    for number in range(4):
        stage.add_bad_job(f"order-{number}")
    until(lambda: stage.dead() >= 4, "there are dead letters")
    until(lambda: stage.state("winter-sale") == "running", "the job runs")
    views = {"overview": "", "job": "jobs/shop/winter-sale", "dead-letters": "dead-letters", "fleet": "fleet"}
    try:
        for scheme in ("light", "dark"):
            for size, viewport in (("desk", desk), ("phone", phone)):
                for name, route in views.items():
                    page = visitor.open(route, color_scheme=scheme, viewport=viewport)
                    settle(page)
                    page.wait_for_timeout(3000)
                    page.screenshot(path=folder / f"{name}-{size}-{scheme}.png")
                    page.context.close()
                    visitor.contexts.pop()
    finally:
        switch_on(stage, "user-7")
