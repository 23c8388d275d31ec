"""Placing: how something new stands beside the memories that there are. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from memory.memories import TEAM_SUBJECT
from memory.proposals import PROTECTED, Admitted, Confirms, Known, PassContext, Proposal, Refused, Verdict
from memory.same_matter import is_same_matter, says_the_same, tells_much_of

ASKED = ("explicit", "manual")


def placed(proposal: Proposal, new: Admitted, context: PassContext, kept: Sequence[Admitted]) -> Verdict:
    """A memory beside what is known: said again, the newer word on a matter, or simply new."""
    for earlier in kept:
        alike = (earlier.subject, earlier.audience, earlier.layer) == (new.subject, new.audience, new.layer)
        if alike and says_the_same(new.text, earlier.text):
            return Refused("known", new.said)
    if any(_was_asked_for(known, new, context) for known in context.known):
        return Refused("known", new.said)
    there = [known for known in context.known if _beside(known, new, context)]
    for known in there:
        if says_the_same(new.text, known.text):
            own = known.source_id == new.said.entry_id
            return Refused("known", new.said) if own else Confirms(new.said, new.quote, known)
    if context.adds_only:
        return new
    old: Known | None = None
    if proposal.replaces:
        target = _target(proposal, context)
        if isinstance(target, str):
            return Refused(target, new.said)
        old = target if target in there and _is_newer(new, target, context, meant=True) else None
    if old is None and new.layer == "fact":
        current = [known for known in there if _is_newer(new, known, context, meant=False)]
        old = max(current, key=lambda known: known.confirmed_at, default=None)
    if old is None:
        return new
    if old.confirmed_at > new.said.said_at:
        return Refused("outranked", new.said)
    return _replacing(new, old)


def _was_asked_for(known: Known, new: Admitted, context: PassContext) -> bool:
    """Whether the person had the same thing saved by name in the same message: their wording stays."""
    asked = known.active and known.origin in ASKED and known.source_id == new.said.entry_id
    return asked and tells_much_of(new.text, known.text, _names(context))


def _names(context: PassContext) -> str:
    return " ".join(name for _, name in context.people.values())


def _beside(known: Known, new: Admitted, context: PassContext) -> bool:
    """Whether it lives where the new one would: same bot, readers, subject and layer."""
    return (
        known.active
        and known.kind not in PROTECTED
        and known.bot_id == context.bot_id
        and known.audience == new.audience
        and known.subject == new.subject
        and known.layer == new.layer
    )


def _target(proposal: Proposal, context: PassContext) -> Known | str:
    """The memory that the model wants to replace, if it was shown and is still as it was shown."""
    shown = context.shown.get(proposal.replaces)
    if shown is None:
        return "not_shown"
    known = next((known for known in context.known if known.id == shown.id), None)
    return known if known and known.active and known.version == shown.version else "stale"


def _is_newer(new: Admitted, old: Known, context: PassContext, *, meant: bool) -> bool:
    """Whether its author may make the old one history, and both tell of the same matter."""
    own = new.said.person_id in (old.author_id, old.subject)
    if not own and (old.subject != TEAM_SUBJECT or new.said.is_guest):
        return False
    return is_same_matter(new.topic, new.text, old, _names(context), meant=meant)


def _replacing(new: Admitted, old: Known) -> Admitted:
    return replace(new, replaces=old, topic=new.topic or old.topic)
