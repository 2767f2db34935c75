from .base import Tower
from .item import ItemTower
from .user import UserTower

__all__ = ["Tower", "UserTower", "ItemTower"]
