from vi.flows import AffineCoupling, FlowPosterior, Permute
from vi.targets import LotkaVolterraTarget
from vi.infer import BestKeeper, SVI

__all__ = ["AffineCoupling", "FlowPosterior", "Permute", "LotkaVolterraTarget", "BestKeeper", "SVI"]
