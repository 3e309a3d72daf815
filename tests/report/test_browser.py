"""The report in a real browser: script, pointer, keyboard, colours and narrow screens."""

import base64
import re

import numpy as np
import pytest

from aucuba import PartialAUCSVC, explain_rows
from aucuba.aum import AUMDescent, ErrorFunctions, LabelledData
from aucuba.aum._lines import Segment
from aucuba.changepoint import Label, SupervisedChangepointDetector
from aucuba.design import TableDesign
from aucuba.linear import AUMClassifier
from aucuba.report import changepoint_report, classifier_report, ranking_report, write_page
from aucuba.structured import RankingGraph, StructuredRanker

PAGES = ["tight", "aum", "changepoint", "ranking"]
NAMES = [f"feature number {k} with a rather long name" for k in range(8)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory, table, scored):
    """A convex model with a certificate and an AUM model, as files."""
    X, y = table
    folder = tmp_path_factory.mktemp("pages")
    models = {
        "tight": PartialAUCSVC((0.0, 0.2), loss="tight").fit(X, y),
        "aum": AUMClassifier(tol=1e-2).fit(X, y),
    }
    asked = {"fpr_range": (0.0, 0.2), "X": X, "feature_names": NAMES}
    made = {
        name: classifier_report(model, scored(model), title=name, **asked)
        for name, model in models.items()
    }
    top = [0, 1, 2]
    reasons = top, explain_rows(models["tight"], X[top], 3, background=X[:50])
    made["explained"] = classifier_report(
        models["tight"], scored(models["tight"]), reasons=reasons, **asked
    )
    made |= {"changepoint": changepoint_page(), "ranking": ranking_page()}
    return {name: write_page(page, folder / f"{name}.html") for name, page in made.items()}


def changepoint_page():
    rng = np.random.default_rng(0)
    kinds = ["none", "one"] * 8
    signals = [np.repeat([0, 5 * (k == "one"), 0], 40) + rng.normal(size=120) for k in kinds]
    labels = [[Label(20, 60, kind), Label(90, 118, "none")] for kind in kinds]
    detector = SupervisedChangepointDetector(max_segments=8, cv=2, random_state=0)
    return changepoint_report(detector.fit(signals, labels), signals, labels, title="changepoint")


def ranking_page():
    rng = np.random.default_rng(0)
    labels = [np.arange(30) < 8] * 8
    path = [[i, i + 1] for i in range(29)]
    graphs = [RankingGraph(y + 1.5 * rng.normal(size=30), path) for y in labels]
    ranker = StructuredRanker(C=10).fit(graphs, labels)
    return ranking_report(ranker, graphs, labels, title="ranking")


@pytest.fixture
def opened(browser, pages):
    def open_page(name, width=1200, height=900, scheme="light"):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        feature = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
        browser.get(pages[name].as_uri())
        return browser

    return open_page


def console_errors(browser):
    return [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"]


def value(browser, name):
    return float(browser.find_element("id", name).get_attribute("data-value"))


def set_step(browser, step):
    browser.execute_script(
        "const box = document.getElementById('ls-step'); box.value = arguments[0];"
        "box.dispatchEvent(new Event('change'));",
        repr(step),
    )


def move_slider(browser, position):
    browser.execute_script(
        "const s = document.getElementById('ls-slider'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('input'));",
        position,
    )


@pytest.mark.parametrize("name", PAGES)
def test_page_loads_without_errors_and_without_network(opened, screenshots, name):
    browser = opened(name)
    assert browser.title == name
    assert console_errors(browser) == []
    fetched = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert fetched == 0
    browser.save_screenshot(str(screenshots / f"{name}_light.png"))


def test_a_broken_script_would_be_seen(browser):
    browser.get("data:text/html,<script>missing()</script>")
    assert console_errors(browser)


def search_line(table, model, run):
    """Errors, predictions and direction of the explorer's first or second line, recomputed."""
    X, y = table
    errors = ErrorFunctions.from_labels(y)
    coef = model.coef_[0] if run else LabelledData(TableDesign(X), errors).difference_of_means()
    line, _ = AUMDescent(step=model.step).first_step(LabelledData(TableDesign(X), errors), coef)
    return line.errors, line.predictions, line.direction


@pytest.mark.parametrize("run", [0, 1])
@pytest.mark.parametrize("position", [0, 1, 250, 500, 777, 1000])
def test_slider_agrees_with_the_library(opened, table, run, position):
    browser = opened("aum")
    browser.find_element("css selector", f"#ls-run option[value='{run}']").click()
    move_slider(browser, position)
    step = value(browser, "ls-at")
    errors, predictions, direction = search_line(table, AUMClassifier(tol=1e-2).fit(*table), run)
    # At a step where thresholds meet both count them as tied despite rounding; a plain sort may not.
    expected = Segment.from_predictions(errors, predictions, direction).at(step)
    assert value(browser, "ls-aum") == pytest.approx(expected.aum, abs=1e-6)
    assert value(browser, "ls-auc") == pytest.approx(expected.auc, abs=1e-6)


def test_slider_moves_the_curve_and_least_aum_is_least(opened, screenshots):
    browser = opened("aum")
    start = browser.find_element("id", "ls-roc").get_attribute("d")
    at_start = value(browser, "ls-aum")
    browser.execute_script("document.getElementById('ls-least').click()")
    least, step = value(browser, "ls-aum"), value(browser, "ls-at")
    assert browser.find_element("id", "ls-roc").get_attribute("d") != start
    assert least < at_start
    for factor in (0.9, 1.1):
        set_step(browser, factor * step)
        assert value(browser, "ls-aum") > least
    browser.execute_script("document.getElementById('linesearch').scrollIntoView()")
    browser.save_screenshot(str(screenshots / "aum_explorer.png"))


def test_slider_answers_the_arrow_keys(opened):
    from selenium.webdriver.common.keys import Keys

    browser = opened("aum")
    slider = browser.find_element("id", "ls-slider")
    slider.send_keys(Keys.ARROW_RIGHT * 5)
    assert value(browser, "ls-at") > 0


def readout(browser):
    text = browser.find_element("id", "roc-readout").text
    numbers = re.findall(r"FPR ([\d.]+) %.*TPR ([\d.]+) % \[([\d.]+) %, ([\d.]+) %\]", text)
    return [float(number) / 100 for number in numbers[0]]


@pytest.mark.parametrize("view", ["whole", "region"])
def test_hover_shows_the_rates_of_the_threshold(opened, table, view):
    from selenium.webdriver.common.action_chains import ActionChains

    X, y = table
    browser = opened("tight")
    chart = browser.find_element("css selector", f"svg[data-roc='{view}']")
    ActionChains(browser).move_to_element_with_offset(chart, -60, -40).perform()
    text = browser.find_element("id", "roc-readout").text
    threshold = float(re.match(r"score from (\S+)", text)[1])
    score = PartialAUCSVC((0.0, 0.2), loss="tight").fit(X, y).decision_function(X)
    flagged = score >= threshold - 1e-5 * abs(threshold)
    fpr, tpr, low, high = readout(browser)
    assert fpr == pytest.approx(flagged[y == 0].mean(), abs=1e-4)
    assert tpr == pytest.approx(flagged[y == 1].mean(), abs=1e-4)
    assert low < tpr < high


def test_arrow_keys_walk_along_the_curve(opened):
    from selenium.webdriver.common.keys import Keys

    browser = opened("tight")
    chart = browser.find_element("css selector", "svg[data-roc='whole']")
    browser.execute_script("arguments[0].focus()", chart)
    active = browser.switch_to.active_element
    active.send_keys(Keys.END)
    assert readout(browser)[:2] == [1.0, 1.0]
    active.send_keys(Keys.HOME)
    assert readout(browser)[:2] == [0.0, 0.0]
    active.send_keys(Keys.ARROW_RIGHT)
    assert sum(readout(browser)[:2]) > 0


def luminance(color):
    channels = np.array([float(part) for part in re.findall(r"[\d.]+", color)[:3]]) / 255
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(browser, selector):
    inks = browser.execute_script(
        "const e = document.querySelector(arguments[0]);"
        "return [e, document.documentElement].map((one, k) =>"
        "  getComputedStyle(one)[k ? 'backgroundColor' : 'color'])",
        selector,
    )
    low, high = sorted(map(luminance, inks))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(opened, screenshots, scheme):
    browser = opened("aum", scheme=scheme)
    paper = browser.execute_script(
        "return getComputedStyle(document.documentElement).backgroundColor"
    )
    assert (luminance(paper) < 0.2) == (scheme == "dark")
    for selector in ("h1", ".lead", "td", ".fine", "nav a"):
        assert contrast(browser, selector) > 4.5, selector
    browser.save_screenshot(str(screenshots / f"aum_{scheme}.png"))


def test_the_button_switches_the_theme(opened):
    browser = opened("tight")
    shade = "return getComputedStyle(document.documentElement).backgroundColor"
    before = browser.execute_script(shade)
    browser.find_element("id", "theme").click()
    assert luminance(browser.execute_script(shade)) < 0.2 < luminance(before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_phone_has_no_sideways_overflow(opened, screenshots, name, scheme):
    browser = opened(name, width=390, height=844, scheme=scheme)
    width, wide = browser.execute_script(
        "const inside = (e) => e.closest('.scroll, svg');"
        "const wide = [...document.querySelectorAll('body *')].filter((e) => !inside(e) &&"
        "  e.getBoundingClientRect().right > 390.5).map((e) => e.outerHTML.slice(0, 80));"
        "return [document.documentElement.scrollWidth, wide];"
    )
    assert wide == []
    assert width <= 390
    height = browser.execute_script("return document.documentElement.scrollHeight")
    size = {"width": 390, "height": height, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.save_screenshot(str(screenshots / f"{name}_phone_{scheme}.png"))


def test_everything_interactive_can_be_reached_by_tab(opened):
    from selenium.webdriver.common.keys import Keys

    browser = opened("aum")
    reached = set()
    for _ in range(40):
        active = browser.switch_to.active_element
        active.send_keys(Keys.TAB)
        active = browser.switch_to.active_element
        reached.add(active.get_attribute("id") or active.get_attribute("data-roc") or "")
    wanted = {
        "theme",
        "whole",
        "region",
        "ls-run",
        "ls-slider",
        "ls-step",
        "ls-least",
        "ls-greatest",
    }
    assert wanted <= reached


def test_a_step_beyond_the_pictures_says_so(opened):
    browser = opened("aum")
    hint = browser.find_element("id", "ls-hint")
    assert hint.text == ""
    set_step(browser, 1e9)
    assert "The pictures end at step" in hint.text
    set_step(browser, 0.0)
    assert hint.text == ""


def test_long_names_leave_the_coefficients_in_sight_on_a_phone(opened):
    browser = opened("tight", width=390, height=844)
    edges = browser.execute_script(
        "return [...document.querySelectorAll('#coefficients tbody td:last-child')].map((cell) =>"
        "  cell.getBoundingClientRect().right)"
    )
    assert len(edges) == 8
    assert max(edges) <= 390


def test_reasons_are_lines_to_read(opened):
    browser = opened("explained")
    wide, room, heights = browser.execute_script(
        "const table = document.querySelector('#reasons .scroll');"
        "const cells = [...table.querySelectorAll('tbody td:last-child')];"
        "return [table.scrollWidth, table.clientWidth, cells.map((cell) => cell.offsetHeight)]"
    )
    assert wide <= room
    assert len(heights) == 3
    assert min(heights) > 40


class TestPrint:
    """Paper is white, whatever the theme, and has nothing to click."""

    @pytest.fixture
    def printed(self, opened):
        def print_page(name, scheme="dark", theme=None):
            browser = opened(name, width=700, scheme=scheme)
            if theme:
                browser.execute_script(
                    "document.documentElement.dataset.theme = arguments[0]", theme
                )
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
            return browser

        yield print_page
        opened("aum").execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    @pytest.mark.parametrize(("scheme", "theme"), [("dark", None), ("light", "dark")])
    def test_text_and_curves_are_dark_on_white(self, printed, scheme, theme):
        browser = printed("aum", scheme, theme)
        feature = [{"name": "prefers-color-scheme", "value": scheme}]
        media = {"media": "print", "features": feature}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        paper = "return getComputedStyle(document.documentElement).backgroundColor"
        assert luminance(browser.execute_script(paper)) == 1
        for selector in ("h1", "td", ".fine", "figcaption"):
            assert contrast(browser, selector) > 7, selector
        stroke = "return getComputedStyle(document.querySelector('.curve.model')).stroke"
        assert luminance(browser.execute_script(stroke)) < 0.2

    def test_nothing_to_click_is_printed(self, printed):
        browser = printed("aum")
        for selector in ("nav", "#theme", ".controls", "#roc-readout", "#ls-hint"):
            assert not browser.find_element("css selector", selector).is_displayed(), selector
        assert browser.find_element("id", "ls-aum").is_displayed()

    @pytest.mark.parametrize(("name", "most"), [("aum", 4), ("tight", 4), ("changepoint", 4)])
    def test_pages_are_full(self, opened, screenshots, name, most):
        browser = opened(name, scheme="dark")
        done = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
        content = base64.b64decode(done["data"])
        (screenshots / f"{name}.pdf").write_bytes(content)
        assert len(re.findall(rb"/Type /Page\b", content)) <= most

    def test_two_figures_stand_side_by_side(self, printed):
        browser = printed("tight")
        tops = browser.execute_script(
            "return [...document.querySelectorAll('#roc figure')].map((one) =>"
            "  one.getBoundingClientRect().top)"
        )
        assert len(tops) == 2
        assert tops[0] == tops[1]

    def test_the_legend_needs_no_background(self, printed):
        browser = printed("tight")
        keys = browser.find_elements("css selector", ".legend .key path")
        strokes = {key.value_of_css_property("stroke") for key in keys}
        assert len(strokes) == 2
