"""What this project asks of the hub: a repository's files at a commit, and their bytes."""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from posbias.access_keys import check_key
from posbias.downloads.waits import Broken, Patience, with_patience
from posbias.errors import ConfigError, DataError, PosbiasError
from posbias.files import named_disk_faults

TIMEOUT = 60.0  # seconds without a byte
COMMIT_HEADER = "X-Repo-Commit"
T = TypeVar("T")


@dataclass(frozen=True)
class HubFile:
    """A file of a repository; of its hashes the hub tells one: SHA-256 of large files, or git's."""

    path: str
    bytes: int
    sha256: str | None
    git: str | None


@dataclass(frozen=True)
class Listing:
    """A repository at a commit."""

    revision: str
    licence: str | None
    files: tuple[HubFile, ...]


class Hub:
    """The hub at an address, asked patiently; the default address is huggingface_hub's.

    sleep: how to wait, in seconds. Raises ConfigError for a token that cannot be one.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        from huggingface_hub import constants

        self.endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        self.patience, self.sleep = patience or Patience(), sleep
        # It would tell each address, and those of the storage hold a signature that lets in.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        _check_token()

    def listing(self, repo: str, kind: str, revision: str | None) -> Listing:
        """Return the files of a repository at a commit, or at the head of its main branch.

        Raises PosbiasError naming the remedy if the hub refuses or cannot be reached.
        """
        from huggingface_hub import HfApi

        api = HfApi(endpoint=self.endpoint)
        info = self._asked(
            repo,
            kind,
            revision,
            lambda: api.repo_info(
                repo, repo_type=kind, revision=revision, files_metadata=True, timeout=TIMEOUT
            ),
        )
        if revision is not None and info.sha != revision:
            raise DataError(
                f"{self.endpoint}, {repo}: asked for commit {revision}, told of {info.sha}; the "
                "address is no faithful copy of the hub (HF_ENDPOINT), or the hub is at fault."
            )
        files = tuple(_hub_file(repo, sibling) for sibling in info.siblings or ())
        return Listing(info.sha, _licence(info.card_data), files)

    def fetch(
        self,
        repo: str,
        kind: str,
        revision: str,
        file: HubFile,
        part: Path,
        progress: Callable[[int], object],
    ) -> None:
        """Write a file's bytes to `part`, going on after what it already holds.

        progress is called with the bytes that `part` holds. Raises PosbiasError as `listing` does.
        """
        from huggingface_hub import hf_hub_url

        url = hf_hub_url(repo, file.path, repo_type=kind, revision=revision, endpoint=self.endpoint)
        part.parent.mkdir(parents=True, exist_ok=True)
        if held(part) > file.bytes:
            part.unlink()
        if held(part) < file.bytes or not part.exists():
            self._asked(
                repo,
                kind,
                revision,
                lambda: _receive(url, revision, file, part, progress),
                lambda: held(part),
            )

    def _asked(
        self,
        repo: str,
        kind: str,
        revision: str | None,
        ask: Callable[[], T],
        gained: Callable[[], int] = lambda: 0,
    ) -> T:
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        try:
            return with_patience(f"{self.endpoint}, {repo}", ask, gained, self.patience, self.sleep)
        except OfflineModeIsEnabled as fault:
            raise ConfigError(
                f"{repo}: the hub cannot be asked while HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is "
                "set; run again without them (`env -u HF_HUB_OFFLINE -u TRANSFORMERS_OFFLINE …`)."
            ) from fault
        except HfHubHTTPError as fault:
            raise self._refusal(repo, kind, revision, fault) from fault

    def _refusal(self, repo: str, kind: str, revision: str | None, fault: Any) -> PosbiasError:
        """Return what a refusal means for the user."""
        from huggingface_hub import errors

        page = f"{self.endpoint}/{'datasets/' if kind == 'dataset' else ''}{repo}"
        token = (
            "make a token that may read at "
            f"{self.endpoint}/settings/tokens, and run again with HF_TOKEN set to it"
        )
        status = fault.response.status_code
        if isinstance(fault, errors.GatedRepoError):
            return PosbiasError(
                f"{repo}: gated, the hub gives it only to who accepted its licence ({status}). "
                f"Log in and accept it at {page}, {token}."
            )
        if isinstance(fault, errors.RevisionNotFoundError):
            return ConfigError(
                f"{repo}: the hub knows no commit {revision}; {page}/commits/main lists its "
                f"commits, `python workflow/scripts/pin_revisions.py --every` prints the newest."
            )
        if isinstance(fault, errors.RepositoryNotFoundError) or status in (401, 403):
            return ConfigError(
                f"{repo}: no such {kind} on the hub, or it is private ({status}). Check repo and "
                f"type of this download at {page}; if it is private or gated, {token}."
            )
        if isinstance(fault, errors.EntryNotFoundError):
            return DataError(
                f"{repo} at {revision}: a file that the hub lists is not there: {fault}"
            )
        return PosbiasError(f"{page}: the hub refuses with {status}: {fault}")


def _check_token() -> None:
    from huggingface_hub import get_token

    variable = os.environ.get("HF_TOKEN", "").strip()
    for token, place in (
        (variable, "the environment variable HF_TOKEN"),
        (get_token(), "the token that `hf auth login` stored, or HF_TOKEN,"),
    ):
        if token:
            check_key(token, place)


def held(part: Path) -> int:
    """Return the bytes of a file, 0 if there is none."""
    return part.stat().st_size if part.exists() else 0


def _hub_file(repo: str, sibling: Any) -> HubFile:
    path, size = sibling.rfilename, sibling.size
    if path.startswith(("/", "\\")) or ".." in path.split("/"):
        raise DataError(f"{repo}: the hub lists a file outside of the repository: {path!r}.")
    if size is None:
        raise DataError(f"{repo}: the hub does not tell the size of {path}; try again later.")
    return HubFile(path, size, sibling.lfs.sha256 if sibling.lfs else None, sibling.blob_id)


def _licence(card: Any) -> str | None:
    told = getattr(card, "license", None) or (card.get("license") if card else None)
    return ", ".join(told) if isinstance(told, list) else told


def _receive(
    url: str, revision: str, file: HubFile, part: Path, progress: Callable[[int], object]
) -> None:
    """Append what one connection yields of a file; raises Broken if it ends early."""
    from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

    done = held(part)
    # Compressed bytes could not be counted, nor gone on with. Tokens stay with the hub: the client
    # leaves them out where it is sent on to another host.
    headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
    if done:
        headers["Range"] = f"bytes={done}-"
    with get_session().stream("GET", url, headers=headers, timeout=TIMEOUT) as response:
        hf_raise_for_status(response)
        for answer in (*response.history, response):
            told = answer.headers.get(COMMIT_HEADER)
            if told is not None and told != revision:
                raise DataError(f"{url}: the hub answered with commit {told}; try again later.")
        if done and response.status_code != 206:
            done = 0  # the whole file comes
        with named_disk_faults(part), part.open("ab" if done else "wb") as out:
            for chunk in response.iter_bytes():
                out.write(chunk)
                done += len(chunk)
                progress(done)
    if done > file.bytes:
        part.unlink()
        raise DataError(
            f"{url}: {done:,} bytes came, the hub lists {file.bytes:,}; it was removed. Run again."
        )
    if done < file.bytes:
        raise Broken(f"the connection ended after {done:,} of {file.bytes:,} bytes")
