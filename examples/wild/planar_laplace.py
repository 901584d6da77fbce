"""privkit 0.5.1, `PlanarLaplace`: noise on two of three coordinates, so north and south of the equator are never mixed."""

# requires: privkit==0.5.1 --no-deps numpy pandas scikit-learn scipy networkx pyproj matplotlib requests

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from _entry import expect, show


class Absent(ModuleType):
    """A stand-in for a library whose names are all classes."""

    def __getattr__(self, name: str) -> type:
        """Return an empty class, except for what Python itself asks."""
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Finder:
    """Finds stand-ins for what faces, meshes and road maps need: importing privkit loads all of it, and a place needs none."""

    NAMES = frozenset({"osmnx", "open3d", "deepface", "retinaface", "torch", "keras", "skimage"})

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Return the specification of a stand-in."""
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in self.NAMES else None

    def create_module(self, spec: ModuleSpec) -> Absent:
        """Return a stand-in."""
        return Absent(spec.name)

    def exec_module(self, module: Absent) -> None:
        """Leave it as it is."""


sys.meta_path.insert(0, Finder())

from privkit.ppms import PlanarLaplace  # noqa: E402 - after the stand-ins

from dpaudit.interop import from_client  # noqa: E402

for absent in [name for name in sys.modules if name.partition(".")[0] in Finder.NAMES]:
    del sys.modules[absent]

PER_METRE, DEGREE = 0.01, 1e-5
NORTH, SOUTH = (DEGREE, 20.0), (-DEGREE, 20.0)
METRES = 2 * DEGREE * 111_195.08  # on the library's sphere


def report(place: tuple[float, float]) -> tuple[float, float]:
    """Report a place as the library does, with geo-indistinguishability of 0.01 a metre."""
    latitude, longitude, _ = PlanarLaplace(PER_METRE).get_obfuscated_point(*place)
    return float(latitude), float(longitude)


target = from_client(report, epsilon="0.03", values=[NORTH, SOUTH], name="PlanarLaplace", public_data=True)


def confirm() -> None:
    """Compare signs: the third coordinate, radius times sine of the latitude, keeps its sign, without the auditor."""
    expect(METRES * PER_METRE < 0.03, "the claim for this distance")
    expect(all(report(NORTH)[0] > 0 for _ in range(20_000)), "a place north of the equator stays north")
    expect(all(report(SOUTH)[0] < 0 for _ in range(20_000)), "a place south of the equator stays south")
    print(
        f"two places {METRES:.2f} m apart: claimed epsilon {METRES * PER_METRE:.4f}; the sign of the "
        "latitude tells them apart in 40,000 reports"
    )
    latitudes = [report((1.0, 20.0))[0] for _ in range(5_000)]
    spread = max(abs(one - 1.0) for one in latitudes) * 111_195.08
    print(f"at latitude 1 the reported latitude moves by at most {spread:.1f} m, of noise whose mean is {2 / PER_METRE:.0f} m")


if __name__ == "__main__":
    confirm()
    show(target, runs=5_000)
