from tasks.cartpole import Cartpole

isaac_task_map = {"Cartpole": Cartpole}
