from .phantoms import phantom_pair
from .pyramid import Pyramid
from .registration import AffineRegistration

__all__ = ["AffineRegistration", "Pyramid", "phantom_pair"]
