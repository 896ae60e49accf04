"""Listens for MOSS clients, starts a run for each request, and answers with the address of its result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from anyio import to_thread
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from chaffinch.errors import ChaffinchError
from chaffinch.service import runs
from chaffinch.service.accounts.sessions import has_accounts
from chaffinch.service.accounts.visitor import INSTRUCTOR, LOCAL, Visitor, is_loopback
from chaffinch.service.database.tables import Account, Job
from chaffinch.service.jobs.queue import DONE, FAILED
from chaffinch.service.moss.conversation import NO_FILES, Conversation, Request, known_language
from chaffinch.service.runs import RunState
from chaffinch.service.site import Site

MAX_CLIENTS = 200
"""Clients that are served at once. Others wait for their turn."""
_ANSWER_SECONDS = 8.0
"""Some clients wait only ten seconds for the address of the result."""
_POLL_SECONDS = 0.1
_log = logging.getLogger(__name__)


class MossServer:
    """The MOSS server of a service."""

    def __init__(self, site: Site, base_url: Callable[[], str]) -> None:
        self._site = site
        self._base_url = base_url
        self._turns = asyncio.Semaphore(MAX_CLIENTS)

    async def listen(self, host: str, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._serve, host, port, backlog=1000)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        try:
            async with self._turns:
                await self._talk(reader, writer, address)
        except ConnectionError:
            _log.info("a MOSS client went away")
        except Exception:
            _log.exception("a MOSS client could not be served")
        finally:
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str) -> None:
        with runs.upload(self._site) as (file, upload):
            conversation = Conversation(reader, writer, upload)
            request = await conversation.receive()
            if request is None:
                return
            try:
                visitor = await to_thread.run_sync(self._visitor, request.user, address)
                _check(request)
                started = await to_thread.run_sync(
                    lambda: runs.start_run(
                        self._site, visitor, file, upload, title=_title(request), source="moss",
                        options=_options(request),
                    )
                )  # fmt: skip
            except ChaffinchError as error:
                await conversation.answer(f"Error: {error}")
            except (DBAPIError, OSError):
                _log.exception("a MOSS request could not be accepted")
                await conversation.answer("Error: the server cannot accept this now; try again later.")
            else:
                await conversation.answer(await self._result(started))
        await conversation.drain()

    async def _result(self, started: RunState) -> str:
        """Return the address of the result once it is there, or while it is being made, or what went wrong."""
        job = started.job
        for _ in range(int(_ANSWER_SECONDS / _POLL_SECONDS)):
            job = await to_thread.run_sync(self._job, started.job.id)
            if job.state in (DONE, FAILED):
                break
            await asyncio.sleep(_POLL_SECONDS)
        if job.state == FAILED:
            return f"Error: {' '.join(job.message.split())}"
        return f"{self._base_url()}/results/{started.run.moss_number}"

    def _job(self, job_id: str) -> Job:
        with self._site.database.reading() as session:
            return session.get_one(Job, job_id)

    def _visitor(self, user: str, address: str) -> Visitor:
        """Return the account of a user id. Without accounts, everybody on this machine may use the service."""

        def find(session: Session) -> Visitor:
            account = session.scalar(select(Account).where(Account.moss_id == user, Account.is_active))
            if account is None and is_loopback(address) and not has_accounts(self._site):
                return LOCAL
            if account is None:
                account = self._registered(session, user)
            return Visitor(account.role, account.id, account.name, address=address)

        return self._site.database.write(find)

    def _registered(self, session: Session, user: str) -> Account:
        """Create an account for a user id that nobody has, if that is allowed."""
        if not (self._site.settings.open_registration and user.isascii() and user.isdigit() and len(user) < 20):
            raise ChaffinchError("unknown user id; ask the administrator of this server for an account")
        if session.scalar(select(Account.id).where(Account.moss_id == user)) is not None:
            raise ChaffinchError("this account is locked")
        account = Account(
            name=f"MOSS user {user}", email=f"moss-{user}", role=INSTRUCTOR, moss_id=user, is_active=True
        )
        session.add(account)
        session.flush()
        return account


def _check(request: Request) -> None:
    if request.problem:
        raise ChaffinchError(request.problem)
    if not request.files:
        raise ChaffinchError(NO_FILES)
    if known_language(request.language) is None:
        raise ChaffinchError(f"this server does not know the language {request.language}")


def _title(request: Request) -> str:
    return request.comment[:200] or "MOSS"


def _options(request: Request) -> dict[str, object]:
    return {
        "language": known_language(request.language),
        "max_owners": request.max_owners,
        "top": request.show,
        "threshold": 0.0,
        "moss": {
            "options": request.options(),
            "comment": request.comment,
            "is_directory": request.is_directory,
        },
    }
