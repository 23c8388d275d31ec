"""Rights over memories that somebody may read: reading comes first, from the audience alone."""

from typing import Literal

from sqlalchemy.orm import Session

from memory.audience import TEAM
from memory.memories import Memory
from memory.people import Speaker, Team

WritesTeam = Literal["yes", "card", "no"]


def may_change(memory: Memory, who: Speaker) -> bool:
    """Whether they may correct, archive or forget it: author, subject, and admins what is the team's."""
    if who.person_id in (memory.author_id, memory.subject):
        return True
    return who.is_admin and memory.audience == TEAM


def may_supersede(memory: Memory, who: Speaker) -> bool:
    """Whether they may replace it in their own words, the old one kept: any member who reads it."""
    return who.person_id in (memory.author_id, memory.subject) or not who.is_guest


def may_write_team(session: Session, who: Speaker) -> WritesTeam:
    """Whether what they say may enter team memory: at once, after an admin pressed a card, or not at all."""
    if who.is_guest:
        return "no"
    team = session.get(Team, who.team_id)
    policy = team.settings.get("who_writes_team_memory", "anyone") if team else "anyone"
    if policy == "anyone" or who.is_admin:
        return "yes"
    return "card" if policy == "approve" else "no"
