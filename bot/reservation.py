"""A reservation of money for a model call beside a turn: reserved before, settled after."""

from sqlalchemy.orm import Session

from bot.model import Body, Model, Response
from bot.preparation import cast
from bot.settings import Settings
from bot.spending import Purpose, release, reserve, settle
from memory.database import Database
from memory.turns import CallTag


class Reservation:
    """Reserves, settles and releases the calls that follow one turn."""

    def __init__(self, database: Database, settings: Settings, turn_id: str) -> None:
        self.database = database
        self.settings = settings
        self.turn_id = turn_id

    async def __call__(self, tag: CallTag, body: Body, model: Model) -> "Reserved":
        """Reserves the worst cost of a call against today's caps; raises `CapReached`."""
        worst = model.worst_cost(body)
        step_id = await self.database.run(self._reserve, tag, str(body["model"]), worst)
        return Reserved(self.database, step_id, model, str(body["model"]))

    def _reserve(self, session: Session, tag: CallTag, model: str, worst: int) -> str:
        scene = cast(session, self.turn_id)
        purpose = Purpose(
            team_id=scene.turn.team_id,
            tag=tag,
            model=model,
            bot_id=scene.bot.id,
            person_id=scene.turn.person_id,
            place_id=scene.place.id,
            conversation_id=scene.conversation.id,
            turn_id=self.turn_id,
        )
        return reserve(session, purpose, worst, self.settings.daily_cap)


class Reserved:
    """One reserved call."""

    def __init__(self, database: Database, step_id: str, model: Model, name: str) -> None:
        self.database = database
        self.step_id = step_id
        self.model = model
        self.name = name

    async def settle(self, response: Response) -> None:
        """Records what the call used."""
        await self.database.run(settle, self.step_id, response, self.model.cost(self.name, response.usage))

    async def release(self) -> None:
        """The call failed before it cost anything."""
        await self.database.run(release, self.step_id)
