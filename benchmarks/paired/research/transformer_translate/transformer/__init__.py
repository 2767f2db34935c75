import transformer.Constants
import transformer.Layers
import transformer.Models
import transformer.Translator
import transformer.Optim

__all__ = [transformer.Constants, transformer.Layers, transformer.Models,
           transformer.Translator, transformer.Optim]
