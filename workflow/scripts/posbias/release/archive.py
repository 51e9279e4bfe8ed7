"""The archive itself: tar in xz, of the same bytes each time, read with distrust.

xz took 55 kB where gzip took 89 for the measures of the mini scale, so that there is one format.
"""

import contextlib
import io
import lzma
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from posbias.files import whole_file
from posbias.release.names import fault_of_name, folded

SUFFIX = ".tar.xz"
PRESET = 6  # 9 saves 4 % at mini scale, but takes 670 MB to write where this takes 94
MEMORY = 256 * 2**20  # bytes that unpacking may take; this needs 9 MB
CHUNK = 2**16  # bytes
PADDING = 2**14  # bytes of zeros that may follow the last file; tar fills up to 10,240
HEAD = 2**26  # bytes that may be unpacked before the manifest says how many there are


class UnsoundError(Exception):
    """An archive is not what this module writes; the message says in what."""


def write_archive(path: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into an archive in the given order, whole or not at all.

    The bytes depend on names and contents alone (and on the version of liblzma).
    """
    with (
        whole_file(path) as part,
        lzma.open(part, "wb", preset=PRESET) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8") as tar,
    ):
        for name, data in contents.items():
            member = tarfile.TarInfo(name)  # its defaults: time 0, owner 0, no names of owners
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))


class _Unpacked:
    """The bytes of one xz stream; refuses to unpack more than `allow` says."""

    def __init__(self, data: BinaryIO) -> None:
        self.data, self.left = data, HEAD
        self.decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY)

    def allow(self, more: int) -> None:
        """Set how many bytes may still come."""
        self.left = more

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size`; none at the end of the stream."""
        while not self.decoder.eof:
            wanted = self.data.read(CHUNK) if self.decoder.needs_input else b""
            if self.decoder.needs_input and not wanted:
                raise UnsoundError("it is cut short")
            found = self.decoder.decompress(wanted, max_length=size)
            self.left -= len(found)
            if self.left < 0:
                raise UnsoundError("it unpacks to more than its manifest says")
            if found:
                return found
        return b""

    def check_end(self) -> None:
        """Raise UnsoundError unless nothing but padding is left."""
        self.allow(PADDING)
        while found := self.read(CHUNK):
            if found.strip(b"\0"):
                raise UnsoundError("data follow its last file")
        if self.decoder.unused_data or self.data.read(1):
            raise UnsoundError("data follow its end")


class Members:
    """The files of an archive, one after the other: an iterator of names, sizes and readers."""

    def __init__(self, data: BinaryIO) -> None:
        self.unpacked = _Unpacked(data)

    def expect(self, total: int, count: int) -> None:
        """Bound what may still be unpacked: `total` bytes in `count` files, and their headers."""
        self.unpacked.allow(total + 2**13 * (count + 1) + 2**20)

    def __iter__(self) -> Iterator[tuple[str, int, BinaryIO]]:
        seen: set[str] = set()
        with tarfile.open(
            fileobj=self.unpacked, mode="r|", encoding="utf-8", errors="surrogateescape"
        ) as tar:
            for member in tar:
                name = member.name
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
                    raise UnsoundError(f"{name!r} is a link, a folder or a device, no plain file")
                fault = fault_of_name(name)
                if fault:
                    raise UnsoundError(f"the file name {name!r} {fault}")
                if folded(name) in seen:
                    raise UnsoundError(f"{name!r} is there twice")
                seen.add(folded(name))
                reader = tar.extractfile(member)
                if reader is None:
                    raise UnsoundError(f"{name!r} has no content")
                yield name, member.size, reader
        self.unpacked.check_end()


@contextlib.contextmanager
def opened(archive: Path) -> Iterator[tuple[BinaryIO, Members]]:
    """Open an archive; raises UnsoundError within for all that is wrong with its bytes."""
    with Path(archive).open("rb") as data:
        try:
            yield data, Members(data)
        except lzma.LZMAError as fault:
            raise UnsoundError(f"it is no whole xz file ({fault})") from fault
        except (tarfile.TarError, EOFError) as fault:
            raise UnsoundError(f"it is no whole tar file ({fault})") from fault
