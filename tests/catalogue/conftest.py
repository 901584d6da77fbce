"""The oracle of the zoo is imported by name from this folder, by tests as by itself when it runs as a script."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
