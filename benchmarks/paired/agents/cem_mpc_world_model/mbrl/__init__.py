from mbrl.dynamics import EnsembleDynamics
from mbrl.planner import CEMPlanner
from mbrl.scaler import StandardScaler

__all__ = ["EnsembleDynamics", "CEMPlanner", "StandardScaler"]
