from pathlib import Path

import pytest

from synthnb.documents.paths import find_files
from synthnb.errors import ConfigError


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A current folder with notes in it; the folder above is outside."""
    folder = tmp_path / "work"
    for name in ("notes/b.md", "notes/a.txt", "notes/deep/c.HTML", "top.md"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(folder)
    return folder


def sources(*paths, root=None):
    return [file.source for file in find_files(paths, root)[0]]


def problems(*paths, root=None):
    return find_files(paths, root)[1]


def test_a_folder_gives_the_files_below_it_sorted(here):
    assert sources("notes") == ["notes/a.txt", "notes/b.md", "notes/deep/c.HTML"]
    assert sources(Path("notes")) == sources("notes/") == sources(str(here / "notes"))
    assert problems("notes") == ()


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("notes/*.md", ["notes/b.md"]),
        ("**/*.md", ["notes/b.md", "top.md"]),
        ("notes/?.*", ["notes/a.txt", "notes/b.md"]),
        ("notes/[ab].*", ["notes/a.txt", "notes/b.md"]),
        ("notes/**", ["notes/a.txt", "notes/b.md", "notes/deep/c.HTML"]),
        ("no*/deep", ["notes/deep/c.HTML"]),
    ],
)
def test_patterns(here, pattern, expected):
    assert sources(pattern) == expected


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(here):
    (here / "a[1].md").write_text("x")
    assert sources("a[1].md") == ["a[1].md"]


def test_the_home_folder(here, monkeypatch):
    monkeypatch.setenv("HOME", str(here))
    assert sources("~/top.md") == ["top.md"]


def test_a_file_reached_twice_is_read_once_in_the_order_of_the_arguments(here):
    (here / "notes" / "link.md").symlink_to("b.md")
    assert sources("top.md", "notes/b.md", "notes", "**/*.md") == [
        "top.md",
        "notes/b.md",
        "notes/a.txt",
        "notes/deep/c.HTML",
    ]


@pytest.mark.parametrize("hidden", [".hidden.md", ".git/x.md", "~$lock.docx"])
def test_hidden_files_are_passed_over(here, hidden):
    path = here / "notes" / hidden
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    assert len(sources("notes")) == 3
    assert problems("notes") == ()
    assert sources(f"notes/{hidden}") == [f"notes/{hidden}"]


@pytest.mark.parametrize("named", ["notes", "notes/*"])
def test_files_without_a_reader_are_counted(here, named):
    for name in ("a.png", "b.png", "c.xyz", "Makefile"):
        (here / "notes" / name).write_text("x")
    (problem,) = problems(named)
    assert problem.source == named
    assert problem.reason == (
        "no reader for 4 files: .png (2), no suffix (1), .xyz (1)"
    )
    assert ".docx, .epub, .htm" in problem.next_step


def test_data_and_code_in_a_folder_are_left_alone_until_they_are_named(here):
    for name in ("a.csv", "b.json", "train.jsonl", "x.py"):
        (here / "notes" / name).write_text("{}")
    before = sources("notes/*.md")
    assert sources("notes") == sources("notes/*")
    assert not {"a.csv", "x.py"} & {s.split("/")[-1] for s in sources("notes")}
    (problem,) = problems("notes")
    assert problem.reason.startswith("4 files of data or code not read: ")
    assert "name them: **/*" in problem.next_step
    assert sources("notes/*.py") == ["notes/x.py"]
    assert sources("notes/**/*.csv") == ["notes/a.csv"]
    assert sources("notes/b.json") == ["notes/b.json"]
    assert before == sources("notes/*.md")


def test_sources_outside_the_current_folder_are_named_from_what_was_typed(
    here, tmp_path
):
    for name in ("else/corpus/x.md", "else/corpus/sub/y.md", "else/z.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    outside = tmp_path / "else"
    assert sources(outside / "corpus") == ["corpus/sub/y.md", "corpus/x.md"]
    assert sources(f"{outside}/*/x.md") == ["else/corpus/x.md"]
    assert sources(outside / "z.md", "top.md") == ["z.md", "top.md"]
    assert sources("../else/z.md") == ["z.md"]


def test_equal_names_are_lengthened_until_they_differ(here, tmp_path):
    for folder in ("p/one", "q/one", "q/two"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.md").write_text(folder)
    named = [tmp_path / f / "x.md" for f in ("p/one", "q/one", "q/two")]
    assert sources(*named) == ["p/one/x.md", "q/one/x.md", "two/x.md"]
    (here / "x.md").write_text("x")
    assert len(set(sources("x.md", named[0]))) == 2


def test_a_root_is_where_paths_start_and_end(here, tmp_path):
    (tmp_path / "secret.md").write_text("x")
    root = here / "notes"
    assert sources("b.md", "deep", root=root) == ["b.md", "deep/c.HTML"]
    for escape in ("../top.md", str(tmp_path / "secret.md"), "deep/../../top.md"):
        files, (problem,) = find_files([escape], root)
        assert files == ()
        assert "outside of the root" in problem.reason


def test_a_link_out_of_the_root_is_refused(here, tmp_path):
    (tmp_path / "secret.md").write_text("x")
    (here / "notes" / "link.md").symlink_to(tmp_path / "secret.md")
    (problem,) = problems("link.md", root=here / "notes")
    assert "outside of the root" in problem.reason


@pytest.mark.parametrize("named", ["notes", "notes/*", "notes/**/*.md"])
def test_a_link_that_leads_out_of_a_folder_is_refused(here, tmp_path, named):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "s.md").write_text("x")
    (here / "notes" / "file.md").symlink_to(tmp_path / "secret" / "s.md")
    (here / "notes" / "folder").symlink_to(tmp_path / "secret")
    files, found = find_files([named])
    assert not any("s.md" in str(file.path.resolve()) for file in files)
    assert {"a link that leads out of the folder"} == {p.reason for p in found}
    assert any(problem.source.endswith("file.md") for problem in found)


def test_a_link_that_is_named_itself_is_followed(here, tmp_path):
    (tmp_path / "s.md").write_text("x")
    (here / "link.md").symlink_to(tmp_path / "s.md")
    assert sources("link.md") == ["link.md"]


def test_links_in_a_circle_end(here):
    (here / "notes" / "deep" / "up").symlink_to(here / "notes")
    (here / "notes" / "self.md").symlink_to("self.md")
    assert sources("notes/**/*.md")[0] == "notes/b.md"
    assert "notes/b.md" in sources("notes")


def test_a_missing_file_names_its_neighbours(here):
    (problem,) = problems("notes/bb.md")
    assert (problem.source, problem.reason) == ("notes/bb.md", "no such file or folder")
    assert problem.next_step.startswith("Did you mean b.md?")


def test_a_missing_folder_names_the_last_that_exists(here):
    (problem,) = problems("notes/nowhere/deeper/x.md")
    assert problem.next_step == (
        f"There is no folder {here}/notes/nowhere/deeper; {here}/notes exists."
    )


def test_a_pattern_without_match_says_what_is_there(here):
    (problem,) = problems("notes/*.pdf")
    assert problem.reason == "nothing matches this pattern"
    assert problem.next_step.startswith(f"{here}/notes holds a.txt, b.md, deep. ")
    (problem,) = problems("nowhere/*.pdf")
    assert "holds notes, top.md" in problem.next_step


def test_an_empty_folder(here):
    (here / "empty").mkdir()
    (problem,) = problems("empty")
    assert problem.reason == "nothing new to read in it"
    (problem,) = problems("empty/*.md")
    assert problem.next_step == f"{here}/empty is empty."


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "an empty path"),
        ("https://example.com/a.html", "an address; nothing is fetched"),
        ("file:///etc/passwd", "an address; nothing is fetched"),
        ("~nobody-of-this-name/x.md", "not a path that can be used"),
    ],
)
def test_odd_paths_are_problems(here, typed, said):
    (problem,) = problems(typed)
    assert problem.reason.startswith(said)
    assert problem.next_step


@pytest.mark.parametrize("typed", ["a\0b.md", "x" * 300 + ".md", "\0*.md"])
def test_paths_that_no_system_takes_are_problems(here, typed):
    (problem,) = problems(typed)
    assert problem.source == typed
    assert problem.next_step


@pytest.mark.parametrize("wrong", [["a.md"], None, 3, b"a.md"])
def test_what_is_no_path_is_an_error(here, wrong):
    with pytest.raises(ConfigError, match="a path is a str or a Path"):
        find_files([wrong])
