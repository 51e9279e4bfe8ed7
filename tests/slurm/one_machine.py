"""A SLURM of one machine: real daemons with accounting, two invented nodes, all in one folder.

The nodes claim more CPUs, memory and GPUs than the machine has, so that the profiles' requests for
the paper scale can be placed; memory is watched and a job that takes too much is killed. Needs root
and Debian's or Ubuntu's packages. Outside of its folder it makes one link, and no other machine can
reach its daemons.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGES = ("munge", "slurmctld", "slurmd", "slurm-client", "slurmdbd", "mariadb-server")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "slurmdbd", "mariadbd")
DATABASE, USER, PASSWORD = "accounts", "keeper", "only-here"
CLUSTER = "onemachine"
# Where steps of a job look: the executor plugin keeps no variable that would tell them otherwise.
LINK = Path("/etc/slurm/slurm.conf")
PATIENCE = 60  # seconds that one daemon may take on a busy machine

SLURM_CONF = """\
ClusterName={cluster}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[ctld]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge/socket
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool.%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={ports[dbd]}
AccountingStoragePass={place}/munge/socket
AccountingStorageEnforce=associations
EnforcePartLimits=ALL
AccountingStorageTRES=gres/gpu
AccountingStoreFlags=job_comment
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=3
MinJobAge=600
GresTypes=gpu
NodeName=thin NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[thin]} CPUs=64 RealMemory=512000
NodeName=fat NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[fat]} CPUs=64 \\
  RealMemory=512000 Gres=gpu:a100:4
PartitionName={cpus} Nodes=thin Default=YES MaxTime=3-00:00:00 State=UP
PartitionName={gpus} Nodes=fat MaxTime=3-00:00:00 State=UP
"""
GRES_CONF = "NodeName=fat Name=gpu Type=a100 File={place}/gpu[0-3]\n"
SLURMDBD_CONF = """\
AuthType=auth/munge
AuthInfo=socket={place}/munge/socket
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={ports[dbd]}
SlurmUser=root
LogFile={place}/slurmdbd.log
PidFile={place}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={ports[maria]}
StorageUser={user}
StoragePass={password}
StorageLoc={database}
"""


class CannotInstall(Exception):
    """Why this machine can have no SLURM."""


class NotRunning(Exception):
    """What a daemon that should run said at its end."""


def install() -> None:
    """Install the packages where they are missing; raises CannotInstall with the reason."""
    if os.geteuid():
        raise CannotInstall("SLURM's daemons need root")
    if all(shutil.which(program) for program in PROGRAMS):
        return
    if not shutil.which("apt-get"):
        raise CannotInstall("the packages are Debian's, and there is no apt-get")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ("update", "-qq"),
        ("install", "-y", "-qq", "--no-install-recommends", *PACKAGES),
    ):
        done = subprocess.run(
            ["apt-get", *command], env=environment, capture_output=True, text=True, timeout=240
        )
        if done.returncode:
            told = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise CannotInstall(f"apt-get {command[0]} failed: {' '.join(told)}")


def free_ports(names: tuple[str, ...]) -> dict[str, int]:
    """Return a free port for each name."""
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in names]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return {name: one.getsockname()[1] for name, one in zip(names, sockets, strict=True)}


@dataclass
class Cluster:
    """A running SLURM; its commands are found by `environment`."""

    place: Path
    daemons: list[subprocess.Popen] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """The variable by which SLURM's commands find this cluster."""
        return {"SLURM_CONF": str(self.place / "slurm.conf")}

    def ask(self, *command: str, check: bool = True) -> str:
        """Return what a command of SLURM or of the database prints."""
        return subprocess.run(
            command,
            env={**os.environ, **self.environment},
            check=check,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        ).stdout

    def run(self, *command: str, ready: Callable[[], bool]) -> None:
        """Start a daemon in the foreground and wait until it is ready; raises NotRunning."""
        name = Path(command[0]).name
        with (self.place / f"{name}.out").open("a") as output:
            daemon = subprocess.Popen(
                command,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.daemons.append(daemon)
        limit = time.monotonic() + PATIENCE
        while daemon.poll() is None and time.monotonic() < limit:
            with contextlib.suppress(subprocess.SubprocessError, OSError):
                if ready():
                    return
            time.sleep(0.1)
        told = (self.place / f"{name}.out").read_text(errors="replace")[-2000:]
        raise NotRunning(f"{name} did not come up (exit {daemon.poll()}): {told}")

    def queued(self, name: str) -> list[str]:
        """Return the ids of the jobs of this name that wait or run."""
        return self.ask("squeue", "-h", "-n", name, "-o", "%i").split()

    def accounted(self, name: str) -> list[dict[str, str]]:
        """Return what accounting knows of the jobs of this name, a row each, in their order."""
        fields = ("JobID", "Comment", "Partition", "Account", "ReqTRES", "Timelimit", "State")
        told = self.ask(
            "sacct", "-X", "-n", "-P", "--name", name, "-S", "now-1day", "-o", ",".join(fields)
        )
        return [dict(zip(fields, row.split("|"), strict=True)) for row in told.splitlines()]

    def stop(self) -> None:
        """Cancel all jobs, end the daemons, the last first, and remove the folder."""
        with contextlib.suppress(subprocess.SubprocessError, OSError):
            self.ask("scancel", "--full", "-u", "root", check=False)
            limit = time.monotonic() + 15
            while self.ask("squeue", "-h") and time.monotonic() < limit:
                time.sleep(0.2)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        if LINK.is_symlink() and LINK.readlink().parent == self.place:
            LINK.unlink()
        shutil.rmtree(self.place, ignore_errors=True)


def write_configuration(place: Path, cpus: str, gpus: str) -> dict[str, int]:
    """Write SLURM's files and four devices that stand for GPUs; return the daemons' ports.

    Raises CannotInstall if this machine belongs to a SLURM already.
    """
    ports = free_ports(("ctld", "dbd", "thin", "fat", "maria"))
    values = {
        "place": place,
        "host": socket.gethostname().split(".")[0],
        "ports": ports,
        "cluster": CLUSTER,
        "cpus": cpus,
        "gpus": gpus,
        "user": USER,
        "password": PASSWORD,
        "database": DATABASE,
    }
    for name, text in (
        ("slurm.conf", SLURM_CONF),
        ("gres.conf", GRES_CONF),
        ("slurmdbd.conf", SLURMDBD_CONF),
    ):
        (place / name).write_text(text.format(**values))
    (place / "slurmdbd.conf").chmod(0o600)
    for number in range(4):
        # The numbers of /dev/null: what opens it does no harm.
        os.mknod(place / f"gpu{number}", 0o20666, os.makedev(1, 3))
    LINK.parent.mkdir(exist_ok=True)
    if LINK.is_symlink() and not LINK.exists():
        LINK.unlink()  # left by a test that was killed
    if LINK.exists():
        raise CannotInstall(f"{LINK} belongs to another SLURM")
    LINK.symlink_to(place / "slurm.conf")
    for folder in ("state", "spool.thin", "spool.fat", "munge"):
        (place / folder).mkdir(mode=0o755)
    return ports


def start_munge(cluster: Cluster) -> None:
    """Start the daemon by which the others know each other, with a key of its own."""
    folder = cluster.place / "munge"
    key = folder / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    files = [f"--{kind}-file={folder / kind}" for kind in ("key", "log", "pid", "seed")]
    address = f"--socket={folder / 'socket'}"
    cluster.run(
        "munged", "--foreground", "--force", *files, address,
        ready=lambda: bool(cluster.ask("munge", "-n", "-S", str(folder / "socket"))),
    )  # fmt: skip


def start_database(cluster: Cluster, port: int) -> None:
    """Start MariaDB with files of its own, and make the database of accounting."""
    files = cluster.place / "database"
    files.mkdir()
    shutil.chown(files, "mysql", "mysql")
    plain = ("--no-defaults", f"--datadir={files}")
    cluster.ask("mariadb-install-db", *plain, "--user=mysql", "--skip-test-db")
    address = f"--socket={files / 'socket'}"
    cluster.run(
        "mariadbd", *plain, address, "--user=mysql", f"--port={port}", "--bind-address=127.0.0.1",
        "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0",
        f"--pid-file={files / 'pid'}",
        ready=lambda: "alive" in cluster.ask("mariadb-admin", "--no-defaults", address, "ping"),
    )  # fmt: skip
    for who in (f"{USER}@localhost", f"{USER}@127.0.0.1"):
        cluster.ask(
            "mariadb", "--no-defaults", address, "-e",
            f"create database if not exists {DATABASE}; create user {who} identified by "
            f"'{PASSWORD}'; grant all on {DATABASE}.* to {who};",
        )  # fmt: skip


def start_slurm(cluster: Cluster, account: str) -> None:
    """Start accounting with one account, the controller and both nodes."""
    cluster.run(
        "slurmdbd", "-D", ready=lambda: "root" in cluster.ask("sacctmgr", "-n", "list", "user")
    )
    manage = ("sacctmgr", "-i", "-Q", "add")
    cluster.ask(*manage, "cluster", CLUSTER)
    cluster.ask(*manage, "account", account, "Description=test", "Organization=test")
    cluster.ask(*manage, "user", "root", f"Account={account}", check=False)
    cluster.run("slurmctld", "-D", ready=lambda: "UP" in cluster.ask("scontrol", "ping"))
    for node in ("thin", "fat"):
        cluster.run("slurmd", "-D", "-N", node, ready=lambda node=node: is_idle(cluster, node))


def is_idle(cluster: Cluster, node: str) -> bool:
    """Say whether a node waits for jobs."""
    return cluster.ask("sinfo", "-h", "-N", "-n", node, "-o", "%T").split() == ["idle"]


@contextlib.contextmanager
def one_machine(account: str, cpus: str, gpus: str) -> Iterator[Cluster]:
    """Install, start, yield and stop a SLURM with this account and these partitions.

    gpus: the partition of a node with four GPUs of type a100; cpus: that of a node without.
    Raises CannotInstall where the machine does not allow it, NotRunning if a daemon does not start.
    """
    install()
    place = Path(tempfile.mkdtemp(prefix="slurm-"))
    place.chmod(0o755)  # the database runs as another user
    cluster = Cluster(place)
    try:
        try:
            ports = write_configuration(place, cpus, gpus)
        except PermissionError as fault:
            raise CannotInstall(f"devices cannot be made here ({fault})") from fault
        start_munge(cluster)
        start_database(cluster, ports["maria"])
        start_slurm(cluster, account)
        yield cluster
    finally:
        cluster.stop()
