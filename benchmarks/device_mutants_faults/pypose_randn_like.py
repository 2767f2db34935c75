import pypose

poses = pypose.randn_SE3(2, device="cuda")
noise = pypose.randn_like(poses)
noise @ poses
