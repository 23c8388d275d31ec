"""Files are what their bytes are; the token goes to Slack only; what cannot be opened is said."""

from typing import Any

import pytest

from adapters.slack.files import fetched, kind_of
from adapters.slack.workspace import Workspace, connected
from tests.adapters.slack.server import Slack, running
from tests.adapters.slack.team import peopled

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
HEIC = b"\x00\x00\x00\x18ftypheic" + b"0" * 20


async def space_of(slack: Slack) -> Workspace:
    """The workspace as the adapter holds it."""
    return await connected("xoxb-1", f"{slack.url}/api/")


def file_of(slack: Slack, name: str, kind: str, **more: Any) -> dict[str, Any]:
    """A file as a message has it."""
    url = f"{slack.url}/files/{name}"
    return {"id": "F1", "name": name, "mimetype": kind, "size": 28, "url_private": url, **more}


@pytest.mark.parametrize(
    ("served", "data", "told", "kind", "problem"),
    [
        ("image/png", PNG, "image/png", "image/png", None),
        ("text/html", b"<html>sign in</html>", "image/png", "image/png", "did not let me"),
        ("image/png", HEIC, "image/png", "image/heic", "HEIC"),
        ("image/png", b"", "image/png", "image/png", "empty"),
        ("image/png", b"no picture", "image/png", "application/octet-stream", "none that I can open"),
        ("image/svg+xml", b"<svg/>", "image/svg+xml", "image/svg+xml", None),
        ("text/plain", b"hello", "text/plain", "text/plain", None),
    ],
)
async def test_a_file_is_what_its_bytes_are(
    served: str, data: bytes, told: str, kind: str, problem: str | None
) -> None:
    async with running(peopled(Slack())) as slack:
        slack.files["a"] = (served, data)
        found = await fetched(await space_of(slack), file_of(slack, "a", told))
        assert found.media_type == kind
        assert (found.problem is None) == (problem is None)
        assert (problem or "") in (found.problem or "")
        assert (found.data is None) == (problem is not None)


async def test_the_token_does_not_follow_to_another_host() -> None:
    async with running(peopled(Slack())) as slack, running(Slack()) as elsewhere:
        elsewhere.files["b"] = ("image/png", PNG)
        slack.files["a"] = (f"{elsewhere.url}/files/b", b"")
        found = await fetched(await space_of(slack), file_of(slack, "a", "image/png"))
        assert found.data == PNG
        assert slack.tokens_at == ["Bearer xoxb-1"]
        assert elsewhere.tokens_at == [""]


async def test_a_file_of_another_workspace_is_asked_for_first() -> None:
    async with running(peopled(Slack())) as slack:
        slack.files["a"] = ("image/png", PNG)
        whole = file_of(slack, "a", "image/png")
        slack.faults["files.info"] = [lambda _: {"ok": True, "file": whole}]
        found = await fetched(await space_of(slack), {"id": "F1", "file_access": "check_file_info"})
        assert found.data == PNG


async def test_what_is_too_large_or_elsewhere_is_said() -> None:
    async with running(peopled(Slack())) as slack:
        space = await space_of(slack)
        large = await fetched(space, file_of(slack, "a", "image/png") | {"size": 10**9})
        assert "larger than" in (large.problem or "")
        outside = await fetched(space, file_of(slack, "a", "image/png", is_external=True))
        assert "not kept on Slack" in (outside.problem or "")
        assert slack.tokens_at == []


def test_a_gif_is_a_gif() -> None:
    assert kind_of(b"GIF89a", "image/png") == "image/gif"
