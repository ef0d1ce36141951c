"""The provider's form in a real JupyterLab: by mouse, by keyboard, twice, after a reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from synthnb.testing import fault_process

MAKE = "from synthnb.widgets.picker import ProviderPicker\npicker = ProviderPicker()\npicker"
KEY = "sk-CANARY-kxwvqjzhbp"


class Form:
    """The form in one cell's output, as a person finds its parts."""

    def __init__(self, nb, cell: int = 0):
        self.nb, self.page = nb, nb.page
        self.root = nb.cell(cell).locator(".snb-picker")
        self.root.wait_for()
        self.url = self.root.get_by_label("URL", exact=True)
        self.key = self.root.locator("input[type=password]")
        self.key_source = self.root.get_by_label("Where the key comes from")
        self.model = self.root.get_by_role("combobox", name="Model", exact=True)
        self.alerts = self.root.get_by_role("alert")

    def way(self, name: str):
        self.root.get_by_label(name).check()

    def press(self, name: str):
        self.root.get_by_role("button", name=name).click()

    def type_url(self, text: str):
        self.url.fill(text)
        self.url.press("Enter")

    def shows(self, text: str):
        expect(self.root).to_contain_text(text)

    def hides(self, text: str):
        expect(self.root).not_to_contain_text(text)

    def steps(self, *outcomes: str):
        marks = self.root.locator(".snb-step .snb-sr")
        expect(marks).to_have_text([f"{outcome}: " for outcome in outcomes])


@pytest.fixture
def form(notebook):
    nb = notebook(MAKE)
    nb.run(0)
    return Form(nb)


def provider(form) -> str:
    return form.nb.python("print(picker.provider)").strip()


def error(form) -> str:
    code = "try: picker.provider\nexcept Exception as e: print(type(e).__name__, e)"
    return form.nb.python(code)


def test_a_url_is_normalised_in_sight_and_mended(form, server):
    form.shows("smollm2-135m-instruct")
    form.way("Server URL")
    assert "ConfigError the picker's URL is empty" in error(form)
    form.url.press_sequentially(f"localhost:{server.port}/v1/chat/comple")
    form.shows(f"uses http://localhost:{server.port}/v1")
    # Only seen so far, not taken: half a URL is nobody's server.
    assert "URL is empty" in error(form)
    form.url.press("Tab")
    form.shows("no list of models there")
    form.type_url("local host:8000")
    expect(form.alerts.first).to_contain_text("holds a space")
    assert form.url.get_attribute("aria-invalid") == "true"
    assert "holds a space" in error(form)
    form.type_url(f"127.0.0.1:{server.port}/other/v2")
    form.press("Check")
    form.steps("ok", "ok", "failed", "not tried", "not tried")
    form.press(f"Use http://127.0.0.1:{server.port}/v1")
    form.steps("ok", "ok", "ok", "ok", "ok")
    form.shows("vLLM · JSON schema")
    expect(form.model).to_have_value("fault-model")
    assert provider(form).startswith(f"<Provider http://127.0.0.1:{server.port}/v1")
    # Letters belong to the field, none to the notebook.
    form.url.press_sequentially("aabbdd")
    assert form.nb.page.locator(".jp-Cell").count() == 1


def test_nobody_there_then_the_model_field_is_asked_again(form):
    with fault_process() as gone:
        pass
    form.way("Server URL")
    form.type_url(f"localhost:{gone.port}")
    form.shows("nothing listens at")
    form.press("Check")
    form.steps("failed", *["not tried"] * 4)
    form.shows("choose Built-in model above")
    with fault_process("--port", str(gone.port)):
        form.model.click()
        form.shows("1 model")
        expect(form.model).to_have_value("fault-model")


def test_a_key_is_refused_then_accepted(form):
    with fault_process("--require-key", KEY, "--max-model-len", "8192") as server:
        form.way("Server URL")
        expect(form.key).to_be_disabled()  # for whom?
        form.type_url(f"localhost:{server.port}")
        form.shows("this server wants a key (401)")
        form.key.fill("sk-wrong")
        form.key.press("Enter")
        expect(form.key).to_have_value("")
        form.shows(f"set, for http://localhost:{server.port} only")
        form.press("Check")
        form.steps("ok", "failed", *["not tried"] * 3)
        form.shows("the server refuses the key (401)")
        form.key_source.select_option("paste")
        form.key.fill(KEY)
        form.press("Check")  # takes what was typed first
        expect(form.key).to_have_value("")
        form.steps(*["ok"] * 5)
        form.shows("8,192 tokens")
        form.hides("refuses")
        assert provider(form).endswith("key set>")
        # Undo does not bring it back into the page.
        form.key_source.select_option("paste")
        form.key.press("Control+z")
        expect(form.key).to_have_value("")
        # Another server does not get it; the form says so.
        form.type_url("localhost:9")
        form.shows(f"the key typed for http://localhost:{server.port} is not sent to")
        form.shows("not set")
        assert provider(form).endswith("key not set>")
        form.type_url(f"localhost:{server.port}/v1/")
        form.shows("only")
        form.press("Forget")
        form.shows("not set")


def test_a_half_typed_key_leaves_with_its_server(form, server):
    form.way("Server URL")
    form.type_url(f"localhost:{server.port}")
    expect(form.key).to_be_enabled()
    form.key.fill(KEY)
    form.type_url("localhost:9")
    form.shows("The field was emptied")
    expect(form.key).to_have_value("")
    expect(form.key).to_be_enabled()
    form.key.fill(KEY)
    form.key.press("Escape")
    expect(form.key).to_have_value("")
    assert "key not set" in provider(form)


def test_a_hosted_api_wants_its_key(notebook):
    nb = notebook(
        "import os; os.environ['OPENAI_API_KEY'] = 'sk-CANARY'; del os.environ['OPENAI_API_KEY']\n"
        + MAKE,
        "import os; os.environ['SYNTHNB_API_KEY'] = os.environ['AZURE_OPENAI_API_KEY'] = 'sk-CANARY-x'",
    )
    nb.run(0)
    nb.run(1)
    form = Form(nb)
    form.way("Hosted API")
    assert "no hosted API is chosen" in error(form)
    form.root.get_by_label("API", exact=True).select_option(label="Azure OpenAI")
    resource = form.root.get_by_label("Resource")
    resource.fill("evil.example/")
    resource.press("Enter")
    form.shows("more than letters, digits and hyphens")
    resource.fill("mine")
    resource.press("Enter")
    form.shows("uses https://mine.openai.azure.com/openai/v1")
    options = form.key_source.locator("option")
    expect(options).to_have_text(
        ["environment AZURE_OPENAI_API_KEY", "paste one…", "no key"]
    )
    form.shows("✓ set")
    form.key_source.select_option("no key")
    form.shows("not set")
    assert "the key for Azure OpenAI is missing" in error(form)


def test_three_hundred_models_by_keyboard_alone(form):
    names = [f"org/model-{i:03d}-instruct" for i in range(300)]
    flags = [part for name in names for part in ("--model", name)]
    with fault_process(*flags) as server:
        form.root.get_by_label("Built-in model").focus()
        keyboard = form.page.keyboard
        keyboard.press("ArrowRight")
        keyboard.press("Tab")
        expect(form.url).to_be_focused()
        keyboard.type(f"localhost:{server.port}")
        keyboard.press("Enter")
        form.shows("300 models")
        keyboard.press("Tab")
        expect(form.key).to_be_focused()
        keyboard.press("Tab")
        keyboard.press("Tab")
        expect(form.model).to_be_focused()
        keyboard.press("ArrowDown")
        expect(form.model).to_have_attribute("aria-expanded", "true")
        keyboard.press("ArrowUp")  # round the end: the last of all
        active = form.root.locator('[role=option][aria-selected="true"]')
        expect(active).to_have_text(names[-1])
        expect(active).to_be_in_viewport()
        assert active.get_attribute("aria-setsize") == "300"
        keyboard.press("Escape")
        expect(form.model).to_have_value("")
        keyboard.type("instruct 27")
        options = form.root.get_by_role("option")
        expect(options).to_have_count(14)  # 027, 127, 227, 270 to 279, 'Use “…”'
        keyboard.press("ArrowDown")
        keyboard.press("ArrowDown")
        keyboard.press("Enter")
        expect(form.model).to_have_value("org/model-227-instruct")
        expect(form.model).to_have_attribute("aria-expanded", "false")
        assert "model org/model-227-instruct," in provider(form)
        # What is not on the list can be used, and is remarked.
        keyboard.press("Control+a")
        keyboard.type("mine")
        expect(options).to_have_text(["Use “mine”as typed"])
        keyboard.press("Enter")
        form.shows("not on the server's list")
        # What was only begun is not taken.
        keyboard.press("Control+a")
        keyboard.type("org/model-1")
        keyboard.press("Tab")
        expect(form.model).to_have_value("mine")


def test_a_page_that_is_loaded_again_and_a_second_view_agree(notebook):
    with fault_process("--require-key", KEY) as server:
        nb = notebook(MAKE, "picker", "import asyncio; await asyncio.sleep(3600)")
        nb.run(0)
        nb.run(1)
        one, two = Form(nb, 0), Form(nb, 1)
        one.way("Server URL")
        expect(two.root.get_by_label("Server URL")).to_be_checked()
        two.type_url(f"localhost:{server.port}")
        expect(one.url).to_have_value(f"localhost:{server.port}")
        one.shows("401")
        # News do not disturb what is being typed.
        two.url.fill("localhost:12")
        nb.python("picker._form.choose_model('x'); picker._form.choose_model('')")
        expect(two.url).to_have_value("localhost:12")
        two.url.fill(f"localhost:{server.port}")
        nb.run(2, wait=False)  # and all of it works while a cell runs
        nb.until("document.querySelector('.jp-Notebook').innerText.includes('[*]')")
        one.key.fill(KEY)
        one.key.press("Enter")
        for form in (one, two):
            form.shows("1 model")
            form.shows(f"set, for http://localhost:{server.port} only")
        two.press("Check")
        for form in (one, two):
            form.steps(*["ok"] * 5)
        nb.interrupt()
        nb.save()
        nb.reload()
        for cell in (0, 1):
            again = Form(nb, cell)
            expect(again.root.get_by_label("Server URL")).to_be_checked()
            expect(again.url).to_have_value(f"localhost:{server.port}")
            expect(again.model).to_have_value("fault-model")
            again.shows(f"set, for http://localhost:{server.port} only")
            again.steps(*["ok"] * 5)


@pytest.mark.model
def test_the_built_in_model_is_started_by_a_check(form):
    form.press("Check")
    form.shows("starting the built-in model…")
    expect(form.root.locator(".snb-step .snb-sr")).to_have_text(
        ["ok: "] * 3, timeout=120_000
    )
    form.shows("started")
    form.shows("llama.cpp · 2,048 tokens")


@pytest.mark.parametrize("width", [360, 700, 1600])
def test_the_layout_holds_at_every_width(form, server, width):
    form.way("Server URL")
    form.type_url(f"localhost:{server.port}/v1/{'long/' * 30}")
    form.press("Check")
    form.steps("ok", "ok", "failed", "not tried", "not tried")
    # The cell as wide as asked, whatever JupyterLab takes beside it.
    form.root.evaluate("(e, w) => e.style.setProperty('width', `${w}px`)", width)
    wide = form.root.evaluate(
        """e => [...e.querySelectorAll('*')].filter(c => !c.closest('[popover], .snb-sr')
             && c.getBoundingClientRect().right > e.getBoundingClientRect().right + 1)
             .map(c => c.className)"""
    )
    assert wide == []
    assert form.root.evaluate("e => e.scrollWidth <= e.clientWidth")
