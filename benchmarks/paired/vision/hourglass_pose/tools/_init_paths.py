import os.path as osp
import sys

lib_path = osp.join(osp.dirname(osp.abspath(__file__)), '..')
if lib_path not in sys.path:
    sys.path.insert(0, lib_path)
