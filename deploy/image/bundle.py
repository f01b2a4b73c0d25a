"""Complete an OCI bundle: `buildah inspect --type image IMAGE | bundle.py CONFIG ROOTFS`.

CONFIG is what `runc spec` wrote and is edited in place. Command, user, environment and working
directory are the image's own; the confinement is that of a restricted pod: a read-only root, no
capability, no new privilege, and a network that is nothing but loopback.
"""

import json
import sys
from pathlib import Path

path, rootfs = Path(sys.argv[1]), sys.argv[2]
image = json.load(sys.stdin)["OCIv1"]["config"]
config = json.loads(path.read_text())

uid, gid = image["User"].split(":")
config["root"] = {"path": rootfs, "readonly": True}
config["process"] |= {
    "terminal": False,
    "user": {"uid": int(uid), "gid": int(gid)},
    "args": [*image["Entrypoint"], *image["Cmd"]],
    "env": image["Env"],
    "cwd": image.get("WorkingDir", "/"),
    "capabilities": {},
    "noNewPrivileges": True,
}
# Not every sandbox lets a control group be mounted, and nothing here asks for one.
config["mounts"] = [mount for mount in config["mounts"] if mount["type"] != "cgroup"]
path.write_text(json.dumps(config, indent=2))
