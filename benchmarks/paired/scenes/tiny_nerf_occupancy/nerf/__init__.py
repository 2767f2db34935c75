from .field import RadianceField
from .occupancy import OccupancyGrid
from .render import render_rays, render_image

__all__ = ["RadianceField", "OccupancyGrid", "render_rays", "render_image"]
