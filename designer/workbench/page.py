"""The page: five steps in one column, each chart with words beside it, all of it usable by keyboard."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from nicegui import ui

from ...mechanisms.errors import OptldpError
from ...mechanisms.units import units_label
from ..priors.categorical import CategoricalPrior
from ..priors.prior import Prior
from ..report.odds import odds_sentence
from . import charts, taking
from .answers import NEAR, Answer, Rivals, answer, epsilon_for, rivals
from .kept import Kept
from .latest import Latest
from .questions import QUESTIONS
from .state import BARS, PRESETS, TALLEST, State, names_in
from .style import STYLE, TITLES
from .trial import Shares, Trial, tried

T = TypeVar("T")

LEAST_EPSILON, MOST_EPSILON = 0.1, 6.0
"""Ends of the slider; the field beside it takes any budget."""

STEP = 0.05
"""Of the slider."""

PAUSE = 0.2
"""Seconds without a new choice before what takes longer than the mechanism is computed."""


class Page:
    """One reader's page.

    Parameters
    ----------
    address : str
        Of the page, with its token.
    prior : Prior or CategoricalPrior, optional
        Of a file; None for a drawn one.
    source : Source, optional
        Where that comes from.
    """

    def __init__(self, address: str, prior: Prior | CategoricalPrior | None, source: taking.Source | None) -> None:
        self._address, self._of_file, self._source = address, prior, source
        self._state, self._ink = State(), charts.LIGHT
        self._latest, self._kept = Latest(), Kept()
        self._made: Answer | None = None
        self._told: dict[int, float] = {}
        self._edited: ui.number | None = None

    async def build(self) -> None:
        """Lay out the page for the state of the address, and answer it; while the browser loads it, one design."""
        ui.add_head_html(f"<style>{STYLE}</style>")
        asked = ui.context.client.request.url.query
        try:
            kept = "&".join(part for part in asked.split("&") if not part.startswith("token="))
            self._state = State.from_query(kept)
        except OptldpError as error:
            ui.notify(str(error), type="warning", timeout=0, close_button="Close")
        with ui.element("main").classes("bench"):
            ui.html("<h1>Design a private survey</h1>", sanitize=False)
            self._status = ui.label("Computing").props("role=status aria-live=polite").classes("status")
            for number, (title, lay) in enumerate(
                zip(TITLES, (self._values, self._question, self._mechanism, self._try, self._take), strict=True), 1
            ):
                with ui.element("section").props(f"aria-labelledby=step{number}"):
                    ui.html(f'<h2 id="step{number}">{number}. {title}</h2>', sanitize=False)
                    lay()
        self._arrange()
        ahead = asyncio.create_task(_off_the_loop(partial(self._kept.answer, self._prior, self._state)))
        await ui.context.client.connected()
        dark = await ui.run_javascript("matchMedia('(prefers-color-scheme: dark)').matches", timeout=5)
        self._ink = charts.DARK if dark else charts.LIGHT
        _update(self._histogram, charts.histogram(self._prior, self._ink))  # seen while the design is on its way
        with suppress(OptldpError):  # told by the answer itself
            await ahead
        await self._ask()

    @property
    def _prior(self) -> Prior | CategoricalPrior:
        return self._state.drawn() if self._of_file is None else self._of_file

    def _chart(self, name: str, tall: bool = False) -> ui.echart:
        return (
            ui.echart({}, renderer="canvas" if name == "structure" else "svg")
            .classes("chart tall" if tall else "chart")
            .props(f"id={name}")
        )

    def _number(self, label: str, value: float, changed: Callable[[float], Any], **more: Any) -> ui.number:
        """Return a field that tells a number once it is left or Enter is pressed."""
        field = ui.number(label, value=value, **more).props("outlined dense")
        self._told[field.id] = value

        async def told() -> None:
            if field.value is not None and field.value != self._told[field.id]:
                self._told[field.id] = field.value
                await changed(field.value)

        async def left() -> None:
            self._edited = None
            await told()

        def entered() -> None:
            self._edited = field

        field.on("keydown.enter", told).on("focus", entered).on("blur", left)
        return field

    def _set(self, field: ui.number, value: float) -> None:
        """Show a number, unless the reader is writing in its field."""
        if field is not self._edited:
            field.value = self._told[field.id] = value

    def _values(self) -> None:
        if self._source is None:
            ui.label(
                "Draw what you expect the values to be like, from public knowledge. Nobody's value is needed, and the "
                "drawing may be published."
            )
            with ui.row():
                for name in PRESETS:
                    ui.button(name, on_click=partial(self._preset, name)).props("outline no-caps dense")
            with ui.element("div").classes("bars").props('role=group aria-label="Heights of the drawing"'):
                self._bars = [self._bar(place) for place in range(BARS)]
            with ui.row() as self._of_numbers:
                self._number("Smallest value", self._state.low, lambda v: self._choose(low=float(v)))
                self._number("Largest value", self._state.high, lambda v: self._choose(high=float(v)))
                ui.input("Units", value=self._state.units, on_change=lambda e: self._choose(units=e.value)).props(
                    "outlined dense debounce=400"
                )
            self._names = (
                ui.input(
                    "Categories, with commas between",
                    value=", ".join(self._state.names),
                    on_change=lambda e: self._choose(names=names_in(e.value or "")),
                )
                .props("outlined dense debounce=400")
                .classes("wide")
            )
        else:
            kind = "public" if self._source.public else "to be protected: keep what follows from them to yourself"
            ui.label(f"Column {self._source.column} of {self._source.data}. The values are {kind}.")
        self._histogram = self._chart("histogram")

    def _bar(self, place: int) -> ui.slider:
        bar = ui.slider(min=0, max=TALLEST, step=1, value=self._state.heights[place])
        bar.props("vertical reverse").classes("bar")
        bar.on("update:model-value", lambda: self._draw(), throttle=0.1, leading_events=False)
        return bar

    def _arrange(self) -> None:
        """Show what belongs to numbers, or to categories, whichever are asked for."""
        state, named = self._state, self._state.of == "categories"
        self._value.visible, self._category.visible = not named, named
        if named:
            prior = self._prior
            assert isinstance(prior, CategoricalPrior)
            self._category.set_options([str(label) for label in prior.categories.labels])
            if self._category.value not in self._category.options:
                self._category.value = self._category.options[0]
        if self._source is not None:
            return
        self._of_numbers.visible, self._names.visible = not named, named
        for place, bar in enumerate(self._bars):
            bar.visible = not named or place < len(state.names)
            at = f"{state.low + (state.high - state.low) * place / (BARS - 1):.4g}"
            bar.props["aria-label"] = f"Height at {state.names[place] if named and bar.visible else at}"

    async def _preset(self, name: str) -> None:
        for bar, height in zip(self._bars, PRESETS[name], strict=True):
            bar.value = height
        await self._draw()

    async def _draw(self) -> None:
        await self._choose(heights=tuple(int(bar.value or 0) for bar in self._bars))

    def _question(self) -> None:
        ui.label("What do you want to know, how many people will report, and how far may the answer be off?")
        answered = {
            name: each.asks
            for name, each in QUESTIONS.items()
            if self._of_file is None or (name == "categories") is isinstance(self._of_file, CategoricalPrior)
        }
        ui.radio(
            answered, value=self._state.of,
            on_change=lambda e: self._choose(of=e.value),
        ).props('inline aria-label="The question"')  # fmt: skip
        with ui.row():
            self._n = self._number("People", self._state.n, lambda v: self._choose(n=int(v)), min=2, format="%d")
            self._error = self._number("Error wanted", 1.0, self._plan, min=0)
        self._sentence = ui.label().classes("says")

    def _mechanism(self) -> None:
        ui.label(
            "Epsilon says how much one report may tell about one person: small is private, large is exact. "
            "Move it, or say an error above and it follows."
        )
        with ui.row().classes("slide"):
            self._slider = ui.slider(
                min=LEAST_EPSILON, max=MOST_EPSILON, step=STEP, value=min(self._state.epsilon, MOST_EPSILON)
            ).props('aria-label="Epsilon, the privacy budget of each person" id=epsilon-slider')
            self._slider.on(
                "update:model-value", lambda e: self._choose(epsilon=float(e.args)), throttle=0.05, leading_events=True
            )
            self._epsilon = self._number("Epsilon", self._state.epsilon, lambda v: self._choose(epsilon=float(v)))
        with ui.element("div").classes("pair"):
            with ui.element("div"):
                ui.html("<h3>What one report tells about a person</h3>", sanitize=False)
                self._odds = ui.label().classes("says")
                self._poison = ui.label().classes("says")
            self._beliefs = self._chart("odds")
        with ui.element("div").classes("pair"):
            with ui.element("div"):
                ui.html("<h3>How each value is reported</h3>", sanitize=False)
                self._structure = self._chart("structure", tall=True)
            with ui.element("div"):
                ui.html("<h3>Every known mechanism, and the least that is possible</h3>", sanitize=False)
                self._rivals = self._chart("rivals", tall=True)

    def _try(self) -> None:
        with ui.element("div").classes("pair"):
            with ui.element("div"):
                ui.html("<h3>One person</h3>", sanitize=False)
                middle = self._prior.mean if isinstance(self._prior, Prior) else self._state.low
                self._value = self._number("Value of a person", round(middle, 2), self._show_value)
                self._category = ui.select([], label="Category of a person", on_change=lambda: self._show_one())
                self._category.props("outlined dense")
                self._one = self._chart("one")
            with ui.element("div"):
                ui.html("<h3>Many people</h3>", sanitize=False)
                ui.button("Draw other people", on_click=self._again).props("no-caps outline")
                self._many = self._chart("many")
        self._found = ui.label().classes("says")

    def _take(self) -> None:
        with ui.row():
            ui.button("Table (mech.json)", on_click=self._table).props("no-caps outline")
            ui.button("Python script", on_click=self._script).props("no-caps outline")
            ui.button("Page to sign", on_click=self._sign).props("no-caps outline")
        ui.label("Every number of this page, on the command line:")
        self._command = ui.label().classes("command")
        ui.label("This page again, as it is now:")
        self._reopen = ui.label().classes("command")
        self._link = ui.link("Link to this page, while it is being served", "#")
        if self._source is not None:
            ui.label("None of these holds a value or a share: they are read from the file again.")

    async def _choose(self, **choices: Any) -> None:
        try:
            self._state = dataclasses.replace(self._state, **choices)
        except OptldpError as error:
            ui.notify(str(error), type="warning")
            return
        if choices.keys() & {"of", "names", "low", "high"}:
            self._arrange()
        await self._ask()

    async def _plan(self, error: float) -> None:
        await self._latest.ask(partial(self._search, error))

    async def _search(self, error: float) -> None:
        self._status.text = "Searching the budget for that error"
        try:
            epsilon = await _off_the_loop(partial(epsilon_for, self._prior, self._state, error, self._latest.go_on))
        except OptldpError as refused:
            self._status.text = str(refused)
            ui.notify(str(refused), type="warning")
            return
        await self._choose(epsilon=epsilon)

    async def _ask(self) -> None:
        await self._latest.ask(self._answer)

    async def _answer(self) -> None:
        """Answer the state as it is now: the mechanism first, then what takes longer unless something new was asked.

        A mechanism for a mean that is not kept is seen within a larger tolerance first; for others that saves no time.
        """
        state, prior, go_on = self._state, self._prior, self._latest.go_on
        _update(self._histogram, charts.histogram(prior, self._ink))
        self._status.text = "Computing"
        try:
            roughly = state.of == "mean" and not self._kept.has(prior, state)
            compute = partial(answer, tolerance=NEAR) if roughly else self._kept.answer
            self._made = made = await _off_the_loop(partial(compute, prior, state, go_on))
            self._show(made, state, prior)
            await self._latest.pause(PAUSE)
            if roughly:
                self._made = made = await _off_the_loop(partial(self._kept.answer, prior, state, go_on))
                self._show(made, state, prior)
            self._show_rivals(await _off_the_loop(partial(rivals, prior, state, go_on)), state.of)
            found = await _off_the_loop(partial(tried, prior, made, state.seed, go_on))
        except OptldpError as refused:
            self._status.text = str(refused)
            return
        self._show_trial(found, state.of)
        self._status.text = "Up to date"
        if QUESTIONS[state.of].knots is not None:
            return  # a second each
        for epsilon in (state.epsilon + STEP, state.epsilon - STEP):  # where the slider goes next
            if LEAST_EPSILON <= epsilon <= MOST_EPSILON:
                near = dataclasses.replace(state, epsilon=round(epsilon, 2))
                with suppress(OptldpError):
                    await _off_the_loop(partial(self._kept.answer, prior, near, partial(self._go_on_unless, near)))

    def _go_on_unless(self, wanted: State, *_: object) -> None:
        """Let a computation end that was begun ahead, if what waits is just this; else as `Latest.go_on`."""
        if self._state != wanted:
            self._latest.go_on()

    def _show(self, made: Answer, state: State, prior: Prior | CategoricalPrior) -> None:
        epsilon = made.design.epsilon
        # The chosen budget may be ahead of the answered one; that is where the slider is, and stays.
        self._slider.value = min(max(self._state.epsilon, LEAST_EPSILON), MOST_EPSILON)
        self._set(self._epsilon, float(f"{epsilon:.4g}"))
        self._set(self._error, float(f"{made.error:.4g}"))
        units = prior.units if isinstance(prior, Prior) else ""
        self._sentence.text = _sentence(made, units)
        self._odds.text = odds_sentence(epsilon)
        if made.poisoner is not None:
            poisoner = units_label(f"{made.poisoner:.3g}", units)
            self._poison.text = f"One person who lies moves the mean of {state.n:,} by at most {poisoner}."
        self._poison.visible = made.poisoner is not None
        _update(self._beliefs, charts.odds(made.beliefs, self._ink))
        _update(self._structure, charts.structure(made.design, self._ink))
        self._show_one()
        self._command.text = taking.command(state, self._source, "--json")
        self._reopen.text = taking.command(state, self._source)
        self._link.props(f'href="{self._address}&{state.query(drawn=self._source is None)}"')

    def _show_value(self, _: float) -> None:
        self._show_one()

    def _show_one(self) -> None:
        """Show where the report of the person may fall whose value or category was chosen."""
        if self._made is None:
            return
        mechanism, told = self._made.design.mechanism, self._value.value or 0.0
        if self._made.of == "categories":
            if self._category.value not in mechanism.categories.labels:
                return  # the answer for these categories is on its way
            told = self._category.value
        else:
            low, high = self._made.design.prior.domain
            told = min(max(told, low), high)
        _update(self._one, charts.reports_of(self._made.design, told, self._ink))

    def _show_rivals(self, found: Rivals, of: str) -> None:
        question = QUESTIONS[of]
        units = self._prior.units if isinstance(self._prior, Prior) and question.in_units else ""
        error = units_label(question.error, units)
        _update(self._rivals, charts.rivals(found, self._ink, error))

    def _show_trial(self, found: Trial | Shares, of: str) -> None:
        if isinstance(found, Shares):
            units = self._prior.units if isinstance(self._prior, Prior) else ""
            _update(self._many, charts.shares(found, self._ink, units))
            shares = "categories" if of == "categories" else "shares of values below a cut"
            self._found.text = (
                f"{found.people:,} simulated people report. Of {len(found.of)} {shares}, the intervals of "
                f"{found.inside} hold the true share."
            )
            return
        _update(self._many, charts.convergence(found, self._ink))
        where = "inside" if found.inside else "outside (it happens 5 times in 100)"
        self._found.text = (
            f"{found.people[-1]:,} simulated people report. The true {of}, {found.truth:.4g}, is {where} the "
            f"interval from {found.low[-1]:.4g} to {found.high[-1]:.4g} around the estimate {found.estimate[-1]:.4g}."
        )

    async def _again(self) -> None:
        await self._choose(seed=secrets.randbelow(10**6))

    async def _closest(self) -> Answer:
        """The answer within the tolerance of the command line, whatever is seen."""
        return await _off_the_loop(partial(self._kept.answer, self._prior, self._state))

    async def _table(self) -> None:
        if self._made is not None:
            ui.download.content(taking.table_bytes((await self._closest()).design), "mech.json")

    def _script(self) -> None:
        ui.download.content(taking.script(self._state, self._source), "workbench.py")

    async def _sign(self) -> None:
        if self._made is not None:
            made = await self._closest()
            page = await _off_the_loop(partial(taking.report, made.design, made.n))
            ui.download.content(page, "report.html")


async def _off_the_loop(compute: Callable[[], T]) -> T:
    """Compute in a thread, so that the page answers meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, compute)


def _sentence(made: Answer, units: str) -> str:
    """Return what the error is, in words."""
    begins = f"With epsilon {made.design.epsilon:.4g} and {made.n:,} people the"
    if made.of == "distribution":
        return f"{begins} 95% interval of a share of values below a cut is +-{made.error:.3g}, on average over cuts."
    if made.of == "categories":
        return f"{begins} standard error of a category's share is {made.error:.3g}, the root mean square of all."
    if made.of == "median":
        error = units_label(f"{made.error:.4g}", units)
        return f"{begins} 95% interval of the median is +-{error}, where reports are many."
    error, within = (
        units_label(f"{size:.{digits}g}", units) for size, digits in ((made.error, 4), (1.96 * made.error, 3))
    )
    return f"{begins} standard error of the mean is {error}: 95 times in 100 the mean is within {within}."


def _update(chart: ui.echart, options: charts.Options) -> None:
    if chart.options == options:
        return  # the browser draws it already
    chart.options.clear()
    chart.options.update(options)
    chart.update()
