"""Admission: what of a model's proposals may be kept. Pure; the model's labels are never enough."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memory import said_dates, speech
from memory.audience import TEAM, of_person
from memory.memories import MAX_TEXT, TEAM_SUBJECT
from memory.own_words import OwnWords, carries, own_words, supports
from memory.placing import placed
from memory.proposals import PROTECTED, Admitted, PassContext, Proposal, Refused, Said, Verdict
from memory.secrets import withhold
from memory.text import tokens
from memory.words import clean

LAYERS = ("fact", "log", "note")
KINDS = ("preference", "decision", "fact", "event")
CAP = 5
"""Memories that one turn may bring."""
MOST_WEIGHED = 50
CERTAIN, UNSURE = 0.9, 0.6
LONG_NUMBER = 3
"""Digits from which a number must have been said as it is."""


class Heard(NamedTuple):
    """The evidence: who said it, their own words, the quote there and the sentence that holds it."""

    said: Said
    own: OwnWords
    quote: str
    sentence: str


class Dates(NamedTuple):
    """When a memory holds, as instants."""

    since: datetime | None
    until: datetime | None


def admit_all(proposals: Sequence[Proposal], context: PassContext, cap: int = CAP) -> list[Verdict]:
    """The verdict on each proposal in order; beyond the cap nothing is kept."""
    verdicts: list[Verdict] = []
    kept: list[Admitted] = []
    for proposal in proposals[:MOST_WEIGHED]:
        verdict = admit(proposal, context, kept)
        if isinstance(verdict, Admitted):
            verdict = verdict if len(kept) < cap else Refused("cap", verdict.said)
        if isinstance(verdict, Admitted):
            kept.append(verdict)
        verdicts.append(verdict)
    return verdicts + [Refused("cap")] * (len(proposals) > MOST_WEIGHED)


def admit(proposal: Proposal, context: PassContext, kept: Sequence[Admitted] = ()) -> Verdict:
    """Whether one proposal may be kept (`kept` are those of the same pass that were admitted before it)."""
    heard = _heard(proposal, context)
    if isinstance(heard, Refused):
        return heard
    said = heard.said
    text = clean(proposal.text).strip()
    reason = (
        _wrong_shape(proposal, text)
        or _wrong_speech(proposal, heard, text)
        or _passing(proposal, text)
        or _unsupported(proposal, heard, text, context)
        or _unaccepted(proposal, heard, context)
    )
    if reason:
        return Refused(reason, said)
    subject = _subject(proposal, heard, context)
    if subject is None:
        return Refused("subject", said)
    if subject == said.person_id and speech.is_invented(heard.sentence):
        return Refused("invented", said)
    audience = _audience(proposal, said)
    if audience is None:
        return Refused("wider", said)
    if audience == TEAM and (said.is_guest or not said.writes_team):
        return Refused("guest" if said.is_guest else "policy", said)
    dates = _dates(proposal, heard, text)
    if isinstance(dates, str):
        return Refused(dates, said)
    admitted = _resolved(proposal, said, subject, audience, dates)
    return placed(proposal, admitted, context, kept)


def _resolved(proposal: Proposal, said: Said, subject: str, audience: str, dates: Dates) -> Admitted:
    return Admitted(
        said=said,
        quote=clean(proposal.quote).strip(),
        text=clean(proposal.text).strip(),
        subject=subject,
        audience=audience,
        layer=proposal.layer,
        kind=proposal.kind,
        topic=clean(proposal.topic).strip(),
        importance=min(max(proposal.importance, 1), 5),
        confidence=CERTAIN if proposal.certain else UNSURE,
        since=dates.since,
        until=dates.until,
    )


def _heard(proposal: Proposal, context: PassContext) -> Heard | Refused:
    """The quote in the person's own words, in a message that may be learnt from."""
    said = context.messages.get(proposal.message)
    if said is None:
        return Refused("message")
    if said.gone:
        return Refused("forgotten", said)
    if not said.learnable:
        return Refused("paused", said)
    own = own_words(said.text)
    if speech.is_off_record(own.text):
        return Refused("off_record", said)
    found = own.find(proposal.quote)
    if found is None or not carries(proposal.quote):
        return Refused("quote", said)
    return Heard(said, own, found.group(), own.sentence(found))


def _wrong_shape(proposal: Proposal, text: str) -> str | None:
    if not text:
        return "empty"
    if len(text) > MAX_TEXT:
        return "long"
    if proposal.kind in PROTECTED:
        return "rule"
    if proposal.layer not in LAYERS or proposal.kind not in KINDS:
        return "layer"
    if withhold(text).kinds or withhold(proposal.topic).kinds or withhold(proposal.quote).kinds:
        return "secret"
    return None


def _wrong_speech(proposal: Proposal, heard: Heard, text: str) -> str | None:
    """A label other than a statement, or words that give a wrong label away."""
    if proposal.speech_act == "plan" and proposal.kind != "event":
        return "speech"
    if proposal.speech_act not in ("statement", "plan"):
        return "speech"
    if speech.is_question(heard.sentence):
        return "question"
    if speech.is_hypothetical(heard.sentence):
        return "hypothetical"
    if speech.is_joke(heard.own.text):
        return "joke"
    if speech.asks_to_forget(heard.sentence):
        return "forget"
    if speech.is_order(text) or speech.is_order(heard.sentence):
        return "order"
    return None


def _passing(proposal: Proposal, text: str) -> str | None:
    """What does not last: states that are looked up, moments that are over soon."""
    if proposal.live or speech.is_live(text):
        return "live"
    if proposal.temporary and proposal.layer != "note":
        return "temporary"
    return None


def _unsupported(proposal: Proposal, heard: Heard, text: str, context: PassContext) -> str | None:
    """Words that nobody said: the memory must rest on its message, not on what the model knows."""
    names = " ".join(name for _, name in context.people.values())
    own = heard.own
    accepted = context.messages.get(proposal.accepted_in)
    said = own.text
    if accepted is not None and accepted is not heard.said:
        said += f"{own_words(accepted.text).text} {accepted.name}"
    day = heard.said.said_at.astimezone(said_dates.zone(heard.said.zone))
    allowed = f"{names} {proposal.since} {proposal.until} {day:%Y-%m-%d}"
    if not supports(OwnWords(said, ()), text, f"{names} {allowed}"):
        return "unsupported"
    if _names_a_stranger(heard.said, said, text, context):
        return "unsupported"
    numbers = set(re.findall(r"\d+", said + allowed))
    joined = re.sub(r"[.,' ](?=\d{3})", "", said)
    for number in re.findall(r"\d+", re.sub(r"[.,' ](?=\d{3})", "", text)):
        if len(number) >= LONG_NUMBER and number not in numbers and number not in joined:
            return "unsupported"
    return None


def _names_a_stranger(speaker: Said, said: str, text: str, context: PassContext) -> bool:
    """Whether a text names somebody who neither speaks nor was spoken of."""
    own = set(tokens(speaker.name))
    mentioned, named = set(tokens(said)), set(tokens(text))
    for person_id, name in context.people.values():
        theirs = set(tokens(name)) - own
        if person_id != speaker.person_id and theirs and theirs <= named and not theirs <= mentioned:
            return True
    return False


def _unaccepted(proposal: Proposal, heard: Heard, context: PassContext) -> str | None:
    """A decision needs somebody else's yes, except where one person decides alone.

    An earlier message is kept only as a decision that a message of this turn takes up.
    """
    said = heard.said
    if proposal.kind != "decision":
        return None if said.fresh else "old"
    if proposal.accepted_in == 0:
        return None if context.alone and said.fresh else "unaccepted"
    by = context.messages.get(proposal.accepted_in)
    if by is None or by.gone or not by.learnable or by.said_at < said.said_at or not (by.fresh or said.fresh):
        return "unaccepted"
    if by.audience != said.audience or (by.person_id == said.person_id and not context.alone):
        return "unaccepted"
    agreed = own_words(by.text)
    found = agreed.find(proposal.accepted_quote)
    if found is None or speech.is_question(agreed.sentence(found)):
        return "unaccepted"
    return None


def _subject(proposal: Proposal, heard: Heard, context: PassContext) -> str | None:
    """Whom it is about: the team, the speaker, or somebody whom the speaker named."""
    if proposal.about == 0:
        return TEAM_SUBJECT
    person = context.people.get(proposal.about)
    if person is None or person[0] == heard.said.person_id:
        return person[0] if person else None
    return person[0] if set(tokens(person[1])) <= set(tokens(heard.own.text)) else None


def _audience(proposal: Proposal, said: Said) -> str | None:
    """The readers of what was said, or its author alone; never more."""
    if proposal.readers == "same":
        return said.audience
    return of_person(said.person_id) if proposal.readers == "author" else None


def _dates(proposal: Proposal, heard: Heard, text: str) -> Dates | str:
    """Absolute dates that can be meant, or why not."""
    said = heard.said
    here = said_dates.zone(said.zone)
    try:
        since, until = said_dates.parse(proposal.since, here), said_dates.parse(proposal.until, here)
    except (ValueError, OverflowError):
        return "date"
    if said_dates.holds_impossible_day(text) or (since and until and until.end < since.start):
        return "date"
    quoted = said_dates.said_days(heard.quote, said.said_at, here)
    if quoted and since is None and until is None and proposal.layer != "note":
        return "date"
    if since and not said_dates.can_be_meant(
        since, heard.quote if quoted else heard.sentence, said.said_at, here
    ):
        return "date"
    local_day = said.said_at.astimezone(here).date()
    if (
        proposal.layer != "note"
        and said_dates.is_relative(text)
        and not said_dates.holds_day(text, local_day)
    ):
        return "relative_date"
    ends = until.end if until else None
    if since and ends is None and proposal.kind == "event" and proposal.layer == "fact":
        ends = max(since.end, said_dates.end_of_day(since, here))
    return Dates(since.start if since else None, ends)
