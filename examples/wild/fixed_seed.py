"""trasgodp 2.1.0, `metric_privacy`: the seed is 42 unless another is given, so everybody can subtract the noise."""

# requires: trasgodp==2.1.0 --no-deps folium pandas scipy

import pandas as pd
from _entry import expect, show
from trasgodp.geoindis import metric_privacy

from dpaudit.interop import from_client

PER_METRE, METRES = 0.001, 1000
PLACES = [(0.0, 0.0), (METRES / 6_371_000 * 57.29577951308232, 0.0)]


def release(place: tuple[float, float]) -> tuple[float, float]:
    """Report a place as the library does, with geo-indistinguishability of 0.001 a metre."""
    frame = pd.DataFrame({"lat": [place[0]], "lon": [place[1]]})
    told = metric_privacy(frame, "lat", "lon", PER_METRE)
    return float(told["lat"][0]), float(told["lon"][0])


target = from_client(release, epsilon=1, values=PLACES, name="metric_privacy", public_data=True, most_runs=2000)


def confirm() -> None:
    """Report two places that are 1000 m apart many times: each has one report, without the auditor."""
    first, second = ({release(place) for _ in range(200)} for place in PLACES)
    print(f"reports of the first place: {first}")
    print(f"reports of the second place: {second}; the noise is the same, and known to everybody")
    expect(len(first) == len(second) == 1, "one report each")
    expect(first != second, "they differ, so no finite epsilon holds")


if __name__ == "__main__":
    confirm()
    show(target, runs=2000)
