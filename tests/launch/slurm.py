# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of one machine, made for a test: munged, slurmctld and slurmd with a folder, ports, key
and socket of their own, started and ended here. Needs root and Debian's packages; says why if
not."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from harness import clean_environment, skip

CONF = """\
ClusterName=tombolo
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""
START_S = 30


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Slurm:
    """`with Slurm() as slurm: slurm.srun(...)`."""

    def __init__(self):
        if os.geteuid() != 0:
            skip("a Slurm of this test's own needs root")
        for command in ("munged", "slurmctld", "slurmd", "srun", "sinfo"):
            if not shutil.which(command, path=os.environ["PATH"] + ":/usr/sbin"):
                skip(f"{command} is not installed")
        self.dir = Path(tempfile.mkdtemp(prefix="tombolo-slurm-"))
        self.started = []

    def start(self, *command):
        env = clean_environment(**self.settings())
        env["PATH"] += ":/usr/sbin"
        with open(self.dir / (command[0] + ".out"), "w", encoding="utf-8") as out:
            self.started.append(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                                 stdout=out, stderr=out, start_new_session=True))

    def settings(self):
        return {"SLURM_CONF": str(self.dir / "slurm.conf")}

    def __enter__(self):
        d = self.dir
        (d / "state").mkdir()
        (d / "spool").mkdir()
        key = d / "munge.key"
        key.touch(mode=0o400)
        key.write_bytes(os.urandom(1024))
        (d / "slurm.conf").write_text(CONF.format(host=socket.gethostname().split(".")[0], dir=d,
                                                  ctld_port=free_port(), slurmd_port=free_port()),
                                      encoding="utf-8")
        self.start("munged", "--foreground", "--force", f"--key-file={key}",
                   f"--socket={d}/munge.socket", f"--pid-file={d}/munge.pid",
                   f"--log-file={d}/munge.log", f"--seed-file={d}/munge.seed", "--num-threads=2")
        self.wait(lambda: (d / "munge.socket").exists(), "munged")
        self.start("slurmctld", "-D", "-c", "-f", str(d / "slurm.conf"))
        self.start("slurmd", "-D", "-f", str(d / "slurm.conf"))
        self.wait(self.is_idle, "a node of Slurm")
        return self

    def is_idle(self):
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=clean_environment(**self.settings()),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=START_S, check=False)
        return done.stdout.strip() in ("idle", "mixed", "allocated")

    def wait(self, ready, what):
        until = time.monotonic() + START_S
        while not ready():
            if time.monotonic() > until or any(p.poll() is not None for p in self.started):
                logs = "".join(f.read_text(errors="replace")[-600:] for f in self.dir.glob("*.out"))
                logs += "".join(f.read_text(errors="replace")[-600:]
                                for f in self.dir.glob("*.log"))
                self.__exit__()
                skip(f"{what} does not come up here: {logs}")
            time.sleep(0.2)

    def __exit__(self, *unused):
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
