import numpy as np
import torch

from pinn import PhysicsInformedNN, relative_l2
from reference import observations

L1, L2 = 1.0, 0.05

if __name__ == '__main__':
    np.random.seed(1234)
    torch.manual_seed(1234)

    X_train, u_train = observations(150, L1, L2, noise=0.01, seed=0)
    X_test, u_test = observations(200, L1, L2, seed=1)

    model = PhysicsInformedNN(X_train, u_train, [2, 20, 20, 1],
                              lb=np.array([-1.0, 0.0]), ub=np.array([1.0, 0.5]))
    model.fit(n_iter=50, lr=2e-2)

    print('Error u: %.3e' % relative_l2(model.predict(X_test), u_test))
    print('Error l1: %.2f%%' % (abs(model.lambda_1.item() - L1) / L1 * 100))
    print('Error l2: %.2f%%' % (abs(np.exp(model.lambda_2.item()) - L2) / L2 * 100))
