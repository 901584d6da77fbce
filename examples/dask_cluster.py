"""An executor on a Dask cluster, for `dpaudit audit ... --executor dask_cluster:make`, run in this folder.

The scheduler and its workers are programs of their own, on this machine or on others:

    dask scheduler --scheduler-file cluster.json
    dask worker --scheduler-file cluster.json --nthreads 1        (once for each worker)
"""

import os
from concurrent.futures import Executor

from dask.distributed import Client


def make() -> Executor:
    """The executor; equal calls are made again instead of sharing one result."""
    return Client(scheduler_file=os.environ.get("CLUSTER", "cluster.json")).get_executor(pure=False)
